package slurm

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/usererror"
)

// given returns the value of an option or, if it is not specified, of an environment variable. ok is false if neither
// is set.
func (c *call) given(option, variable string) (string, bool) {
	if text, ok := c.parsed.Last(option); ok {
		return text, true
	}
	if variable != "" {
		if text := c.f.Streams.Env(variable); text != "" {
			return text, true
		}
	}
	return "", false
}

// listed describes a filter by names: its option, the environment variable with the same meaning, if any, and the
// variable that receives the names.
type listed struct {
	option, variable string
	into             *[]string
}

// lists reads the filters. It rejects a filter that is specified but empty, because that is usually caused by an
// unset shell variable and is not meant to select all jobs.
func (c *call) lists(all ...listed) error {
	for _, l := range all {
		text, ok := c.given(l.option, l.variable)
		if !ok {
			continue
		}
		names := words(text)
		if len(names) == 0 {
			return empty(l.option)
		}
		*l.into = append(*l.into, names...)
	}
	return nil
}

// hosts returns the node names of an option, or nil without the option.
func (c *call) hosts(option string) ([]string, error) {
	text, ok := c.parsed.Last(option)
	if !ok {
		return nil, nil
	}
	names, err := hostlist.Expand(text)
	if err != nil {
		return nil, noNodes(text)
	}
	if len(names) == 0 {
		return nil, empty(option)
	}
	return names, nil
}

// someJobs returns an error if one of the options is specified with a list that contains no job. Only an option
// without a list selects all jobs. The list may also be a separate operand.
func (c *call) someJobs(refs []optionvalue.Job, options ...string) error {
	if len(refs) > 0 {
		return nil
	}
	for _, g := range c.parsed.Given {
		if slices.Contains(options, g.Name) && (g.HasValue || len(c.parsed.Operands) > 0) {
			return empty(g.Name)
		}
	}
	return nil
}

// noNodes returns the error for a text that is not a list of nodes.
func noNodes(text string) error {
	return usererror.Errorf("separate names with commas, for example n7 or n[7-9,12]; sinfo -N lists the nodes", "Invalid node name specified: %s", text)
}

// empty returns the error for an option with an empty value.
func empty(option string) error {
	return usererror.Errorf("specify a value; check for an unset shell variable", "--%s is empty", option)
}

// words returns the non-empty words of a comma-separated list.
func words(text string) []string {
	var all []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}
