package stream

import (
	"errors"
	"fmt"
	"net"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// isLost reports whether err means that an established connection to a pod broke. It returns false for a connection
// that could not be established.
func isLost(err error) bool {
	var dial *net.OpError
	if httpstream.IsUpgradeFailure(err) || (errors.As(err, &dial) && dial.Op == "dial") {
		return false
	}
	var closed *websocket.CloseError
	return errors.As(err, &closed) || cli.IsOutage(err)
}

// lostConnectionError returns the error for a connection that broke while a command was running in a pod. vcctl does
// not run the command again, because it may have had side effects.
func (o *execOptions) lostConnectionError(pod *corev1.Pod, cause error) error {
	e := &usererror.Error{Code: cli.ExitLost, Err: cause,
		What: fmt.Sprintf("the connection to pod %q was lost: it is unknown whether the command has ended", pod.Name),
		Hint: fmt.Sprintf("the command was not run again, because it may have side effects; check whether it is still running: %s", o.retryCommand("exec")+" -- ps"),
	}
	if len(o.command) == 0 {
		e.What = fmt.Sprintf("the connection to pod %q was lost: its program continues", pod.Name)
		e.Hint = "connect again: " + o.retryCommand("attach")
	}
	return e
}

// retryCommand returns the command line that runs a verb for the same pod, for use in hints.
func (o *execOptions) retryCommand(verb string) string {
	line := "job " + verb + " " + o.name
	if o.task != "" {
		line += " -t " + o.task
	}
	if o.index >= 0 {
		line += fmt.Sprintf(" -i %d", o.index)
	}
	if o.container != "" {
		line += " -c " + o.container
	}
	return o.f.CommandText(line)
}

// explainNotStarted returns the server's own error if the server rejected the connection, so that the usual hint for
// that error is shown.
func explainNotStarted(err error) error {
	var rejected *httpstream.UpgradeFailureError
	if errors.As(err, &rejected) && rejected.Cause != nil {
		return rejected.Cause
	}
	return err
}
