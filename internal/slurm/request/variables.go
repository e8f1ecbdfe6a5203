package request

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

// named lists, by command and option, the environment variables whose names do not consist of the command's prefix and
// the option's Env. If several of an option's variables are set, the last one takes precedence.
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

// waitVariable is the name, without prefix, of the variable that specifies how long --switches waits if the option
// itself does not specify a time.
const waitVariable = "WAIT4SWITCH"

// VariableNames returns the environment variables for an option of a command. Later variables take precedence.
func (o *Option) VariableNames(c Command) []string {
	if names, special := named[c][o.Long]; special {
		return names
	}
	if o.Env == "" {
		return nil
	}
	return []string{prefix[c] + o.Env}
}

// environmentMap converts NAME=value entries to a map.
func environmentMap(environ []string) map[string]string {
	values := map[string]string{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			values[name] = value
		}
	}
	return values
}

// readEnvironment returns the settings from environment variables, in the order of the options.
func readEnvironment(in Input) []Setting {
	values := environmentMap(in.Environ)
	var all []Setting
	for i := range Options {
		o := &Options[i]
		if !o.belongsTo(in.Command) {
			continue
		}
		for _, name := range slices.Backward(o.VariableNames(in.Command)) {
			if text, set := values[name]; set {
				all = append(all, o.settingsFromVariable(name, text)...)
				break
			}
		}
	}
	return all
}

// settingsFromVariable returns the settings that follow from the value of an option's environment variable. It returns
// nil if a required value is empty, or if the value turns a switch off.
func (o *Option) settingsFromVariable(name, text string) []Setting {
	s := Setting{Option: o, Text: text, HasText: true, From: Source{Variable: name}}
	switch {
	case o.Long == "verbose":
		n, _ := strconv.Atoi(text)
		s.Text, s.HasText = "", false
		return slices.Repeat([]Setting{s}, min(max(n, 0), maxVerbose))
	case o.Arg == getopt.None && !getopt.IsSwitchedOn(text):
		return nil
	case o.Arg == getopt.None:
		s.Text, s.HasText = "", false
	case o.Arg == getopt.Required && text == "":
		return nil
	}
	return []Setting{s}
}

// maxVerbose is the highest level of verbosity.
const maxVerbose = 3

// setSwitchesWait sets how long --switches may delay the job to the value of the environment variable, if it is set and
// the option does not specify a time.
func (r *Request) setSwitchesWait(environ []string) error {
	name := prefix[r.Command] + waitVariable
	text := environmentMap(environ)[name]
	if r.Switches == nil || r.Switches.Wait != optionvalue.Unlimited || text == "" {
		return nil
	}
	wait, err := optionvalue.ParseTime(text)
	if err != nil {
		return invalidValueError("switches", &optionvalue.Bad{Hint: name + ": " + optionvalue.HintOf(err)})
	}
	r.Switches.Wait = wait
	return nil
}
