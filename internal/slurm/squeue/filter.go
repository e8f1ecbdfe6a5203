package squeue

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/usererror"
)

// Filter selects rows. An empty list selects all rows.
type Filter struct {
	Jobs                                                   []optionvalue.Job
	Users, Partitions, Accounts, QOS, Names, Nodes, WCKeys []string
	// States lists the selected states. If it is nil, the states of jobs that have not ended are selected.
	States []state.Code
	// All selects all states.
	All bool
}

// ParseStates parses the value of -t, which is either all or a comma-separated list of short and long names in any
// case.
func ParseStates(text string) (codes []state.Code, all bool, err error) {
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if strings.EqualFold(word, "all") {
			return nil, true, nil
		}
		code, ok := state.ParseCode(word)
		if !ok {
			return nil, false, usererror.Errorf("", "Invalid job state specified: %s", word)
		}
		codes = append(codes, code)
	}
	return codes, false, nil
}

// SelectsRow reports whether the filter selects a row.
func (f *Filter) SelectsRow(r *listrow.Row) bool {
	switch {
	case !f.selectsState(r.State.Code), !f.selectsJob(r):
		return false
	case !isAmong(f.Users, r.UserName()) && !isAmong(f.Users, r.UserID()):
		return false
	case !isAmong(f.Partitions, r.PartitionName()) && !isAmong(f.Partitions, r.QueueName()):
		return false
	case !isAmong(f.Accounts, r.AccountName()), !isAmong(f.QOS, r.QOSName()):
		return false
	case !isAmong(f.Names, r.JobTitle()), !isAmong(f.WCKeys, r.Asked.WCKey):
		return false
	}
	return len(f.Nodes) == 0 || slices.ContainsFunc(r.NodeNames(), func(node string) bool { return slices.Contains(f.Nodes, node) })
}

func (f *Filter) selectsState(code state.Code) bool {
	switch {
	case f.All:
		return true
	case f.States == nil:
		return code.IsListedByDefault()
	}
	return slices.Contains(f.States, code) || slices.Contains(f.States, code.BaseCode())
}

func (f *Filter) selectsJob(r *listrow.Row) bool {
	return len(f.Jobs) == 0 || slices.ContainsFunc(f.Jobs, func(j optionvalue.Job) bool { return r.MatchesReference(j) })
}

func isAmong(list []string, word string) bool { return len(list) == 0 || slices.Contains(list, word) }
