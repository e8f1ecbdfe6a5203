package jobrow

import (
	"slices"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Sorted holds the visible jobs as rows, one per job, in the order of a table. It keeps the rows between snapshots, so
// that unchanged rows need not be sorted again.
type Sorted struct {
	rows []Row
	jobs []*snapshot.Job // the jobs of the Snapshot from which rows was built
	of   keeping
}

// keeping determines which jobs of a Snapshot are visible, and their order.
type keeping struct {
	namespace, user string
	mine            bool
	order           int
}

// CurrentRows returns the current rows in the specified order. The caller must not modify them.
func (s *Sorted) CurrentRows(ctx *screenapi.Context, order widget.Order[Row]) []Row {
	jobs, now := ctx.Snap.Jobs, keeping{ctx.Namespace, ctx.User, ctx.Mine, order.Serial}
	gone, fresh := snapshot.ChangedJobs(s.jobs, jobs)
	switch {
	case s.of != now || len(gone)+len(fresh) > len(jobs)/4:
		s.rows = RowsOfJobs(JobsToShow(ctx, jobs), ctx.Now, nil)
		slices.SortFunc(s.rows, order.Compare)
	case len(gone)+len(fresh) > 0:
		s.replaceRows(gone, RowsOfJobs(JobsToShow(ctx, fresh), ctx.Now, nil), order.Compare)
	}
	s.jobs, s.of = jobs, now
	return s.rows
}

// replaceRows removes the rows of some jobs and adds new rows.
func (s *Sorted) replaceRows(gone []*snapshot.Job, fresh []Row, compare func(a, b Row) int) {
	out := make(map[*snapshot.Job]bool, len(gone))
	for _, job := range gone {
		out[job] = true
	}
	slices.SortFunc(fresh, compare)
	merged := make([]Row, 0, len(s.rows)+len(fresh))
	left := slices.DeleteFunc(slices.Clone(s.rows), func(row Row) bool { return out[row.Job] })
	for _, row := range fresh {
		at, _ := slices.BinarySearchFunc(left, row, compare)
		merged = append(append(merged, left[:at]...), row)
		left = left[at:]
	}
	s.rows = append(merged, left...)
}
