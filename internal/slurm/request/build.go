package request

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/slurm/directive"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/usererror"
)

// Input holds the sources of options: the script, the environment and the command line. Later sources take
// precedence.
type Input struct {
	Command Command
	// Words are the directives of one component of the job.
	Words []directive.Word
	// Environ has the same format as os.Environ.
	Environ []string
	// Line is the command line, parsed with the option table of the command.
	Line getopt.Parsed
	Now  time.Time
}

// BuildRequest creates a request. The request does not depend on the site. The error joins one usererror.Error per
// mistake.
func BuildRequest(in Input) (*Request, error) {
	settings, err := collectSettings(in)
	if err != nil {
		return nil, err
	}
	r := &Request{Command: in.Command, Now: in.Now, Given: map[string]Setting{}}
	var problems []error
	for _, s := range settings {
		r.Given[s.Option.Long] = s
		if s.Option.set == nil {
			continue
		}
		if err := s.Option.set(r, s.Text, s.HasText); err != nil {
			problems = append(problems, withDirectiveCode(err, s.From))
		}
	}
	problems = append(problems, r.resolveConflicts()...)
	if err := r.setSwitchesWait(in.Environ); err != nil {
		problems = append(problems, err)
	}
	return r, errors.Join(problems...)
}

// withDirectiveCode sets the exit code for directive errors if the error occurred in a directive.
func withDirectiveCode(err error, from Source) error {
	f := usererror.FromError(err)
	if from.Line == 0 {
		return f
	}
	return f.WithCode(slurmerror.CodeDirective)
}

// strayWordError returns the error about a word in a directive that is not an option.
func strayWordError(words []directive.Word, text string) error {
	hint := "a directive can contain only options; text after # is a comment"
	if i := slices.IndexFunc(words, func(w directive.Word) bool { return w.Text == text }); i >= 0 {
		hint = fmt.Sprintf("line %d: %s", words[i].Line, hint)
	}
	return usererror.Errorf(hint, "Invalid directive found in batch script: %s", text).WithCode(slurmerror.CodeDirective)
}

// collectSettings returns all settings in order of increasing precedence.
func collectSettings(in Input) ([]Setting, error) {
	var all []Setting
	parsed, err := OptionTable(in.Command, "").ParseArguments(directive.WordTexts(in.Words))
	if err != nil {
		return nil, slurmerror.NewUsageError(program[in.Command], err).WithCode(slurmerror.CodeDirective)
	}
	if len(parsed.Operands) > 0 {
		return nil, strayWordError(in.Words, parsed.Operands[0])
	}
	for _, g := range parsed.Given {
		all = append(all, Setting{Option: FindOption(in.Command, g.Name), Text: g.Value, HasText: g.HasValue, From: Source{Line: in.Words[g.At].Line}})
	}
	all = append(all, readEnvironment(in)...)
	for _, g := range in.Line.Given {
		if o := FindOption(in.Command, g.Name); o != nil {
			all = append(all, Setting{Option: o, Text: g.Value, HasText: g.HasValue})
		}
	}
	return all, nil
}

// precedenceLevel returns the precedence of a setting's source. A setting overrides conflicting settings that have a
// lower level.
func (s Setting) precedenceLevel() int {
	switch {
	case s.From.Line > 0:
		return 0
	case s.From.Variable != "":
		return 1
	}
	return 2
}

