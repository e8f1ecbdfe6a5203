package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Target is the container to probe.
type Target struct {
	Address string // address of the pod
	Ports   []corev1.ContainerPort
	// Exec runs a command in the container. An exit code other than 0 is an error that contains the output.
	Exec func(ctx context.Context, command []string) error
}

// Run runs a probe until ctx is done, and reports results as determined by Counter. message describes the outcome
// that led to the result.
func Run(ctx context.Context, p *corev1.Probe, target Target, report func(result Result, message string)) {
	counter := NewCounter(p)
	period := time.Duration(max(p.PeriodSeconds, 1)) * time.Second
	if !sleepContext(ctx, time.Duration(p.InitialDelaySeconds)*time.Second) {
		return
	}
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		err := RunSingleProbe(ctx, p.ProbeHandler, time.Duration(max(p.TimeoutSeconds, 1))*time.Second, target)
		if ctx.Err() != nil {
			return
		}
		if result, tell := counter.CountOutcome(err == nil); tell {
			message := ""
			if err != nil {
				message = err.Error()
			}
			report(result, message)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func sleepContext(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// RunSingleProbe runs a probe a single time. It returns nil on success.
func RunSingleProbe(ctx context.Context, handler corev1.ProbeHandler, timeout time.Duration, target Target) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	switch {
	case handler.Exec != nil:
		return target.Exec(ctx, handler.Exec.Command)
	case handler.HTTPGet != nil:
		return Get(ctx, handler.HTTPGet, target)
	case handler.TCPSocket != nil:
		return probeTCPSocket(ctx, handler.TCPSocket, target)
	case handler.GRPC != nil:
		return probeGRPCHealth(ctx, handler.GRPC, target)
	}
	return errors.New("probe says neither exec, httpGet, tcpSocket nor grpc")
}

func resolvePort(port intstr.IntOrString, target Target) (string, error) {
	if port.Type == intstr.Int {
		return strconv.Itoa(port.IntValue()), nil
	}
	for _, named := range target.Ports {
		if named.Name == port.StrVal {
			return strconv.Itoa(int(named.ContainerPort)), nil
		}
	}
	if _, err := strconv.Atoi(port.StrVal); err == nil {
		return port.StrVal, nil
	}
	return "", fmt.Errorf("container has no port named %q", port.StrVal)
}

// client behaves like the kubelet's client: it does not follow redirects to other hosts and does not verify
// certificates.
var client = &http.Client{
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true, Proxy: nil},
	CheckRedirect: func(request *http.Request, via []*http.Request) error {
		if request.URL.Hostname() != via[0].URL.Hostname() || len(via) >= 10 {
			return http.ErrUseLastResponse
		}
		return nil
	},
}

// Get runs a probe by HTTP, for which any status from 200 to 399 is a success. It is also used for hooks.
func Get(ctx context.Context, action *corev1.HTTPGetAction, target Target) error {
	port, err := resolvePort(action.Port, target)
	if err != nil {
		return err
	}
	host, scheme := target.Address, "http"
	if action.Host != "" {
		host = action.Host
	}
	if action.Scheme == corev1.URISchemeHTTPS {
		scheme = "https"
	}
	path := action.Path
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(host, port)+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "kube-probe/vc")
	for _, header := range action.HTTPHeaders {
		if http.CanonicalHeaderKey(header.Name) == "Host" {
			request.Host = header.Value
			continue
		}
		request.Header.Add(header.Name, header.Value)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 10<<10)
	if response.StatusCode < 200 || response.StatusCode >= 400 {
		return fmt.Errorf("HTTP probe failed with statuscode: %d", response.StatusCode)
	}
	return nil
}

func probeTCPSocket(ctx context.Context, action *corev1.TCPSocketAction, target Target) error {
	port, err := resolvePort(action.Port, target)
	if err != nil {
		return err
	}
	host := target.Address
	if action.Host != "" {
		host = action.Host
	}
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	return connection.Close()
}

func probeGRPCHealth(ctx context.Context, action *corev1.GRPCAction, target Target) error {
	connection, err := grpc.NewClient("passthrough:///"+net.JoinHostPort(target.Address, strconv.Itoa(int(action.Port))),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	service := ""
	if action.Service != nil {
		service = *action.Service
	}
	answer, err := grpc_health_v1.NewHealthClient(connection).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: service})
	if err != nil {
		return err
	}
	if answer.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("service %q is %s", service, answer.Status)
	}
	return nil
}
