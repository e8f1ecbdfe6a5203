package request

import (
	"slices"

	"github.com/vc-batch/vc/internal/slurm/getopt"
)

// Class says what becomes of an option.
type Class int

// The classes.
const (
	// Mapped options change the job.
	Mapped Class = iota
	// Ignored options are accepted, have no effect, and say so.
	Ignored
	// Refused options would change what runs, where, or what is guaranteed, in a way that cannot be had here.
	Refused
)

// Command is one of the commands that take these options.
type Command int

// The commands.
const (
	Sbatch Command = 1 << iota
	Srun
	Salloc

	all = Sbatch | Srun | Salloc
)

// program is a command's name, prefix that of its variables.
var (
	program = map[Command]string{Sbatch: "sbatch", Srun: "srun", Salloc: "salloc"}
	prefix  = map[Command]string{Sbatch: "SBATCH_", Srun: "SLURM_", Salloc: "SALLOC_"}
)

// Option is one option, with all that is known of it.
type Option struct {
	getopt.Option
	Class Class
	// Why says of a refused option, in parentheses, why; of an ignored one, perhaps, what does its work here.
	Why string
	// Env is the variable, without the command's prefix, that stands for it.
	Env string
	// On are the commands that take it; 0 is all.
	On Command
	// set puts the value into the request.
	set func(r *Request, text string, given bool) error
}

func (o *Option) of(c Command) bool { return o.On == 0 || o.On&c != 0 }

// Options are all options, by their groups.
var Options = slices.Concat(jobOptions, sizeOptions, placeOptions, deviceOptions, timeOptions, fileOptions, environmentOptions, containerOptions, commandOptions, otherOptions)

// Find is the option of a name; nil when there is none.
func Find(c Command, name string) *Option {
	for i := range Options {
		if Options[i].Long == name && Options[i].of(c) {
			return &Options[i]
		}
	}
	return nil
}

// Table is the option table of a command.
func Table(c Command, operands string) *getopt.Table {
	t := &getopt.Table{Program: program[c], Operands: operands, Stop: true}
	for i := range Options {
		if o := &Options[i]; o.of(c) {
			option := o.Option
			switch o.Class {
			case Ignored:
				option.Group = "Accepted without effect"
			case Refused:
				option.Group = "Refused"
			}
			if option.Help == "" {
				option.Help = o.Why
			}
			t.Options = append(t.Options, option)
		}
	}
	slices.SortStableFunc(t.Options, func(a, b getopt.Option) int { return rank(a.Group) - rank(b.Group) })
	return t
}

// rank puts what has no effect last.
func rank(group string) int {
	switch group {
	case "Accepted without effect":
		return 1
	case "Refused":
		return 2
	}
	return 0
}

// need, may and flag make options.
func need(long string, short byte, value, help string) getopt.Option {
	return getopt.Option{Long: long, Short: short, Arg: getopt.Required, Value: value, Help: help}
}

func may(long string, short byte, value, help string) getopt.Option {
	return getopt.Option{Long: long, Short: short, Arg: getopt.Optional, Value: value, Help: help}
}

func flag(long string, short byte, help string) getopt.Option {
	return getopt.Option{Long: long, Short: short, Help: help}
}

// ignored and refused make the rows of options that do nothing.
func ignored(option getopt.Option, env, instead string) Option {
	return Option{Option: option, Class: Ignored, Env: env, Why: instead}
}

func refused(option getopt.Option, env, why string) Option {
	return Option{Option: option, Class: Refused, Env: env, Why: why}
}

// alias is another name of an option.
func alias(long, of string, kind getopt.Argument) Option {
	return Option{Option: getopt.Option{Long: long, Arg: kind, Value: "VALUE", Hidden: true, Alias: of}}
}

// grouped puts options under a heading.
func grouped(group string, options ...Option) []Option {
	for i := range options {
		options[i].Group = group
	}
	return options
}

// RefusedNames are the options that are refused unless a site says otherwise.
func RefusedNames() []string {
	var names []string
	for i := range Options {
		if Options[i].Class == Refused {
			names = append(names, Options[i].Long)
		}
	}
	return names
}
