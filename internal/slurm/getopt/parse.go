package getopt

import (
	"fmt"
	"slices"
	"strings"
)

// Error is the error for an invalid command line. Its text is the message that getopt_long prints, without the name of
// the program.
type Error struct{ Text string }

func (e *Error) Error() string { return e.Text }

func newError(format string, args ...any) *Error { return &Error{Text: fmt.Sprintf(format, args...)} }

// Given is an option as the user specified it.
type Given struct {
	// Name is the option's full long name, independent of the form on the command line.
	Name string
	// Value is the option's value. HasValue distinguishes an empty value from a missing one.
	Value    string
	HasValue bool
	// As is the option as written on the command line, without its value: --part, -p.
	As string
	// At is the index of the argument that contains the option.
	At int
}

// Parsed is the result of parsing a command line.
type Parsed struct {
	// Given lists the options in order, with repetitions.
	Given []Given
	// Operands lists the arguments that are not options.
	Operands []string
}

// Has reports whether an option was specified.
func (p *Parsed) Has(name string) bool { return p.CountOf(name) > 0 }

// CountOf returns how often an option was specified.
func (p *Parsed) CountOf(name string) int { return len(p.AllValues(name)) }

// LastValue returns the last value of an option. ok is false if the option was not specified.
func (p *Parsed) LastValue(name string) (value string, ok bool) {
	all := p.AllValues(name)
	if len(all) == 0 {
		return "", false
	}
	return all[len(all)-1], true
}

// AllValues returns the values of an option in order.
func (p *Parsed) AllValues(name string) []string {
	var all []string
	for _, g := range p.Given {
		if g.Name == name {
			all = append(all, g.Value)
		}
	}
	return all
}

// ParseArguments parses the arguments of a command. Errors are of type *Error.
func (t *Table) ParseArguments(words []string) (Parsed, error) {
	var p Parsed
	all := len(words)
	for len(words) > 0 {
		word, before := words[0], len(p.Given)
		at := all - len(words)
		words = words[1:]
		var err error
		switch {
		case word == "--":
			p.Operands = append(p.Operands, words...)
			return p, nil
		case strings.HasPrefix(word, "--"):
			words, err = t.parseLong(&p, word, words)
		case len(word) > 1 && word[0] == '-':
			words, err = t.parseShort(&p, word, words)
		default:
			p.Operands = append(p.Operands, word)
			if t.Stop {
				p.Operands = append(p.Operands, words...)
				return p, nil
			}
		}
		if err != nil {
			return Parsed{}, err
		}
		for i := before; i < len(p.Given); i++ {
			p.Given[i].At = at
		}
	}
	return p, nil
}

// parseLong parses --name or --name=value. If a required value is not attached, it is taken from rest.
func (t *Table) parseLong(p *Parsed, word string, rest []string) ([]string, error) {
	name, value, glued := strings.Cut(word[2:], "=")
	option, err := t.findOption(word, name)
	if err != nil {
		return nil, err
	}
	given := Given{Name: option.canonicalName(), Value: value, HasValue: glued, As: "--" + name}
	switch {
	case option.Arg == None && glued:
		return nil, newError("option '--%s' doesn't allow an argument", option.Long)
	case option.Arg == Required && !glued && len(rest) == 0:
		return nil, newError("option '--%s' requires an argument", option.Long)
	case option.Arg == Required && !glued:
		given.Value, given.HasValue, rest = rest[0], true, rest[1:]
	}
	p.Given = append(p.Given, given)
	return rest, nil
}

// findOption returns the option with the given name, which may be abbreviated if that is unambiguous.
func (t *Table) findOption(word, name string) (*Option, error) {
	if option := t.findExact(name); option != nil {
		return option, nil
	}
	found := t.findAbbreviated(name)
	switch {
	case isSameOption(found) && name != "":
		return found[0], nil
	case len(found) == 0 || name == "":
		return nil, newError("unrecognized option '%s'", word)
	}
	var possible strings.Builder
	for _, option := range found {
		possible.WriteString(" '--" + option.Long + "'")
	}
	return nil, newError("option '%s' is ambiguous; possibilities:%s", word, possible.String())
}

// isSameOption reports whether all found options are names for the same option. If they are, an abbreviation that
// matches all of them is not ambiguous.
func isSameOption(found []*Option) bool {
	return len(found) > 0 && !slices.ContainsFunc(found, func(o *Option) bool { return o.canonicalName() != found[0].canonicalName() })
}

// parseShort parses -x, -xVALUE and -xyz.
func (t *Table) parseShort(p *Parsed, word string, rest []string) ([]string, error) {
	for at := 1; at < len(word); at++ {
		option := t.findShort(word[at])
		if option == nil {
			return nil, newError("invalid option -- '%c'", word[at])
		}
		given := Given{Name: option.canonicalName(), As: "-" + word[at:at+1]}
		if option.Arg == None {
			p.Given = append(p.Given, given)
			continue
		}
		if glued := word[at+1:]; glued != "" {
			given.Value, given.HasValue = glued, true
		} else if option.Arg == Required {
			if len(rest) == 0 {
				return nil, newError("option requires an argument -- '%c'", word[at])
			}
			given.Value, given.HasValue, rest = rest[0], true, rest[1:]
		}
		p.Given = append(p.Given, given)
		return rest, nil
	}
	return rest, nil
}
