package slurm

import (
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/request"
)

// stepVariables are srun's variables for options of steps, in the order in which they are told.
var stepVariables = []struct {
	name, option string
	// isSwitch: the option has no value.
	isSwitch bool
}{
	{"SLURM_EXACT", "exact", true}, {"SLURM_KILL_BAD_EXIT", "kill-on-bad-exit", false}, {"SLURM_LABELIO", "label", true}, {"SLURM_OPEN_MODE", "open-mode", false},
	{"SLURM_OVERCOMMIT", "overcommit", true}, {"SLURM_OVERLAP", "overlap", true}, {"SLURM_STDERRMODE", "error", false}, {"SLURM_STDINMODE", "input", false},
	{"SLURM_STDOUTMODE", "output", false}, {"SLURM_UNBUFFEREDIO", "unbuffered", true}, {"SLURM_WAIT", "wait", false},
}

// stepsFromEnvironment are the options of a step that variables stand for: options of the command line come after them, and win.
func (c *call) stepsFromEnvironment() []getopt.Given {
	values := map[string]string{}
	for _, entry := range c.environ() {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	var all []getopt.Given
	for _, v := range stepVariables {
		value, set := values[v.name]
		if !set {
			continue
		}
		given := getopt.Given{Name: v.option, As: v.name}
		switch {
		case v.isSwitch && !request.IsOn(value), !v.isSwitch && value == "":
			continue
		case !v.isSwitch:
			given.Value, given.HasValue = value, true
		}
		all = append(all, given)
	}
	return all
}
