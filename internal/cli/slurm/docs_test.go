package slurm_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/slurm"
)

// Every option that docs/reference/slurm.md and docs/guides/from-slurm.md name is an option of a command.
func TestTheGuideNamesOptionsThatThereAre(t *testing.T) {
	t.Parallel()
	var guide string
	for _, page := range []string{"reference/slurm.md", "guides/from-slurm.md"} {
		text, err := os.ReadFile("../../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		guide += string(text)
	}
	streams, _, _ := iostreams.TestStreams("", 0)
	var help strings.Builder
	for _, cmd := range slurm.New(cli.NewFactory("vcctl", &streams)).Commands() {
		help.WriteString(cmd.Long + cmd.Flags().FlagUsages())
	}
	option := regexp.MustCompile(`--[a-z][a-z0-9-]+`)
	known := option.FindAllString(help.String(), -1)
	named := option.FindAllString(guide, -1)
	for _, name := range named {
		// on the pages, * stands for the rest of several names
		if !slices.ContainsFunc(known, func(k string) bool {
			return k == name || strings.Contains(guide, name+"*") && strings.HasPrefix(k, name)
		}) {
			t.Errorf("the pages about Slurm name %s, which no command has", name)
		}
	}
	if len(known) < 300 || len(named) < 60 {
		t.Errorf("%d options are known, %d are named", len(known), len(named))
	}
}
