package submit

import (
	"strings"

	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/step/srunoptions"
)

// stepsFromEnvironment returns the step options that are set by environment variables. Options on the command line
// override them.
func stepsFromEnvironment(c *program.Call) []getopt.Given {
	values := map[string]string{}
	for _, entry := range c.UserEnvironment() {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	return srunoptions.FromEnvironment(func(name string) (string, bool) {
		value, set := values[name]
		return value, set
	})
}
