package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	kubeprobe "k8s.io/kubernetes/pkg/probe"
	grpcprobe "k8s.io/kubernetes/pkg/probe/grpc"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
	tcpprobe "k8s.io/kubernetes/pkg/probe/tcp"
	"k8s.io/utils/ptr"
)

// Target is the container to probe.
type Target struct {
	Address   string // address of the pod
	Container *corev1.Container
	// Exec runs a command in the container. An exit code other than 0 is an error that contains the output.
	Exec func(ctx context.Context, command []string) error
}

// Run runs a probe until ctx is done, and reports results as determined by Counter. message describes the outcome
// that led to the result. A TCP or gRPC probe that has started takes until its timeout even if ctx is done.
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

// The probers of the kubelet. The HTTP prober does not follow redirects to other hosts and does not verify certificates.
var (
	httpProber = httpprobe.New(false)
	tcpProber  = tcpprobe.New()
	grpcProber = grpcprobe.New()
)

// RunSingleProbe runs a probe a single time. It returns nil on success.
func RunSingleProbe(ctx context.Context, handler corev1.ProbeHandler, timeout time.Duration, target Target) error {
	switch {
	case handler.Exec != nil:
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return target.Exec(ctx, handler.Exec.Command)
	case handler.HTTPGet != nil:
		return sendHTTPGet(ctx, handler.HTTPGet, target, timeout, "probe")
	case handler.TCPSocket != nil:
		port, err := resolvePort(handler.TCPSocket.Port, target)
		if err != nil {
			return err
		}
		return outcomeError(tcpProber.Probe(cmp.Or(handler.TCPSocket.Host, target.Address), port, timeout))
	case handler.GRPC != nil:
		service := ptr.Deref(handler.GRPC.Service, "")
		options := grpcprobe.ProbeOptions{UseTLS: ptr.Deref(handler.GRPC.Mode, "") == corev1.GRPCProbeModeTLS}
		return outcomeError(grpcProber.Probe(target.Address, service, int(handler.GRPC.Port), timeout, options))
	}
	return errors.New("the probe must specify exec, httpGet, tcpSocket or grpc")
}

// GetForHook sends the request of a lifecycle hook. Any status from 200 to 399 is a success.
func GetForHook(ctx context.Context, action *corev1.HTTPGetAction, target Target) error {
	return sendHTTPGet(ctx, action, target, 0, "lifecycle")
}

// sendHTTPGet sends a request whose user agent names the purpose. A timeout of 0 means no limit.
func sendHTTPGet(ctx context.Context, action *corev1.HTTPGetAction, target Target, timeout time.Duration, purpose string) error {
	if _, err := resolvePort(action.Port, target); err != nil {
		return err
	}
	request, err := httpprobe.NewRequestForHTTPGetAction(action, target.Container, target.Address, purpose)
	if err != nil {
		return err
	}
	if ptr.Deref(action.Protocol, "") == corev1.HTTPProtocolHTTP2 {
		return outcomeError(httpProber.ProbeH2C(request.WithContext(ctx), timeout))
	}
	return outcomeError(httpProber.Probe(request.WithContext(ctx), timeout))
}

// resolvePort returns the number of a port. It replaces the kubelet's message for an unknown name, because that message
// is about a malformed number.
func resolvePort(port intstr.IntOrString, target Target) (int, error) {
	number, err := kubeprobe.ResolveContainerPort(port, target.Container)
	if err != nil {
		return 0, fmt.Errorf("container has no port named %q", port.String())
	}
	return number, nil
}

// outcomeError returns nil for a prober's success, with or without a warning, and otherwise the reason for the failure.
func outcomeError(result kubeprobe.Result, output string, err error) error {
	if err == nil && result == kubeprobe.Failure {
		return errors.New(output)
	}
	return err
}
