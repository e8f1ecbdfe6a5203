package request

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/value"
)

// named are the variables whose names are not the command's prefix and the option's Env, by command and option. Of several the last one that
// is set counts.
var named = map[Command]map[string][]string{
	Sbatch: {
		"clusters": {"SLURM_CLUSTERS", "SBATCH_CLUSTERS"},
		"hint":     {"SLURM_HINT", "SBATCH_HINT"},
		"verbose":  {"SBATCH_DEBUG"},
	},
	Salloc: {
		"clusters": {"SLURM_CLUSTERS", "SALLOC_CLUSTERS"},
		"hint":     {"SLURM_HINT", "SALLOC_HINT"},
		"verbose":  {"SALLOC_DEBUG"},
	},
	Srun: {
		"nodes":         {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"},
		"ntasks":        {"SLURM_NPROCS", "SLURM_NTASKS"},
		"cpus-per-task": {"SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK"},
		"export":        {"SLURM_EXPORT_ENV", "SRUN_EXPORT_ENV"},
		"chdir":         {"SLURM_REMOTE_CWD", "SLURM_WORKING_DIR"},
		"output":        {"SLURM_STDOUTMODE"},
		"error":         {"SLURM_STDERRMODE"},
		"input":         {"SLURM_STDINMODE"},
		"verbose":       {"SLURM_DEBUG"},
	},
}

// waitVariable holds the time that --switches waits where the option itself names none.
const waitVariable = "WAIT4SWITCH"

// Variables are the variables that stand for an option of a command, the weakest first.
func (o *Option) Variables(c Command) []string {
	if names, special := named[c][o.Long]; special {
		return names
	}
	if o.Env == "" {
		return nil
	}
	return []string{prefix[c] + o.Env}
}

// variables are NAME=value by name.
func variables(environ []string) map[string]string {
	values := map[string]string{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			values[name] = value
		}
	}
	return values
}

// fromEnvironment are the settings that variables stand for, in the order of the options.
func fromEnvironment(in Input) []Setting {
	values := variables(in.Environ)
	var all []Setting
	for i := range Options {
		o := &Options[i]
		if !o.of(in.Command) {
			continue
		}
		for _, name := range slices.Backward(o.Variables(in.Command)) {
			if text, set := values[name]; set {
				all = append(all, o.said(name, text)...)
				break
			}
		}
	}
	return all
}

// said is what a variable says of its option: nothing where it is empty, or no to a switch.
func (o *Option) said(name, text string) []Setting {
	s := Setting{Option: o, Text: text, HasText: true, From: Source{Variable: name}}
	switch {
	case o.Long == "verbose":
		n, _ := strconv.Atoi(text)
		s.Text, s.HasText = "", false
		return slices.Repeat([]Setting{s}, min(max(n, 0), maxVerbose))
	case o.Arg == getopt.None && !getopt.IsOn(text):
		return nil
	case o.Arg == getopt.None:
		s.Text, s.HasText = "", false
	case o.Arg == getopt.Required && text == "":
		return nil
	}
	return []Setting{s}
}

// maxVerbose is how much there is to say.
const maxVerbose = 3

// waitForSwitches reads the variable that says how long --switches may keep the job waiting.
func (r *Request) waitForSwitches(environ []string) error {
	name := prefix[r.Command] + waitVariable
	text := variables(environ)[name]
	if r.Switches == nil || r.Switches.Wait != value.Unlimited || text == "" {
		return nil
	}
	wait, err := value.ParseTime(text)
	if err != nil {
		return invalid("switches", &value.Bad{Hint: name + ": " + hintOf(err)})
	}
	r.Switches.Wait = wait
	return nil
}
