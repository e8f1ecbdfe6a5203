package root_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// A command that reads standard input ends when it is interrupted, even without Ctrl-D.
func TestReadersOfStandardInputCanBeInterrupted(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"job run -f -", "plan -f -", "diff -f -", "queue create -f -", "queue close -f -", "job delete -f -", "config check -f -"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			streams, _, errOut := iostreams.TestStreams("", 0)
			silent, typed := io.Pipe()
			defer func() { _ = typed.Close() }()
			ctx, cancel := context.WithCancel(t.Context())
			streams.In = interrupter{silent, cancel}
			code := root.Run(ctx, cli.NewFactory("vcctl", &streams), append([]string{"--kubeconfig", server.WriteKubeconfig("nlp")}, strings.Fields(args)...))
			if code != cli.ExitInterrupted || errOut.Len() > 0 {
				t.Errorf("exit %d: %s", code, errOut)
			}
		})
	}
}

// interrupter is a standard input that interrupts the command when it is read.
type interrupter struct {
	io.Reader
	cancel context.CancelFunc
}

func (i interrupter) Read(text []byte) (int, error) {
	i.cancel()
	return i.Reader.Read(text)
}
