package jobrow

import (
	"slices"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// Sorted holds the visible jobs as rows, one per job, in the default order. It keeps the rows between snapshots, so
// that unchanged rows need not be sorted again.
type Sorted struct {
	rows []Row
	jobs []*snapshot.Job // the jobs of the Snapshot from which rows was built
	of   keeping
}

// keeping determines which jobs of a Snapshot are visible.
type keeping struct {
	namespace, user string
	mine            bool
}

// CurrentRows returns the current rows, which the caller must not modify.
func (s *Sorted) CurrentRows(ctx *screenapi.Context) []Row {
	jobs, now := ctx.Snap.Jobs, keeping{ctx.Namespace, ctx.User, ctx.Mine}
	gone, fresh := snapshot.ChangedJobs(s.jobs, jobs)
	switch {
	case s.of != now || len(gone)+len(fresh) > len(jobs)/4:
		s.rows = RowsOfJobs(JobsToShow(ctx, jobs), ctx.Now, nil)
		slices.SortFunc(s.rows, CompareDefault)
	case len(gone)+len(fresh) > 0:
		s.replaceRows(gone, RowsOfJobs(JobsToShow(ctx, fresh), ctx.Now, nil))
	}
	s.jobs, s.of = jobs, now
	return s.rows
}

// replaceRows removes the rows of some jobs and adds new rows.
func (s *Sorted) replaceRows(gone []*snapshot.Job, fresh []Row) {
	out := make(map[*snapshot.Job]bool, len(gone))
	for _, job := range gone {
		out[job] = true
	}
	slices.SortFunc(fresh, CompareDefault)
	merged := make([]Row, 0, len(s.rows)+len(fresh))
	left := slices.DeleteFunc(slices.Clone(s.rows), func(row Row) bool { return out[row.Job] })
	for _, row := range fresh {
		at, _ := slices.BinarySearchFunc(left, row, CompareDefault)
		merged = append(append(merged, left[:at]...), row)
		left = left[at:]
	}
	s.rows = append(merged, left...)
}
