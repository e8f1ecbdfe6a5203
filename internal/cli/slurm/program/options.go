package program

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// OptionOrVariable returns the value of an option or, if it is not specified, of an environment variable. ok is false
// if neither is set.
func (c *Call) OptionOrVariable(option, variable string) (string, bool) {
	if text, ok := c.Parsed.LastValue(option); ok {
		return text, true
	}
	if variable != "" {
		if text := c.Factory.Streams.Env(variable); text != "" {
			return text, true
		}
	}
	return "", false
}

// ListFilter describes a filter by names.
type ListFilter struct {
	option, variable string
	into             *[]string
}

// NewListFilter returns the filter for an option and, if variable is not empty, for the environment variable with the
// same meaning. ReadListFilters appends the names to into.
func NewListFilter(option, variable string, into *[]string) ListFilter {
	return ListFilter{option, variable, into}
}

// ReadListFilters reads the filters. It rejects a filter that is specified but empty, because that is usually caused by
// an unset shell variable and is not meant to select all jobs.
func (c *Call) ReadListFilters(all ...ListFilter) error {
	for _, l := range all {
		text, ok := c.OptionOrVariable(l.option, l.variable)
		if !ok {
			continue
		}
		names := SplitList(text)
		if len(names) == 0 {
			return EmptyOptionError(l.option)
		}
		*l.into = append(*l.into, names...)
	}
	return nil
}

// ReadHostNames returns the node names specified with an option, or nil if the option is not specified.
func (c *Call) ReadHostNames(option string) ([]string, error) {
	text, ok := c.Parsed.LastValue(option)
	if !ok {
		return nil, nil
	}
	names, err := hostlist.ExpandList(text)
	if err != nil {
		return nil, InvalidNodesError(text)
	}
	if len(names) == 0 {
		return nil, EmptyOptionError(option)
	}
	return names, nil
}

// RejectEmptyLists returns an error if one of the options is specified with a list that contains no job. Only an option
// without a list selects all jobs. The list may also be a separate operand.
func (c *Call) RejectEmptyLists(refs []optionvalue.Job, options ...string) error {
	if len(refs) > 0 {
		return nil
	}
	for _, g := range c.Parsed.Given {
		if slices.Contains(options, g.Name) && (g.HasValue || len(c.Parsed.Operands) > 0) {
			return EmptyOptionError(g.Name)
		}
	}
	return nil
}

// InvalidNodesError returns the error for a text that is not a list of nodes.
func InvalidNodesError(text string) error {
	return usererror.Errorf("separate names with commas, for example n7 or n[7-9,12]; sinfo -N lists the nodes", "Invalid node name specified: %s", text)
}

// EmptyOptionError returns the error for an option with an empty value.
func EmptyOptionError(option string) error {
	return usererror.Errorf("specify a value; check whether a shell variable is unset", "--%s is empty", option)
}

// SplitList returns the non-empty words of a comma-separated list.
func SplitList(text string) []string {
	var all []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}

// ParseJobWords parses the words of a command line as lists of jobs.
func ParseJobWords(words []string) ([]optionvalue.Job, error) {
	var all []optionvalue.Job
	for _, word := range words {
		list, err := optionvalue.ParseJobs(word)
		if err != nil {
			return nil, usererror.Errorf("specify a job number such as 42; for tasks of an array, append _7 or _[1-3,9]", "Invalid job id: %s", word)
		}
		all = append(all, list...)
	}
	return all, nil
}

// Groups of options in the help texts of several programs.
const (
	FilterGroup = "Which jobs"
	OutputGroup = "Output"
)

// RejectUnsupported returns an error if an unsupported option is specified. because maps each unsupported option to the
// reason.
func (c *Call) RejectUnsupported(because map[string]string) error {
	for _, g := range c.Parsed.Given {
		if why, is := because[g.Name]; is {
			return usererror.Errorf("remove --"+g.Name, "--%s is not supported here (%s)", g.Name, why)
		}
	}
	return nil
}

// Reasons why options of several programs are not supported.
const (
	NoReservations = "Volcano does not support advance reservations"
	NoLicenses     = "licenses are not managed"
	NoFederations  = "clusters are not federated"
)
