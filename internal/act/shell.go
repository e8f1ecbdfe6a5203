package act

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
)

// Shell is a terminal in a container of a pod.
type Shell struct {
	Namespace, Pod, Container string
	// Command is what is run; none: the container's own program is attached to.
	Command []string
	In      io.Reader
	Out     io.Writer
	// Sizes follows the size of the terminal; nil: it has none.
	Sizes remotecommand.TerminalSizeQueue
}

// Shell connects a terminal until what runs in it ends.
func (c *Cluster) Shell(ctx context.Context, s Shell) error {
	executor, err := c.executor(s)
	if err != nil {
		return err
	}
	return executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: s.In, Stdout: s.Out, Tty: true, TerminalSizeQueue: s.Sizes})
}

// executor speaks WebSocket, and SPDY with servers that know nothing newer.
func (c *Cluster) executor(s Shell) (remotecommand.Executor, error) {
	request := c.Typed.CoreV1().RESTClient().Post().Resource("pods").Namespace(s.Namespace).Name(s.Pod)
	if len(s.Command) > 0 {
		request = request.SubResource("exec").VersionedParams(&corev1.PodExecOptions{Container: s.Container, Command: s.Command, Stdin: true, Stdout: true, TTY: true}, scheme.ParameterCodec)
	} else {
		request = request.SubResource("attach").VersionedParams(&corev1.PodAttachOptions{Container: s.Container, Stdin: true, Stdout: true, TTY: true}, scheme.ParameterCodec)
	}
	spdy, err := remotecommand.NewSPDYExecutor(c.Config, "POST", request.URL())
	if err != nil {
		return nil, err
	}
	websocket, err := remotecommand.NewWebSocketExecutor(c.Config, "GET", request.URL().String())
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(websocket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
}
