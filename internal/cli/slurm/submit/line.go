package submit

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/translate"
)

// hidden replaces the values of exported variables in stored command lines.
const hidden = "=…"

// storedCommandLine returns the command line to store with the job. It omits the values of exported variables, which
// are stored in the job's Secret.
func storedCommandLine(c *program.Call) string {
	words := slices.Clone(c.Words)
	for _, given := range c.Parsed.Given {
		if given.Name != "export" {
			continue
		}
		if option, _, glued := strings.Cut(words[given.At], "="); glued {
			words[given.At] = option + "=" + translate.ReplaceValues(given.Value, hidden)
		} else if given.At+1 < len(words) {
			words[given.At+1] = translate.ReplaceValues(given.Value, hidden)
		}
	}
	return strings.Join(append([]string{c.Table.Program}, words...), " ")
}
