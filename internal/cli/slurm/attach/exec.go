package attach

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/usererror"
)

// podCommandError converts the error message that a command in a pod printed to an error, including the command's hint.
// The format of these lines (slurmerror.FormatText) is the interface to the vc-step in the pod, which may be older.
func podCommandError(pod, text string) error {
	var what, hints []string
	for line := range strings.SplitSeq(text, "\n") {
		if _, hint, is := strings.Cut(line, ": hint: "); is {
			hints = append(hints, hint)
			continue
		}
		what = append(what, strings.TrimPrefix(line, "vc-step: error: "))
	}
	hint := cmp.Or(strings.Join(hints, "\n"), "kubectl logs "+pod+" shows the full log")
	return usererror.Errorf(hint, "%s: %s", pod, strings.Join(what, "\n"))
}

// ExecInPod runs a command in the first container of a pod. If it fails, the text that it wrote to stderr becomes the
// error.
func ExecInPod(ctx context.Context, c *program.Call, pod *corev1.Pod, command []string) error {
	var said bytes.Buffer
	inside := &Allocation{Call: c, Head: pod}
	code, err := inside.ExecInHead(ctx, Session{Command: command, Streams: remotecommand.StreamOptions{Stdout: c.Factory.Streams.Out, Stderr: &said}})
	text := strings.TrimSpace(said.String())
	switch {
	case err == nil && code == 0:
		return nil
	case err == nil && text != "":
		return podCommandError(pod.Name, text)
	case err == nil:
		return fmt.Errorf("%s: %s ended with exit code %d", pod.Name, strings.Join(command, " "), code)
	case text != "":
		return fmt.Errorf("%s: %w: %s", pod.Name, err, text)
	}
	return fmt.Errorf("%s: %w", pod.Name, err)
}
