package attach

import (
	"testing"

	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/usererror"
)

// The error of a command in a pod is reported as the error of the program, with its hint and without nested errors.
func TestWhatIsSaidInAPodIsToldWithItsHint(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"vc-step: error: Unknown job signal: X\nvc-step: hint: write USR1": "scancel: error: a-head-0: Unknown job signal: X\nscancel: hint: write USR1\n",
		"sh: vc-step: not found": "scancel: error: a-head-0: sh: vc-step: not found\nscancel: hint: kubectl logs a-head-0 shows the full log\n",
	} {
		if got := slurmerror.FormatText("scancel", usererror.FromError(podCommandError("a-head-0", said))); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
