package processnode

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node/api"
	corev1 "k8s.io/api/core/v1"
)

// apiServerName is the common name in the client certificate that the API server presents to nodes.
const apiServerName = "kube-apiserver-kubelet-client"

// adminGroup is the group of users who have all permissions in a cluster.
const adminGroup = "system:masters"

// streamIdle is the maximum idle time of an exec, attach or port-forward connection: four hours, as in the kubelet.
const streamIdle = 4 * time.Hour

// serveRequests serves requests from the API server on the kubelet's port until stop is called.
func (n *Node) serveRequests(listener net.Listener) (stop func()) {
	if len(n.config.Serving.Certificate) == 0 || n.config.ClientCA == nil {
		n.config.Log.Info("The node has no serving certificate, so logs, exec, attach and port-forward are not available")
		return func() { _ = listener.Close() }
	}
	configuration := &tls.Config{
		Certificates: []tls.Certificate{n.config.Serving}, ClientCAs: n.config.ClientCA, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		Handler: apiServerServiceOnly(n.requestHandler()), ReadHeaderTimeout: 30 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() { _ = server.Serve(tls.NewListener(listener, configuration)) }()
	return func() {
		cancel()
		_ = server.Close()
	}
}

// apiServerServiceOnly accepts only requests from the API server and from administrators. It rejects other clients even
// if they have a certificate from the cluster, because only the API server authorizes requests to this port.
func apiServerServiceOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
			http.Error(w, "a client certificate is required", http.StatusUnauthorized)
			return
		}
		subject := r.TLS.PeerCertificates[0].Subject
		if subject.CommonName != apiServerName && !slices.Contains(subject.Organization, adminGroup) {
			http.Error(w, "user "+subject.CommonName+" is not allowed to access this node's port", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (n *Node) requestHandler() http.Handler {
	streaming := api.PodHandler(api.PodHandlerConfig{
		RunInContainer: n.execInContainer, AttachToContainer: n.attachToContainer, PortForward: n.portForward,
		GetPods: n.listPods, GetPodsFromKubernetes: n.listPods, StreamIdleTimeout: streamIdle, StreamCreationTimeout: streamIdle,
	}, true)
	router := http.NewServeMux()
	router.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	// virtual-kubelet's own log handler cannot distinguish --tail=0 from a missing --tail.
	router.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", n.serveLogs)
	router.Handle("/", streaming)
	return router
}

func (n *Node) listPods(context.Context) ([]*corev1.Pod, error) {
	var pods []*corev1.Pod
	for _, object := range n.pods.GetStore().List() {
		pods = append(pods, object.(*corev1.Pod))
	}
	return pods, nil
}
