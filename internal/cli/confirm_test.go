package cli_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
)

func TestAQuestionEndsWithoutEnterWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	streams, _, errOut := iostreams.TestStreams("", 80)
	typed, hand := io.Pipe()
	defer func() { _ = hand.Close() }()
	streams.In, streams.InTTY = typed, true
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	err := (&cli.Confirm{}).AskUser(ctx, cli.NewFactory("vcctl", &streams), "delete 2 jobs", []string{"a", "b"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, after %q", err, errOut)
	}
}
