package jobs

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/filter"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Jobs is the screen.
type Jobs struct {
	table    widget.Table[jobrow.Row]
	filter   string
	shown    int
	all      int
	group    int // index in groups
	unfolded map[types.UID]bool
	// sorted holds the rows if no array is unfolded. matching is a buffer for the matching rows.
	sorted   jobrow.Sorted
	matching []jobrow.Row
	// filled is the input from which the current rows were made.
	filled filling
}

// filling is the input for making rows.
type filling struct {
	snap      *snapshot.Snapshot
	namespace string
	mine      bool
}

// New returns the screen.
func New(string) screenapi.Screen {
	j := &Jobs{unfolded: map[types.UID]bool{}}
	j.table = widget.Table[jobrow.Row]{
		Columns: jobrow.AllColumns(), ID: jobrow.UniqueID, Default: jobrow.CompareDefault, DefaultSort: jobrow.DefaultSort,
		Dim: jobrow.Row.HasEnded,
	}
	return j
}

// Selection returns the job under the cursor.
func (j *Jobs) Selection() (object screenapi.Selection, ok bool) {
	row, ok := j.table.Selected()
	if !ok {
		return object, false
	}
	return screenapi.Selection{Kind: "job", Namespace: row.Job.Namespace, Name: row.Job.Name}, true
}

// ArrangeTable arranges the columns and rows.
func (j *Jobs) ArrangeTable(how screenapi.Arrangement) error {
	return j.table.Arrange(how, func(row jobrow.Row) any { return row.Job.Object })
}

// Name returns the screen's name in the table of keys.
func (j *Jobs) Name() string { return screenapi.Jobs }

// Crumb returns the screen's name in the path.
func (j *Jobs) Crumb(*screenapi.Context) string { return "Jobs" }

// Note returns the number of rows and the sort order.
func (j *Jobs) Note(ctx *screenapi.Context) string {
	rows := widget.FormatCount(j.all) + " rows"
	if j.all == 1 {
		rows = "1 row"
	}
	if only := ctx.OnlyNamespaces("jobs"); only != "" {
		rows += ", " + only
	}
	if j.shown != j.all {
		rows = fmt.Sprintf("%s, %s shown", rows, widget.FormatCount(j.shown))
	}
	note := rows + "   sort: " + j.table.SortNote()
	if g := groups[j.group]; g.name != "" {
		note += "   group: " + g.name
	}
	return note
}

// Update handles an event.
func (j *Jobs) Update(ctx *screenapi.Context, event screenapi.Event) []screenapi.Effect {
	switch event := event.(type) {
	case screenapi.Refresh:
		j.refreshRows(ctx)
	case screenapi.Mouse:
		if _, open := j.table.Mouse(ctx, event); open {
			return j.openSelectedJob(ctx)
		}
	}
	return nil
}

// refreshRows makes the rows from the current snapshot.
func (j *Jobs) refreshRows(ctx *screenapi.Context) {
	now := filling{ctx.Snap, ctx.Namespace, ctx.Mine}
	lingering := j.filled.namespace == now.namespace && j.filled.mine == now.mine
	j.filled = now
	jobrow.AdaptColumns(ctx, j.table.Columns)
	_ = j.filterAndFillRows(ctx, j.filter, lingering)
}

// filterAndFillRows makes the rows. If the filter is invalid, it leaves the rows unchanged.
func (j *Jobs) filterAndFillRows(ctx *screenapi.Context, text string, lingering bool) error {
	matching, err := jobrow.FilterFields(ctx.Snap, ctx.Now).Parse(text)
	if err != nil {
		return err
	}
	j.filter = text
	rows := j.allJobRows(ctx)
	j.all = len(rows)
	if !matching.MatchesAll() {
		j.matching = appendMatching(j.matching[:0], rows, matching)
		rows = j.matching
	}
	j.shown = len(rows)
	j.table.SetRows(ctx, rows, lingering)
	return nil
}

// allJobRows returns all rows. The caller must not change them.
func (j *Jobs) allJobRows(ctx *screenapi.Context) []jobrow.Row {
	if len(j.unfolded) == 0 {
		return j.sorted.CurrentRows(ctx, j.table.CurrentOrder())
	}
	return jobrow.RowsOfJobs(jobrow.JobsToShow(ctx, ctx.Snap.Jobs), ctx.Now, func(job *snapshot.Job) bool { return j.unfolded[job.UID] })
}

// appendMatching appends those rows to kept that match.
func appendMatching(kept, rows []jobrow.Row, matching filter.Filter[jobrow.Row]) []jobrow.Row {
	for _, row := range rows {
		if matching.Match(row) {
			kept = append(kept, row)
		}
	}
	return kept
}

// SetFilter filters the rows.
func (j *Jobs) SetFilter(ctx *screenapi.Context, text string) error {
	before := j.table.CursorID()
	err := j.filterAndFillRows(ctx, text, false)
	j.table.GoHomeIfLost(before)
	return err
}

// FilterKeys returns the keys that a filter can contain, such as st: and gpu>=.
func (j *Jobs) FilterKeys() []string { return jobrow.FilterFields(nil, time.Time{}).FilterKeys() }

// Matches returns the number of visible rows and the number of all rows.
func (j *Jobs) Matches(*screenapi.Context) (shown, all int) { return j.shown, j.all }

// Escape clears marks.
func (j *Jobs) Escape() bool { return j.table.Escape() }

// actionTargets returns the jobs that an action applies to. Multiple parts of an array count as one job.
func (j *Jobs) actionTargets(*screenapi.Context, screenapi.Screen) []*snapshot.Job {
	var jobs []*snapshot.Job
	seen := map[types.UID]bool{}
	for _, row := range j.table.Targets() {
		if !seen[row.Job.UID] {
			seen[row.Job.UID] = true
			jobs = append(jobs, row.Job)
		}
	}
	return jobs
}

func (j *Jobs) openSelectedJob(*screenapi.Context) []screenapi.Effect {
	if row, ok := j.table.Selected(); ok {
		return []screenapi.Effect{screenapi.Open{Screen: screenapi.Job, Target: string(row.Job.UID)}}
	}
	return nil
}

// toggleFold folds or unfolds the array under the cursor.
func (j *Jobs) toggleFold(ctx *screenapi.Context) []screenapi.Effect {
	row, _ := j.table.Selected()
	j.unfolded[row.Job.UID] = !j.unfolded[row.Job.UID]
	if !j.unfolded[row.Job.UID] {
		delete(j.unfolded, row.Job.UID)
	}
	_ = j.filterAndFillRows(ctx, j.filter, false)
	for _, one := range j.table.Rows() {
		if one.Job.UID == row.Job.UID {
			j.table.Select(jobrow.UniqueID(one))
			break
		}
	}
	return nil
}

// snapshotAge describes the age of the snapshot in words.
func snapshotAge(ctx *screenapi.Context) string {
	return fmt.Sprintf("updated %s ago", ctx.Now.Sub(ctx.Snap.At).Truncate(time.Second))
}
