package slurm

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/value"
)

// given is an option's value, or that of an environment variable; ok is false when there is neither.
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

// listed is a filter by names: the option, the variable that stands for it if there is one, and where the names go.
type listed struct {
	option, variable string
	into             *[]string
}

// lists reads filters. One that is given and names nothing is refused: its variable of the shell is not set, and all jobs are not meant.
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

// hosts are the names of nodes that an option gives; nil without it.
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

// someJobs refuses options whose list is there and names no job. Where a list may be left out, that means all jobs, and the list may be a word of its own.
func (c *call) someJobs(refs []value.Job, options ...string) error {
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

// noNodes is the error about a text that is no list of nodes.
func noNodes(text string) error {
	return fault.Errorf("write names with commas between, as n7 or n[7-9,12]; sinfo -N lists the nodes", "Invalid node name specified: %s", text)
}

// empty is the error about an option that names nothing.
func empty(option string) error {
	return fault.Errorf("say which; an unset variable of the shell looks like this", "--%s is empty", option)
}

// words are those between commas.
func words(text string) []string {
	var all []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}
