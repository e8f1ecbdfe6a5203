package protocol

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/usererror"
)

// An error of the head arrives with its hint, and without a trailing mark if it has no hint.
func TestAnErrorCrossesTheWireWithItsHint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sent error
		want string
	}{
		"with a hint":            {usererror.Errorf("wait for them", "Requested nodes are busy"), "srun: error: Requested nodes are busy\nsrun: hint: wait for them\n"},
		"said of something":      {fmt.Errorf("step 3: %w", usererror.Errorf("wait", "nodes are busy")), "srun: error: step 3: nodes are busy\nsrun: hint: wait\n"},
		"without one":            {errors.New("no room is left"), "srun: error: no room is left\n"},
		"a hint of two lines":    {usererror.Errorf("wait\nor share them", "nodes are busy"), "srun: error: nodes are busy\nsrun: hint: wait\nsrun: hint: or share them\n"},
		"of two lines by itself": {errors.New("one\ntwo"), "srun: error: one\nsrun: error: two\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := net.Pipe()
			defer ours.Close()
			go func() {
				defer theirs.Close()
				_ = NewConn(theirs).SendFrame(ErrorFrame, 0, EncodeError(c.sent))
			}()
			if got := slurmerror.FormatText("srun", usererror.FromError(NewConn(ours).ReceiveAnswer(nil, nil))); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestMissingAnswerHasAHint(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer ours.Close()
	_ = theirs.Close()
	err := NewConn(ours).ReceiveAnswer(nil, nil)
	if f := usererror.FromError(err); err == nil || f.Hint != LauncherGoneHint {
		t.Errorf("%v, hint %q", err, f.Hint)
	}
}

func TestMessagesThatAreTooLongAreRefused(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	defer here.Close()
	go func() {
		_, _ = there.Write([]byte{byte(AskFrame), 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
		_, _ = io.Copy(io.Discard, there)
	}()
	if _, err := NewConn(here).ReceiveFrame(); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("%v", err)
	}
	if err := NewConn(here).SendFrame(StdinFrame, 0, make([]byte, maxFrame+1)); err == nil {
		t.Error("it is sent")
	}
}
