package squeue

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/usererror"
)

// The default orders of squeue.
const (
	DefaultOrder = "P,t,-p"
	StartOrder   = "S"
)

type compare func(a, b *listrow.Row) int

// ParseOrder parses the value of -S: comma-separated letters of columns, each optionally preceded by + or -.
func (s Style) ParseOrder(text string) (compare, error) {
	var all []compare
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		letter := strings.TrimLeft(word, "+-")
		if len(letter) != 1 {
			return nil, usererror.Errorf("", "Invalid sort specification: %s", word)
		}
		by, ok := s.comparisonFor(letter[0])
		if !ok {
			return nil, usererror.Errorf("", "Invalid sort specification: %s", word)
		}
		if strings.HasPrefix(word, "-") {
			up := by
			by = func(a, b *listrow.Row) int { return up(b, a) }
		}
		all = append(all, by)
	}
	return func(a, b *listrow.Row) int {
		for _, by := range all {
			if n := by(a, b); n != 0 {
				return n
			}
		}
		return cmp.Or(listrow.CompareByPlace(a, b), listrow.CompareByNumber(a, b))
	}, nil
}

// comparisonFor returns the comparison for a column. It compares numbers and times by value, and all other values as
// text.
func (s Style) comparisonFor(letter byte) (compare, bool) {
	type row = *listrow.Row
	switch letter {
	case 'i', 'A', 'F':
		return listrow.CompareByNumber, true
	case 'p', 'Q':
		return func(a, b row) int { return cmp.Compare(a.Priority, b.Priority) }, true
	case 't', 'T':
		return func(a, b row) int { return stateRank(a) - stateRank(b) }, true
	case 'D':
		return func(a, b row) int { return a.NodeCount() - b.NodeCount() }, true
	case 'C':
		return func(a, b row) int { return a.TotalRequest().CPUs - b.TotalRequest().CPUs }, true
	case 'm':
		return func(a, b row) int { return cmp.Compare(a.LargestRequest().Memory, b.LargestRequest().Memory) }, true
	case 'M':
		return func(a, b row) int { return cmp.Compare(a.UsedTime(), b.UsedTime()) }, true
	case 'l':
		return func(a, b row) int { return cmp.Compare(limitOrForever(a), limitOrForever(b)) }, true
	case 'L':
		return func(a, b row) int { return cmp.Compare(limitOrForever(a)-a.UsedTime(), limitOrForever(b)-b.UsedTime()) }, true
	case 'V':
		return func(a, b row) int { return a.Times.Submit.Compare(b.Times.Submit) }, true
	case 'S', 'e':
		return func(a, b row) int { return compareTimes(a, b, letter == 'e') }, true
	case 'K':
		return func(a, b row) int { return a.Position - b.Position }, true
	}
	for _, f := range s.ColumnFields() {
		if f.Letter == letter {
			return func(a, b row) int { return strings.Compare(f.Value(a), f.Value(b)) }, true
		}
	}
	return nil, false
}

// limitOrForever returns the row's time limit or, if none exists, a value that is greater than all limits.
func limitOrForever(r *listrow.Row) time.Duration {
	if limit := r.TimeLimit(); limit > 0 {
		return limit
	}
	return 1 << 62
}

// compareTimes compares rows by their start times or, if end is true, by their end times. Rows whose time is unknown
// come last.
func compareTimes(a, b *listrow.Row, end bool) int {
	one, other := startOrEnd(a, end), startOrEnd(b, end)
	if one.IsZero() != other.IsZero() {
		if one.IsZero() {
			return 1
		}
		return -1
	}
	return one.Compare(other)
}

func startOrEnd(r *listrow.Row, end bool) time.Time {
	start, last := r.StartAndEnd()
	if end {
		return last
	}
	return start
}

// stateRank returns the position of the row's state in the sort order: pending, running, suspended, ended.
func stateRank(r *listrow.Row) int {
	return slices.Index([]state.Code{
		state.Pending, state.Requeued, state.Configuring, state.Running, state.Completing, state.Suspended, state.Completed, state.Cancelled, state.Failed,
		state.Timeout, state.NodeFail, state.Preempted, state.BootFail, state.OutOfMemory,
	}, r.State.Code)
}
