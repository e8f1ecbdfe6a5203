package sacct

import (
	"cmp"
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/slurm/listrow"
)

// Range is a range of values. A bound that is nil means no limit.
type Range[T cmp.Ordered] struct{ Min, Max *T }

func (r Range[T]) isOpen() bool { return r.Min == nil && r.Max == nil }

func (r Range[T]) containsValue(v T) bool {
	isTooSmall := r.Min != nil && v < *r.Min
	isTooLarge := r.Max != nil && v > *r.Max
	return !isTooSmall && !isTooLarge
}

// Sizes selects jobs by size, time limit, reason and constraints. An empty field selects all jobs.
type Sizes struct {
	Nodes, CPUs Range[int64]
	// Limit has an effect only if Min is set, because Slurm also ignores a maximum without a minimum.
	Limit                Range[time.Duration]
	Reasons, Constraints []string
}

// MatchesRow reports whether Sizes selects a row. Only jobs that have started have a size. A job without a time limit
// is not in any range of limits.
func (s Sizes) MatchesRow(r *listrow.Row) bool {
	ran := !r.Times.Start.IsZero()
	switch {
	case !s.Nodes.isOpen() && !(ran && s.Nodes.containsValue(int64(r.NodeCount()))):
		return false
	case !s.CPUs.isOpen() && !(ran && s.CPUs.containsValue(int64(r.TotalRequest().CPUs))):
		return false
	case s.Limit.Min != nil && (r.TimeLimit() == 0 || !s.Limit.containsValue(r.TimeLimit())):
		return false
	case len(s.Reasons) > 0 && !slices.Contains(s.Reasons, r.State.Reason):
		return false
	}
	return len(s.Constraints) == 0 || slices.Contains(s.Constraints, r.Asked.Features)
}
