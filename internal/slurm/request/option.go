package request

import (
	"slices"

	"github.com/vc-batch/vc/internal/slurm/getopt"
)

// Class determines how an option is handled.
type Class int

// Classes of options.
const (
	// Mapped options change the job.
	Mapped Class = iota
	// Ignored options are accepted with a warning and have no effect.
	Ignored
	// Refused options are not supported and are rejected, because they would change what runs, where it runs, or what
	// is guaranteed.
	Refused
)

// Command is a command that accepts an option. Several commands can be combined as bits.
type Command int

// The commands.
const (
	Sbatch Command = 1 << iota
	Srun
	Salloc

	all = Sbatch | Srun | Salloc
)

// program maps commands to their names. prefix maps commands to the prefixes of their environment variables.
var (
	program = map[Command]string{Sbatch: "sbatch", Srun: "srun", Salloc: "salloc"}
	prefix  = map[Command]string{Sbatch: "SBATCH_", Srun: "SLURM_", Salloc: "SALLOC_"}
)

// Option describes an option.
type Option struct {
	getopt.Option
	Class Class
	// Why is the reason for rejecting an option.
	Why string
	// Env is the environment variable of the option, without the command's prefix.
	Env string
	// On lists the commands that accept the option. 0 means all of them.
	On Command
	// set stores the value in the request.
	set func(r *Request, text string, given bool) error
}

func (o *Option) belongsTo(c Command) bool { return o.On == 0 || o.On&c != 0 }

// Options lists all options by group.
var Options = slices.Concat(jobOptions, sizeOptions, placeOptions, deviceOptions, timeOptions, fileOptions, environmentOptions, containerOptions, commandOptions, otherOptions)

// FindOption returns the option with the given name, or nil if the command does not have such an option.
func FindOption(c Command, name string) *Option {
	for i := range Options {
		if Options[i].Long == name && Options[i].belongsTo(c) {
			return &Options[i]
		}
	}
	return nil
}

// OptionTable returns the option table of a command.
func OptionTable(c Command, operands string) *getopt.Table {
	t := &getopt.Table{Program: program[c], Operands: operands, Stop: true}
	for i := range Options {
		if o := &Options[i]; o.belongsTo(c) {
			option := o.Option
			switch o.Class {
			case Ignored:
				option.Group = "Accepted without effect"
			case Refused:
				option.Group = "Not supported"
			}
			if option.Help == "" {
				option.Help = o.Why
			}
			t.Options = append(t.Options, option)
		}
	}
	slices.SortStableFunc(t.Options, func(a, b getopt.Option) int { return groupRank(a.Group) - groupRank(b.Group) })
	return t
}

// groupRank returns the position of a group in the help text. Options without effect come last.
func groupRank(group string) int {
	switch group {
	case "Accepted without effect":
		return 1
	case "Not supported":
		return 2
	}
	return 0
}

// newRequired, newOptional and newFlag create options that have a required value, an optional value and no value,
// respectively.
func newRequired(long string, short byte, value, help string) getopt.Option {
	return getopt.Option{Long: long, Short: short, Arg: getopt.Required, Value: value, Help: help}
}

func newOptional(long string, short byte, value, help string) getopt.Option {
	return getopt.Option{Long: long, Short: short, Arg: getopt.Optional, Value: value, Help: help}
}

func newFlag(long string, short byte, help string) getopt.Option {
	return getopt.Option{Long: long, Short: short, Help: help}
}

// newIgnored and newRefused create options that are ignored and options that are rejected, respectively.
func newIgnored(option getopt.Option, env string) Option {
	return Option{Option: option, Class: Ignored, Env: env}
}

func newRefused(option getopt.Option, env, why string) Option {
	return Option{Option: option, Class: Refused, Env: env, Why: why}
}

// newAlias creates an option that is another name for an existing one.
func newAlias(long, of string, kind getopt.Argument) Option {
	return Option{Option: getopt.Option{Long: long, Arg: kind, Value: "VALUE", Hidden: true, Alias: of}}
}

// setGroup sets the group of the options and returns them.
func setGroup(group string, options ...Option) []Option {
	for i := range options {
		options[i].Group = group
	}
	return options
}

// RejectedNames returns the names of the options that are rejected by default. A site can permit them.
func RejectedNames() []string {
	var names []string
	for i := range Options {
		if Options[i].Class == Refused {
			names = append(names, Options[i].Long)
		}
	}
	return names
}
