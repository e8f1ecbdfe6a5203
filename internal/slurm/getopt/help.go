package getopt

import (
	"fmt"
	"slices"
	"strings"
)

// UsageText returns the output of --usage: the command with its options in brackets, wrapped at 80 columns.
func (t *Table) UsageText() string {
	line := "Usage: " + t.Program
	indent := strings.Repeat(" ", len("Usage: ")+len(t.Program))
	var b strings.Builder
	add := func(word string) {
		if len(line)+1+len(word) > 80 {
			b.WriteString(line + "\n")
			line = indent
		}
		line += " " + word
	}
	for i := range t.Options {
		if o := &t.Options[i]; !o.Hidden {
			add("[" + o.shortestForm() + "]")
		}
	}
	if t.Operands != "" {
		add(t.Operands)
	}
	return b.String() + line + "\n"
}

// shortestForm returns the shortest form of an option.
func (o *Option) shortestForm() string {
	switch {
	case o.Short != 0 && o.Arg == Required:
		return fmt.Sprintf("-%c %s", o.Short, o.Value)
	case o.Short != 0 && o.Arg == None:
		return fmt.Sprintf("-%c", o.Short)
	}
	return o.longForm()
}

// longForm returns the long form of an option with its value.
func (o *Option) longForm() string {
	switch o.Arg {
	case Required:
		return "--" + o.Long + "=" + o.Value
	case Optional:
		return "--" + o.Long + "[=" + o.Value + "]"
	}
	return "--" + o.Long
}

// OptionsText returns a list of the options by group, in the order in which the groups first appear.
func (t *Table) OptionsText() string {
	var groups []string
	for i := range t.Options {
		if o := &t.Options[i]; !o.Hidden && !slices.Contains(groups, o.Group) {
			groups = append(groups, o.Group)
		}
	}
	var b strings.Builder
	for _, group := range groups {
		title := group
		if title == "" {
			title = "Options"
		}
		b.WriteString(title + ":\n")
		for i := range t.Options {
			if o := &t.Options[i]; o.Group == group && !o.Hidden {
				b.WriteString(o.helpLine())
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// helpColumn is the column in which the text of an option begins.
const helpColumn = 34

func (o *Option) helpLine() string {
	left := "      " + o.longForm()
	if o.Short != 0 {
		left = fmt.Sprintf("  -%c, %s", o.Short, o.longForm())
	}
	if len(left) >= helpColumn-1 {
		return left + "\n" + strings.Repeat(" ", helpColumn) + o.Help + "\n"
	}
	return left + strings.Repeat(" ", helpColumn-len(left)) + o.Help + "\n"
}
