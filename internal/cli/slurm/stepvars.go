package slurm

import (
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/step"
)

// stepsFromEnvironment are the options of a step that variables stand for: options of the command line come after them, and win.
func (c *call) stepsFromEnvironment() []getopt.Given {
	values := map[string]string{}
	for _, entry := range c.environ() {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	return step.FromEnvironment(func(name string) (string, bool) {
		value, set := values[name]
		return value, set
	})
}
