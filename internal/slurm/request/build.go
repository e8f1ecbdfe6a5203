package request

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/directive"
	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/getopt"
)

// Input is all places in which options may be given; later ones win: the script, the environment, the command line.
type Input struct {
	Command Command
	// Words are the directives of one component.
	Words []directive.Word
	// Environ is NAME=value, as os.Environ gives it.
	Environ []string
	// Line is what was read of the command line, with the table of the command.
	Line getopt.Parsed
	Now  time.Time
	// Ignore names refused options that are only to be warned about.
	Ignore []string
	// Effective names options that have no effect elsewhere and do have one here.
	Effective []string
}

// Build puts a request together. Warnings are lines without the program's name. The error joins one fault.Error for each mistake.
func Build(in Input) (r *Request, warnings []string, err error) {
	settings, err := collect(in)
	if err != nil {
		return nil, nil, err
	}
	r = &Request{Command: in.Command, Now: in.Now, Given: map[string]Setting{}}
	var problems []error
	for _, s := range settings {
		r.Given[s.Option.Long] = s
		if s.Option.set == nil {
			continue
		}
		if err := s.Option.set(r, s.Text, s.HasText); err != nil {
			problems = append(problems, located(err, s.From))
		}
	}
	r.dropOverruled()
	problems = append(problems, r.conflicts()...)
	warnings, refusals := r.judge(in.Ignore, in.Effective)
	return r, warnings, errors.Join(append(problems, refusals...)...)
}

// located gives an error of a directive its exit code.
func located(err error, from Source) error {
	f := fault.Of(err)
	if from.Line == 0 {
		return f
	}
	return f.WithCode(fault.CodeDirective)
}

// collect brings all settings into the order in which they count.
func collect(in Input) ([]Setting, error) {
	var all []Setting
	parsed, err := Table(in.Command, "").Parse(directive.Texts(in.Words))
	if err != nil {
		return nil, fault.Usage(program[in.Command], err).WithCode(fault.CodeDirective)
	}
	if len(parsed.Operands) > 0 {
		return nil, fault.Errorf("", "Invalid directive found in batch script: %s", parsed.Operands[0]).WithCode(fault.CodeDirective)
	}
	for _, g := range parsed.Given {
		all = append(all, Setting{Option: Find(in.Command, g.Name), Text: g.Value, HasText: g.HasValue, From: Source{Line: in.Words[g.At].Line}})
	}
	all = append(all, fromEnvironment(in)...)
	for _, g := range in.Line.Given {
		if o := Find(in.Command, g.Name); o != nil {
			all = append(all, Setting{Option: o, Text: g.Value, HasText: g.HasValue})
		}
	}
	return all, nil
}

// fromEnvironment are the settings that variables stand for, in the order of the options.
func fromEnvironment(in Input) []Setting {
	values := map[string]string{}
	for _, entry := range in.Environ {
		if name, value, ok := strings.Cut(entry, "="); ok && strings.HasPrefix(name, prefix[in.Command]) {
			values[name] = value
		}
	}
	var all []Setting
	for i := range Options {
		o := &Options[i]
		name := prefix[in.Command] + o.Env
		text, given := values[name]
		if !given || o.Env == "" || !o.of(in.Command) {
			continue
		}
		s := Setting{Option: o, Text: text, HasText: true, From: Source{Variable: name}}
		switch {
		case o.Arg == getopt.None && !isOn(text):
			continue
		case o.Arg == getopt.None:
			s.Text, s.HasText = "", false
		case o.Arg == getopt.Required && text == "":
			continue
		}
		all = append(all, s)
	}
	return all
}

// isOn reads the value of a variable that stands for a switch: empty, yes, or a number that is not 0.
func isOn(text string) bool {
	if text == "" || strings.EqualFold(text, "yes") {
		return true
	}
	return strings.Trim(text, "0123456789") == "" && strings.Trim(text, "0") != ""
}

// level orders sources: what is given nearer to the submission overrules what says the opposite.
func (s Setting) level() int {
	switch {
	case s.From.Line > 0:
		return 0
	case s.From.Variable != "":
		return 1
	}
	return 2
}

// memoryOptions exclude each other.
var memoryOptions = []string{"mem", "mem-per-cpu", "mem-per-gpu"}

// dropOverruled forgets the ways to ask for memory that were overruled from nearer.
func (r *Request) dropOverruled() {
	nearest := -1
	for _, name := range memoryOptions {
		if s, given := r.Given[name]; given {
			nearest = max(nearest, s.level())
		}
	}
	for _, name := range memoryOptions {
		s, given := r.Given[name]
		if !given || s.level() == nearest {
			continue
		}
		delete(r.Given, name)
		switch name {
		case "mem":
			r.Mem = nil
		case "mem-per-cpu":
			r.MemPerCPU = nil
		case "mem-per-gpu":
			r.MemPerGPU = nil
		}
	}
}

// conflicts are options that cannot be given together.
func (r *Request) conflicts() []error {
	var problems []error
	count := 0
	for _, given := range []bool{r.Mem != nil, r.MemPerCPU != nil, r.MemPerGPU != nil} {
		if given {
			count++
		}
	}
	if count > 1 {
		problems = append(problems, fault.Errorf("", "--mem, --mem-per-cpu and --mem-per-gpu are mutually exclusive."))
	}
	if r.CPUsPerGPU > 0 && r.CPUsPerTask > 0 {
		problems = append(problems, fault.Errorf("give one of them", "--cpus-per-gpu and --cpus-per-task are mutually exclusive."))
	}
	if r.TasksPerGPU > 0 && r.TasksPerNode > 0 {
		problems = append(problems, fault.Errorf("give one of them", "--ntasks-per-gpu and --ntasks-per-node are mutually exclusive."))
	}
	return problems
}

// judge warns of what has no effect and refuses what cannot be had.
func (r *Request) judge(ignore, effective []string) (warnings []string, refusals []error) {
	for i := range Options {
		o := &Options[i]
		s, given := r.Given[o.Long]
		if !given || s.Option != o || o.Class == Mapped || slices.Contains(effective, o.Long) {
			continue
		}
		if o.Class == Refused && !slices.Contains(ignore, o.Long) {
			refusals = append(refusals, located(fault.Errorf("", "--%s is not supported here (%s)", o.Long, o.Why), s.From))
			continue
		}
		text := fmt.Sprintf("%s has no effect here%s", s, s.From)
		if r.Strict {
			refusals = append(refusals, located(fault.Errorf("--strict refuses it; leave one of them away", "%s", text), s.From))
			continue
		}
		warnings = append(warnings, text)
	}
	return warnings, refusals
}
