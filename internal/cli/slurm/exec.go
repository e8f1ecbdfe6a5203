package slurm

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/vc-batch/vc/internal/slurm/fault"
)

// execIn runs a command in the first container of a pod; what it says on stderr when it fails is the error.
func (c *call) execIn(ctx context.Context, pod *corev1.Pod, command []string) error {
	var said bytes.Buffer
	inside := &allocation{call: c, head: pod}
	code, err := inside.connect(ctx, session{command: command, streams: remotecommand.StreamOptions{Stdout: c.f.Streams.Out, Stderr: &said}})
	text := strings.TrimSpace(said.String())
	switch {
	case err == nil && code == 0:
		return nil
	case err == nil && text != "":
		return fault.Errorf("", "%s: %s", pod.Name, text)
	case err == nil:
		return fmt.Errorf("%s: %s ended with exit code %d", pod.Name, strings.Join(command, " "), code)
	case text != "":
		return fmt.Errorf("%s: %w: %s", pod.Name, err, text)
	}
	return fmt.Errorf("%s: %w", pod.Name, err)
}
