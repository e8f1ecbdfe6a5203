package job

import (
	"context"
	"io"

	"github.com/vc-batch/vc/internal/tui/screen"
)

// shell returns the effect that opens a shell in a pod.
func shell(actions screen.Actions, p pod) screen.Effect {
	ref := screen.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID}
	return screen.Shell{Name: "shell in " + p.Name, Do: func(ctx context.Context, in io.Reader, out, errOut io.Writer) error {
		return actions.Attach(ctx, ref, in, out, errOut)
	}}
}
