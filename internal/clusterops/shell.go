package clusterops

import (
	"context"
	"errors"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
)

// Shell is a terminal session in a container of a pod.
type Shell struct {
	Namespace, Pod, Container string
	// Command is the command to run; if it is empty, the session attaches to the container's main process.
	Command []string
	In      io.Reader
	Out     io.Writer
	// Sizes reports the size of the terminal; nil if it is unknown.
	Sizes remotecommand.TerminalSizeQueue
}

// ConnectShell connects a terminal to a container until the command in the container ends.
func (c *Cluster) ConnectShell(ctx context.Context, s Shell) error {
	executor, err := c.shellExecutor(s)
	if err != nil {
		return err
	}
	return executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: s.In, Stdout: s.Out, Tty: true, TerminalSizeQueue: s.Sizes})
}

// shellExecutor returns a connection to a new command or to the container's main process.
func (c *Cluster) shellExecutor(s Shell) (remotecommand.Executor, error) {
	if len(s.Command) > 0 {
		return NewExecutor(c.Config, c.Typed, s.Namespace, s.Pod, "exec", &corev1.PodExecOptions{Container: s.Container, Command: s.Command, Stdin: true, Stdout: true, TTY: true})
	}
	return NewExecutor(c.Config, c.Typed, s.Namespace, s.Pod, "attach", &corev1.PodAttachOptions{Container: s.Container, Stdin: true, Stdout: true, TTY: true})
}

// NewExecutor returns a connection to the subresource exec or attach of a pod, with the options of this subresource.
// The connection uses WebSocket, or SPDY with older servers.
func NewExecutor(config *rest.Config, typed kubernetes.Interface, namespace, pod, subresource string, options runtime.Object) (remotecommand.Executor, error) {
	request := typed.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource(subresource).VersionedParams(options, scheme.ParameterCodec)
	spdy, err := remotecommand.NewSPDYExecutor(config, "POST", request.URL())
	if err != nil {
		return nil, err
	}
	websocket, err := remotecommand.NewWebSocketExecutor(config, "GET", request.URL().String())
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(websocket, spdy, func(err error) bool {
		return !isUnavailable(err) && (httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err))
	})
}

// isUnavailable reports whether the server rejected a connection because it currently cannot serve any connections. In
// this case, trying another protocol would not help, and the server's answer would be lost.
func isUnavailable(err error) bool {
	var failed *httpstream.UpgradeFailureError
	if !errors.As(err, &failed) {
		return false
	}
	unavailable := []func(error) bool{apierrors.IsServiceUnavailable, apierrors.IsTooManyRequests, apierrors.IsInternalError, apierrors.IsServerTimeout}
	return slices.ContainsFunc(unavailable, func(is func(error) bool) bool { return is(failed.Cause) })
}
