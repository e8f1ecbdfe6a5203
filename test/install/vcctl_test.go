package install

import (
	"context"
	"testing"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
)

// answer is the output of a command and its exit code.
type answer struct {
	out, err string
	code     int
}

// vcctl runs a command line of vcctl against the cluster of a kubeconfig.
func vcctl(ctx context.Context, t *testing.T, kubeconfig string, args ...string) answer {
	t.Helper()
	streams, out, errOut := iostreams.TestStreams("", 0)
	f := cli.NewFactory("vcctl", &streams)
	cache := t.TempDir()
	f.Config.CacheDir = &cache
	code := root.Run(ctx, f, append([]string{"--kubeconfig", kubeconfig}, args...))
	return answer{out.String(), errOut.String(), code}
}
