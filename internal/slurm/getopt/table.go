package getopt

import (
	"cmp"
	"slices"
)

// Argument determines whether an option has a value.
type Argument int

// Values of Argument.
const (
	// None marks an option without a value.
	None Argument = iota
	// Required marks an option whose value is attached or is the next argument.
	Required
	// Optional marks an option whose value may be missing. The value must be attached: --exclusive=user, -k2.
	Optional
)

// Option is an option of a command.
type Option struct {
	// Long is the name after --, which also identifies the option in Parsed. Every option has a long name.
	Long string
	// Short is the letter after -, or 0.
	Short byte
	// Arg determines whether the option has a value.
	Arg Argument
	// Value is the placeholder of the value in help texts.
	Value string
	// Help is one line of text. Group is the heading under which the help text lists the option.
	Help, Group string
	// NoEffect marks options that are accepted and ignored. Their help texts explain this.
	NoEffect bool
	// Exact marks options that do not exist in Slurm. They cannot be abbreviated and never make an abbreviation
	// ambiguous.
	Exact bool
	// StepOnly marks options of srun that affect only a step, and not the allocation in which it runs.
	StepOnly bool
	// Variables lists the environment variables of an option of srun in a step.
	Variables []string
	// Hidden marks options that do not appear in help texts.
	Hidden bool
	// Alias is the long name of another option, if this option is only another name for it. Parsed then contains
	// Alias.
	Alias string
}

// canonicalName returns the long name that identifies the option in Parsed.
func (o *Option) canonicalName() string { return cmp.Or(o.Alias, o.Long) }

// Table lists all options of a command.
type Table struct {
	// Program is the name of the command in messages.
	Program string
	// Operands is the text after the options in the usage line.
	Operands string
	Options  []Option
	// Stop ends the options at the first operand, like a + in a getopt string. The arguments after it belong to a
	// script.
	Stop bool
}

// WithOptions returns a copy of the table with more options.
func (t *Table) WithOptions(more ...Option) *Table {
	larger := *t
	larger.Options = append(slices.Clone(t.Options), more...)
	return &larger
}

// WithMissing returns a copy of the table with those of the options that it lacks. Such an option has no letter if the
// table uses its letter for another option.
func (t *Table) WithMissing(more ...Option) *Table {
	larger := t.WithOptions()
	for _, o := range more {
		if larger.HasOption(o.Long) {
			continue
		}
		if larger.findShort(o.Short) != nil {
			o.Short = 0
		}
		larger.Options = append(larger.Options, o)
	}
	return larger
}

// Information lists the options that print information about a command. Every command has them.
var Information = []Option{
	{Long: "help", Short: 'h', Help: "Print this help", Group: "Help"},
	{Long: "usage", Help: "Print a brief list of all options", Group: "Help"},
	{Long: "version", Short: 'V', Help: "Print the version", Group: "Help"},
}

// HasOption reports whether the table has an option with this full name.
func (t *Table) HasOption(long string) bool { return t.findExact(long) != nil }

func (t *Table) findExact(long string) *Option {
	for i := range t.Options {
		if t.Options[i].Long == long {
			return &t.Options[i]
		}
	}
	return nil
}

func (t *Table) findShort(short byte) *Option {
	for i := range t.Options {
		if t.Options[i].Short == short && short != 0 {
			return &t.Options[i]
		}
	}
	return nil
}

// findAbbreviated returns the options for which a text is an abbreviation.
func (t *Table) findAbbreviated(text string) []*Option {
	var found []*Option
	for i := range t.Options {
		if o := &t.Options[i]; !o.Exact && len(o.Long) >= len(text) && o.Long[:len(text)] == text {
			found = append(found, o)
		}
	}
	return found
}
