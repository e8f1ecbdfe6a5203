package overview

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/filter"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/noderow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Overview is the screen.
type Overview struct {
	jobs   widget.Table[jobrow.Row]
	sorted jobrow.Sorted
	// matching is a buffer for the rows that match the filter.
	matching []jobrow.Row
	heat     widget.Heat
	// tiles shows the nodes instead of the heat map; nil if they do not fit.
	tiles   *tileMap
	heatAt  canvas.Canvas // where it was drawn last
	cellsOf noderow.By    // a cell of the heat map is a group of this kind; Flat: a node
	filter  filter.Filter[jobrow.Row]
	text    string // text of the filter
	all     int    // number of jobs that have not ended, before filtering
	// tally counts all jobs, regardless of the filter.
	tally jobrow.Tally
}

// ScreenSpec returns the description of the screen.
func ScreenSpec() screenapi.Spec {
	return screenapi.Spec{Name: screenapi.Overview, Tab: "Overview", ShortTab: "Ovw", Number: "1", New: func(string) screenapi.Screen { return New() }, Keys: KeyBindings()}
}

// New returns the screen in its initial state.
func New() *Overview {
	return &Overview{jobs: widget.Table[jobrow.Row]{Columns: columnsOfJobs(), ID: jobrow.UniqueID, Default: jobrow.CompareDefault, DefaultSort: jobrow.DefaultSort}}
}

// columnsOfJobs returns the columns of the screen Jobs, but with other priorities on narrow terminals: the remaining
// run time is more important here than the namespace.
func columnsOfJobs() []jobrow.Column {
	from := map[string]int{"namespace": 150, "prio": 150, "start": 150, "left": 110, "counts": 110}
	all := jobrow.AllColumns()
	for i := range all {
		if width, ok := from[all[i].Key]; ok {
			all[i].From = width
		}
	}
	return all
}

// Name returns the screen's name.
func (o *Overview) Name() string { return screenapi.Overview }

// Selection returns the job under the cursor.
func (o *Overview) Selection() (object screenapi.Selection, ok bool) {
	row, ok := o.jobs.Selected()
	if !ok {
		return object, false
	}
	return screenapi.Selection{Kind: "job", Namespace: row.Job.Namespace, Name: row.Job.Name}, true
}

// Crumb returns the screen's name in the path.
func (o *Overview) Crumb(*screenapi.Context) string { return "Overview" }

// Note returns "", because the boxes contain the information.
func (o *Overview) Note(*screenapi.Context) string { return "" }

// SetFilter filters the jobs.
func (o *Overview) SetFilter(ctx *screenapi.Context, text string) error {
	parsed, err := jobrow.FilterFields(ctx.Snap, ctx.Now).Parse(text)
	if err != nil {
		return err
	}
	o.filter, o.text = parsed, text
	before := o.jobs.CursorID()
	o.refreshRows(ctx, false)
	o.jobs.GoHomeIfLost(before)
	return nil
}

// Matches returns the number of visible jobs and the number of all jobs.
func (o *Overview) Matches(*screenapi.Context) (shown, all int) { return len(o.jobs.Rows()), o.all }

// Escape clears marks.
func (o *Overview) Escape() bool { return o.jobs.Escape() }

// refreshRows makes the rows from the current snapshot.
func (o *Overview) refreshRows(ctx *screenapi.Context, lingering bool) {
	if o.text != "" { // filters may depend on the time
		if parsed, err := jobrow.FilterFields(ctx.Snap, ctx.Now).Parse(o.text); err == nil {
			o.filter = parsed
		}
	}
	o.tally, o.all, o.matching = jobrow.Tally{}, 0, o.matching[:0]
	for _, row := range o.sorted.CurrentRows(ctx, o.jobs.CurrentOrder()) {
		o.tally.Add(row)
		if row.HasEnded() { // ended jobs are shown on the screen Jobs
			continue
		}
		o.all++
		if o.text == "" || o.filter.Match(row) {
			o.matching = append(o.matching, row)
		}
	}
	jobrow.AdaptColumns(ctx, o.jobs.Columns)
	o.jobs.SetRows(ctx, o.matching, lingering)
}

// Update handles an event.
func (o *Overview) Update(ctx *screenapi.Context, event screenapi.Event) []screenapi.Effect {
	switch e := event.(type) {
	case screenapi.Refresh:
		o.refreshRows(ctx, true)
	case screenapi.Mouse:
		return o.handleMouse(ctx, e)
	}
	return nil
}

func (o *Overview) handleMouse(ctx *screenapi.Context, m screenapi.Mouse) []screenapi.Effect {
	if taken, open := o.jobs.Mouse(ctx, m); taken {
		if open {
			return o.openSelectedJob(ctx)
		}
		return nil
	}
	if m.Kind == screenapi.Click || m.Kind == screenapi.DoubleClick {
		if name := o.clickedNode(m); name != "" {
			if o.tiles == nil && o.cellsOf != noderow.Flat {
				return []screenapi.Effect{screenapi.Open{Screen: screenapi.Nodes, Filter: name}}
			}
			return []screenapi.Effect{screenapi.Open{Screen: screenapi.Nodes, Target: name}}
		}
	}
	return nil
}

// openSelectedJob opens the job under the cursor.
func (o *Overview) openSelectedJob(*screenapi.Context) []screenapi.Effect {
	row, ok := o.jobs.Selected()
	if !ok {
		return nil
	}
	return []screenapi.Effect{screenapi.Open{Screen: screenapi.Job, Target: string(row.Job.UID)}}
}

// shownQueues returns the top-level queues, which are the children of root and other queues without a parent. If
// none exist, it returns all queues.
func shownQueues(snap *snapshot.Snapshot) []*snapshot.Queue {
	var shown []*snapshot.Queue
	for _, q := range snap.Queues {
		isChildOfRoot := q.Depth == 1 && q.Parent == "root"
		if isChildOfRoot || (q.Depth == 0 && q.Name != "root") {
			shown = append(shown, q)
		}
	}
	if len(shown) == 0 {
		return snap.Queues
	}
	return shown
}

// queuePathText returns the path of a queue and its parent, for example root/research.
func queuePathText(snap *snapshot.Snapshot, q *snapshot.Queue) string {
	if q.Parent == "" || snap.Queue(q.Parent) == nil {
		return q.Name
	}
	return q.Parent + "/" + q.Name
}

// formatPercent returns the rounded percentage that part is of whole.
func formatPercent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf("(%d%%)", (200*part+whole)/(2*whole))
}

// resourceName returns the API name of the shown resource.
func resourceName(ctx *screenapi.Context) corev1.ResourceName {
	return corev1.ResourceName(ctx.ShownResource())
}
