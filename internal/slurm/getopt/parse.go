package getopt

import (
	"fmt"
	"slices"
	"strings"
)

// Error is a command line that cannot be read. Its text is that of getopt_long, without the name of the program.
type Error struct{ Text string }

func (e *Error) Error() string { return e.Text }

func errorf(format string, args ...any) *Error { return &Error{Text: fmt.Sprintf(format, args...)} }

// Given is one option as it was given.
type Given struct {
	// Name is the option's long name, whatever was typed.
	Name string
	// Value is what was given to it; HasValue tells an empty value from none.
	Value    string
	HasValue bool
	// As is the option as it was typed, without its value: --part, -p.
	As string
	// At is where the option stands among the words, the first at 0.
	At int
}

// Parsed is a command line that was read.
type Parsed struct {
	// Given are the options in order, with repetitions.
	Given []Given
	// Operands are the words that are no options.
	Operands []string
}

// Has says whether an option was given.
func (p *Parsed) Has(name string) bool { return p.Count(name) > 0 }

// Count is how often an option was given.
func (p *Parsed) Count(name string) int { return len(p.All(name)) }

// Last is the value of the last time an option was given; ok is false when it was not.
func (p *Parsed) Last(name string) (value string, ok bool) {
	all := p.All(name)
	if len(all) == 0 {
		return "", false
	}
	return all[len(all)-1], true
}

// All are the values of an option, in order.
func (p *Parsed) All(name string) []string {
	var all []string
	for _, g := range p.Given {
		if g.Name == name {
			all = append(all, g.Value)
		}
	}
	return all
}

// Parse reads the words of a command line. An error is an *Error.
func (t *Table) Parse(words []string) (Parsed, error) {
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
			words, err = t.long(&p, word, words)
		case len(word) > 1 && word[0] == '-':
			words, err = t.cluster(&p, word, words)
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

// long reads --name or --name=value, and takes the value from the rest where it is not glued.
func (t *Table) long(p *Parsed, word string, rest []string) ([]string, error) {
	name, value, glued := strings.Cut(word[2:], "=")
	option, err := t.find(word, name)
	if err != nil {
		return nil, err
	}
	given := Given{Name: option.name(), Value: value, HasValue: glued, As: "--" + name}
	switch {
	case option.Arg == None && glued:
		return nil, errorf("option '--%s' doesn't allow an argument", option.Long)
	case option.Arg == Required && !glued && len(rest) == 0:
		return nil, errorf("option '--%s' requires an argument", option.Long)
	case option.Arg == Required && !glued:
		given.Value, given.HasValue, rest = rest[0], true, rest[1:]
	}
	p.Given = append(p.Given, given)
	return rest, nil
}

// find is the option of a name, or of the beginning of one.
func (t *Table) find(word, name string) (*Option, error) {
	if option := t.exact(name); option != nil {
		return option, nil
	}
	found := t.beginning(name)
	switch {
	case sameOption(found) && name != "":
		return found[0], nil
	case len(found) == 0 || name == "":
		return nil, errorf("unrecognized option '%s'", word)
	}
	var possible strings.Builder
	for _, option := range found {
		possible.WriteString(" '--" + option.Long + "'")
	}
	return nil, errorf("option '%s' is ambiguous; possibilities:%s", word, possible.String())
}

// sameOption reports whether some options are names of one option, so that an abbreviation of them is not ambiguous.
func sameOption(found []*Option) bool {
	return len(found) > 0 && !slices.ContainsFunc(found, func(o *Option) bool { return o.name() != found[0].name() })
}

// cluster reads -x, -xVALUE and -xyz.
func (t *Table) cluster(p *Parsed, word string, rest []string) ([]string, error) {
	for at := 1; at < len(word); at++ {
		option := t.letter(word[at])
		if option == nil {
			return nil, errorf("invalid option -- '%c'", word[at])
		}
		given := Given{Name: option.name(), As: "-" + word[at:at+1]}
		if option.Arg == None {
			p.Given = append(p.Given, given)
			continue
		}
		if glued := word[at+1:]; glued != "" {
			given.Value, given.HasValue = glued, true
		} else if option.Arg == Required {
			if len(rest) == 0 {
				return nil, errorf("option requires an argument -- '%c'", word[at])
			}
			given.Value, given.HasValue, rest = rest[0], true, rest[1:]
		}
		p.Given = append(p.Given, given)
		return rest, nil
	}
	return rest, nil
}
