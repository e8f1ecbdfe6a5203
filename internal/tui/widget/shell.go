package widget

import (
	"context"
	"io"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// OpenShell returns the effect that opens a shell in a pod.
func OpenShell(actions screenapi.Actions, p *snapshot.Pod) screenapi.Effect {
	ref := screenapi.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID}
	return screenapi.Shell{Name: "shell in " + p.Name, Do: func(ctx context.Context, in io.Reader, out, errOut io.Writer) (string, error) {
		return "", actions.Attach(ctx, ref, in, out, errOut)
	}}
}
