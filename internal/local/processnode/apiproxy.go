package processnode

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/internal/local/processnode/environ"
	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
)

// findAPIService looks up the address at which pods expect the API server. This may take a moment, because the service
// is created shortly after the API server is ready. Without the address, pods cannot reach the API server.
func (n *Node) findAPIService(ctx context.Context) {
	for range 50 {
		service, err := n.client.CoreV1().Services(metav1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{})
		if err == nil && len(service.Spec.Ports) > 0 {
			if address, err := netip.ParseAddr(service.Spec.ClusterIP); err == nil {
				n.apiService = netip.AddrPortFrom(address, uint16(service.Spec.Ports[0].Port))
			}
			return
		}
		if !sleepContext(ctx, 100*time.Millisecond) {
			return
		}
	}
	n.config.Log.Info("Service kubernetes was not found; pods cannot reach the API server")
}

// forwardAPIConnections listens on the service's address inside the pod and forwards connections to the API server,
// which listens only on the machine's loopback address. If that is not possible, it returns nil and the pod starts
// anyway, because only a few pods need the API server.
func (n *Node) forwardAPIConnections(namespaces sandbox.Namespaces) net.Listener {
	target := apiAddress(n.config.REST.Host)
	if !n.apiService.IsValid() || target == "" {
		return nil
	}
	var listener net.Listener
	err := namespaces.Enter(func() (err error) {
		listener, err = net.Listen("tcp", n.apiService.String())
		return err
	})
	if err != nil {
		return nil
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go forwardConnection(connection, target)
		}
	}()
	return listener
}

// withDirectAPIAddress returns services, but replaces the address of the service kubernetes with the API server's own
// address, because pods on the machine's network can reach the API server only at that address.
func withDirectAPIAddress(services []*corev1.Service, host string) []*corev1.Service {
	address, port, err := net.SplitHostPort(apiAddress(host))
	if err != nil {
		return services
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return services
	}
	services = slices.Clone(services)
	for i, service := range services {
		if !environ.IsAPIServer(service) {
			continue
		}
		direct := service.DeepCopy()
		direct.Spec.ClusterIP = address
		for j := range direct.Spec.Ports {
			direct.Spec.Ports[j].Port = int32(number)
		}
		services[i] = direct
	}
	return services
}

// apiAddress returns the host and port of a URL, or "" if the URL is invalid.
func apiAddress(host string) string {
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	parsed, err := url.Parse(host)
	if err != nil || parsed.Hostname() == "" {
		return ""
	}
	port := parsed.Port()
	port = cmp.Or(port, "443")
	return net.JoinHostPort(parsed.Hostname(), port)
}

func forwardConnection(inside net.Conn, target string) {
	defer inside.Close()
	outside, err := net.DialTimeout("tcp", target, 5*time.Second)
	if err != nil {
		return
	}
	defer outside.Close()
	copyBothWays(inside, outside)
}

// closeWriter is a connection that can be closed in one direction.
type closeWriter interface{ CloseWrite() error }

// copyBothWays copies data in both directions until both have ended.
func copyBothWays(a, b io.ReadWriter) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(a, b)
		closeWriteSide(a)
	}()
	_, _ = io.Copy(b, a)
	closeWriteSide(b)
	<-done
}

func closeWriteSide(w io.Writer) {
	if half, ok := w.(closeWriter); ok {
		_ = half.CloseWrite()
		return
	}
	if closer, ok := w.(io.Closer); ok {
		_ = closer.Close()
	}
}
