package root

import (
	"slices"
	"testing"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/slurm"
)

// The binary runs a Slurm command if it is called by that command's name, in any directory; all arguments then belong
// to that command.
func TestTheBinaryIsSlurmsCommandsByTheirNames(t *testing.T) {
	t.Parallel()
	for _, name := range slurm.Programs {
		streams, out, errOut := iostreams.TestStreams("", 0)
		f := cli.NewFactory("vcctl", &streams)
		_, words := selectTree(f, "/home/mei/bin/"+name, []string{"--version", "-n", "4"})
		if want := []string{"slurm", name, "--version", "-n", "4"}; !slices.Equal(words, want) {
			t.Errorf("%s: %q, want %q", name, words, want)
		}
		cmd, version := selectTree(f, name, []string{"--version"})
		cmd.SetArgs(version)
		if err := cmd.ExecuteContext(t.Context()); err != nil || out.String()[:6] != "slurm " || errOut.Len() > 0 {
			t.Errorf("%s --version: %v, %q, %q", name, err, out, errOut)
		}
	}
	streams, _, _ := iostreams.TestStreams("", 0)
	if _, words := selectTree(cli.NewFactory("vcctl", &streams), "/bin/vcctl", []string{"queue"}); !slices.Equal(words, []string{"queue"}) {
		t.Errorf("vcctl is called with %q", words)
	}
}
