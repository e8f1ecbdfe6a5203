package getopt

import (
	"cmp"
	"slices"
)

// Argument says whether an option has a value.
type Argument int

// The three kinds of options.
const (
	// None: the option is a switch.
	None Argument = iota
	// Required: the value follows, glued or as the next word.
	Required
	// Optional: the value may be left out, so that it must be glued: --exclusive=user, -k2.
	Optional
)

// Option is one option of a command.
type Option struct {
	// Long is the name after --, and the name under which the option is found in Parsed; every option has one.
	Long string
	// Short is the letter after -, 0 for none.
	Short byte
	// Arg says whether there is a value.
	Arg Argument
	// Value is what stands for the value in help texts.
	Value string
	// Help is one line; Group the heading that it stands under.
	Help, Group string
	// Exact options are found by their full name only, and make no other name ambiguous: those that Slurm does not have.
	Exact bool
	// Hidden options are in no help text.
	Hidden bool
	// Alias is the long name of the option that this one is another name of: it is found under that name in Parsed.
	Alias string
}

// name is the long name under which the option is found in Parsed.
func (o *Option) name() string { return cmp.Or(o.Alias, o.Long) }

// Table is all options of a command.
type Table struct {
	// Program is how the command is called, as in its messages.
	Program string
	// Operands is what the usage line shows after the options.
	Operands string
	Options  []Option
	// Stop ends the options at the first operand, as the + in a getopt string does: what follows belongs to a script.
	Stop bool
}

// With is the table with more options.
func (t *Table) With(more ...Option) *Table {
	larger := *t
	larger.Options = append(slices.Clone(t.Options), more...)
	return &larger
}

// Has says whether the table has an option of this full name.
func (t *Table) Has(long string) bool { return t.exact(long) != nil }

func (t *Table) exact(long string) *Option {
	for i := range t.Options {
		if t.Options[i].Long == long {
			return &t.Options[i]
		}
	}
	return nil
}

func (t *Table) letter(short byte) *Option {
	for i := range t.Options {
		if t.Options[i].Short == short && short != 0 {
			return &t.Options[i]
		}
	}
	return nil
}

// beginning are the options whose names begin with a text, and that may be cut short.
func (t *Table) beginning(text string) []*Option {
	var found []*Option
	for i := range t.Options {
		if o := &t.Options[i]; !o.Exact && len(o.Long) >= len(text) && o.Long[:len(text)] == text {
			found = append(found, o)
		}
	}
	return found
}
