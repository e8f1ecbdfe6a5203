package srunoptions

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
)

// FromEnvironment returns the options that environment variables set. Options from the command line must follow these
// options in order to take precedence.
func FromEnvironment(lookup func(name string) (value string, set bool)) []getopt.Given {
	var all []getopt.Given
	for i := range Table.Options {
		o := &Table.Options[i]
		if !o.StepOnly {
			continue
		}
		for _, name := range o.Variables {
			value, set := lookup(name)
			switch {
			case !set, o.Arg == getopt.None && !getopt.IsSwitchedOn(value), o.Arg != getopt.None && value == "":
			case o.Arg == getopt.None:
				all = append(all, getopt.Given{Name: o.Long, As: name})
			default:
				all = append(all, getopt.Given{Name: o.Long, As: name, Value: value, HasValue: true})
			}
		}
	}
	return all
}

// IneffectiveVariables returns the variables without effect that the user has set for srun. These are the variables
// whose values differ from the script's environment. It omits variables whose option was also specified. Inside a task,
// it returns nothing, because the variables there describe the task's own step.
func IneffectiveVariables(p getopt.Parsed, lookup func(string) (string, bool), given []string) []string {
	if _, inTask := lookup("SLURM_STEP_ID"); inTask {
		return nil
	}
	var all []string
	for i := range Table.Options {
		o := &Table.Options[i]
		if o.StepOnly || p.Has(o.Long) {
			continue
		}
		for _, name := range o.Variables {
			value, set := lookup(name)
			entry := name + "=" + value
			isOff := o.Arg == getopt.None && !getopt.IsSwitchedOn(value)
			asItIs := isOff || slices.Contains(fine[o.Long], value) || slices.Contains([]string{"", "none"}, strings.ToLower(value))
			if set && !asItIs && !slices.Contains(given, entry) {
				all = append(all, entry)
			}
		}
	}
	return all
}