// exclusive lists groups of mutually exclusive options. overrule contains, for each option, a function that removes the
// option's value from a request.
var exclusive = []struct {
	names    []string
	overrule map[string]func(*Request)
	// message is used if two of the options have the same precedence. hint suggests what to do.
	message, hint string
}{
	{[]string{"mem", "mem-per-cpu", "mem-per-gpu"}, map[string]func(*Request){
		"mem": func(r *Request) { r.Mem = nil }, "mem-per-cpu": func(r *Request) { r.MemPerCPU = nil }, "mem-per-gpu": func(r *Request) { r.MemPerGPU = nil },
	}, "--mem, --mem-per-cpu and --mem-per-gpu are mutually exclusive.", ""},
	{[]string{"cpus-per-gpu", "cpus-per-task"}, map[string]func(*Request){
		"cpus-per-gpu": func(r *Request) { r.CPUsPerGPU = 0 }, "cpus-per-task": func(r *Request) { r.CPUsPerTask = 0 },
	}, "--cpus-per-gpu and --cpus-per-task are mutually exclusive.", "use only one of these options"},
	{[]string{"ntasks-per-gpu", "ntasks-per-node"}, map[string]func(*Request){
		"ntasks-per-gpu": func(r *Request) { r.TasksPerGPU = 0 }, "ntasks-per-node": func(r *Request) { r.TasksPerNode = 0 },
	}, "--ntasks-per-gpu and --ntasks-per-node are mutually exclusive.", "use only one of these options"},
	{[]string{"ntasks-per-gpu", "gpus-per-task"}, map[string]func(*Request){
		"ntasks-per-gpu": func(r *Request) { r.TasksPerGPU = 0 }, "gpus-per-task": func(r *Request) { r.GPUsPerTask = nil },
	}, "--ntasks-per-gpu and --gpus-per-task are mutually exclusive.", "use only one of these options"},
	{[]string{"switches", "segment"}, map[string]func(*Request){
		"switches": func(r *Request) { r.Switches = nil }, "segment": func(r *Request) { r.Segment = 0 },
	}, "--switches and --segment are mutually exclusive.", "use only one of these options"},
}

// resolveConflicts removes each option that is overridden by a mutually exclusive option with a higher precedence. It
// returns an error for each group in which several options remain.
func (r *Request) resolveConflicts() []error {
	var problems []error
	for _, group := range exclusive {
		nearest := -1
		for _, name := range group.names {
			if s, given := r.Given[name]; given {
				nearest = max(nearest, s.precedenceLevel())
			}
		}
		left := 0
		for _, name := range group.names {
			s, given := r.Given[name]
			switch {
			case given && s.precedenceLevel() == nearest:
				left++
			case given:
				delete(r.Given, name)
				group.overrule[name](r)
			}
		}
		if left > 1 {
			problems = append(problems, usererror.Errorf(group.hint, "%s", group.message))
		}
	}
	return problems
}

// CheckSupport checks which of the specified options a site supports. ignore lists rejected options for which only a
// warning is printed. effective lists options that have an effect although their class is Ignored or Refused. The
// warnings are lines without the program's name. Warnings about options of class Ignored are also stored in NoEffect,
// and are returned only with --verbose. The error joins one usererror.Error per rejected option.
func (r *Request) CheckSupport(ignore, effective []string) (warnings []string, err error) {
	var refusals []error
	for i := range Options {
		o := &Options[i]
		s, given := r.Given[o.Long]
		if !given || s.Option != o {
			continue
		}
		if o.Class == Mapped || slices.Contains(effective, o.Long) {
			continue
		}
		if o.Class == Refused && !slices.Contains(ignore, o.Long) {
			refusals = append(refusals, withDirectiveCode(usererror.Errorf("remove --"+o.Long+", or add this option to ignore in the site's profile", "--%s is not supported here (%s)", o.Long, o.Why), s.From))
			continue
		}
		text := fmt.Sprintf("%s has no effect here%s", s, s.From)
		if r.Strict {
			refusal := &usererror.Error{What: text, Hint: "remove the option, or remove --strict", Err: s.From.cause()}
			refusals = append(refusals, withDirectiveCode(refusal, s.From))
			continue
		}
		if o.Class == Ignored {
			r.NoEffect = append(r.NoEffect, text)
		}
		if o.Class != Ignored || r.Verbose > 0 { // programs may read the output, so print nothing that Slurm does not print
			warnings = append(warnings, text)
		}
	}
	return warnings, errors.Join(refusals...)
}
