package squeue

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/usererror"
)

// Filter selects rows; an empty list selects all rows.
type Filter struct {
	Jobs                                                   []optionvalue.Job
	Users, Partitions, Accounts, QOS, Names, Nodes, WCKeys []string
	// States lists the selected states; nil selects the states of jobs that have not ended.
	States []state.Code
	// All selects all states.
	All bool
}

// ParseStates parses the value of -t: comma-separated short and long names in any case, or all.
func ParseStates(text string) (codes []state.Code, all bool, err error) {
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if strings.EqualFold(word, "all") {
			return nil, true, nil
		}
		code, ok := state.Parse(word)
		if !ok {
			return nil, false, usererror.Errorf("", "Invalid job state specified: %s", word)
		}
		codes = append(codes, code)
	}
	return codes, false, nil
}

// Keeps reports whether the filter selects a row.
func (f *Filter) Keeps(r *listrow.Row) bool {
	return f.keepsState(r.State.Code) && f.keepsJob(r) &&
		(among(f.Users, r.User()) || among(f.Users, r.UserID())) && (among(f.Partitions, r.Partition()) || among(f.Partitions, r.QueueName())) && among(f.Accounts, r.Account()) && among(f.QOS, r.QOS()) &&
		among(f.Names, r.Name()) && among(f.WCKeys, r.Asked.WCKey) &&
		(len(f.Nodes) == 0 || slices.ContainsFunc(r.Nodes(), func(node string) bool { return slices.Contains(f.Nodes, node) }))
}

func (f *Filter) keepsState(code state.Code) bool {
	switch {
	case f.All:
		return true
	case f.States == nil:
		return code.Default()
	}
	return slices.Contains(f.States, code) || slices.Contains(f.States, code.Base())
}

func (f *Filter) keepsJob(r *listrow.Row) bool {
	return len(f.Jobs) == 0 || slices.ContainsFunc(f.Jobs, func(j optionvalue.Job) bool { return r.Matches(j) })
}

func among(list []string, word string) bool { return len(list) == 0 || slices.Contains(list, word) }
