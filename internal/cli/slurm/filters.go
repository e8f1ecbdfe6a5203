package slurm

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// optionOrVariable returns the value of an option or, if it is not specified, of an environment variable. ok is false
// if neither is set.
func (c *call) optionOrVariable(option, variable string) (string, bool) {
	if text, ok := c.parsed.LastValue(option); ok {
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

// readListFilters reads the filters. It rejects a filter that is specified but empty, because that is usually caused by
// an unset shell variable and is not meant to select all jobs.
func (c *call) readListFilters(all ...listed) error {
	for _, l := range all {
		text, ok := c.optionOrVariable(l.option, l.variable)
		if !ok {
			continue
		}
		names := splitList(text)
		if len(names) == 0 {
			return emptyOptionError(l.option)
		}
		*l.into = append(*l.into, names...)
	}
	return nil
}

// readHostNames returns the node names of an option, or nil without the option.
func (c *call) readHostNames(option string) ([]string, error) {
	text, ok := c.parsed.LastValue(option)
	if !ok {
		return nil, nil
	}
	names, err := hostlist.ExpandList(text)
	if err != nil {
		return nil, invalidNodesError(text)
	}
	if len(names) == 0 {
		return nil, emptyOptionError(option)
	}
	return names, nil
}

// rejectEmptyLists returns an error if one of the options is specified with a list that contains no job. Only an option
// without a list selects all jobs. The list may also be a separate operand.
func (c *call) rejectEmptyLists(refs []optionvalue.Job, options ...string) error {
	if len(refs) > 0 {
		return nil
	}
	for _, g := range c.parsed.Given {
		if slices.Contains(options, g.Name) && (g.HasValue || len(c.parsed.Operands) > 0) {
			return emptyOptionError(g.Name)
		}
	}
	return nil
}

// invalidNodesError returns the error for a text that is not a list of nodes.
func invalidNodesError(text string) error {
	return usererror.Errorf("separate names with commas, for example n7 or n[7-9,12]; sinfo -N lists the nodes", "Invalid node name specified: %s", text)
}

// emptyOptionError returns the error for an option with an empty value.
func emptyOptionError(option string) error {
	return usererror.Errorf("specify a value; check for an unset shell variable", "--%s is empty", option)
}

// splitList returns the non-empty words of a comma-separated list.
func splitList(text string) []string {
	var all []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}
