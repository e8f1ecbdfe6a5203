package queues

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/queueusage"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/filter"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Queues is the screen.
type Queues struct {
	table  widget.Table[*row]
	text   string
	filter filter.Filter[*row]
	target string // queue to select at the start; "" means the first one

	all     []*row
	matches int
	forest  *queueusage.Forest
	// resource is the shown resource; scale is the amount that the full width of a bar represents.
	resource corev1.ResourceName
	scale    float64
	serial   uint64 // of the snapshot from which scale was computed
}

// row is a queue in the tree.
type row struct {
	*snapshot.Queue
	place int
	// last reports, for each ancestor of the queue from the top and then for the queue itself, whether it is a last
	// child.
	last []bool
	// between is true if the queue is shown only because a descendant matches.
	between bool
	// waiting caches the pending jobs of the queue and its descendants. asked is true if the cache is filled.
	waiting []*snapshot.Job
	asked   bool
}

// ScreenSpec returns the description of the screen.
func ScreenSpec() screenapi.Spec {
	return screenapi.Spec{Name: screenapi.Queues, Tab: "Queues", ShortTab: "Queues", Number: "3", New: New, Keys: keyBindings()}
}

// New returns the screen; target is the queue to select at the start.
func New(target string) screenapi.Screen {
	q := &Queues{target: target}
	q.table = widget.Table[*row]{
		Columns: q.tableColumns(), ID: func(r *row) string { return r.Name },
		Default: func(a, b *row) int { return cmp.Compare(a.place, b.place) }, DefaultSort: "tree",
		Dim: func(r *row) bool { return r.between },
	}
	return q
}

// Selection returns the queue under the cursor.
func (q *Queues) Selection() (object screenapi.Selection, ok bool) {
	selected := q.selectedQueue()
	if selected == nil {
		return object, false
	}
	return screenapi.Selection{Kind: "queue", Name: selected.Name}, true
}

// ArrangeTable arranges the columns and rows.
func (q *Queues) ArrangeTable(how screenapi.Arrangement) error {
	return q.table.Arrange(how, func(r *row) any { return r.Object })
}

// Name returns the screen's name.
func (q *Queues) Name() string { return screenapi.Queues }

// Crumb returns the screen's name in the path.
func (q *Queues) Crumb(*screenapi.Context) string { return "Queues" }

// Note returns the scheduler plugin that divides resources among the queues, and the resource that the bars show.
func (q *Queues) Note(ctx *screenapi.Context) string {
	var names []string
	shown := ctx.ShownResource()
	for _, name := range screenapi.ShownResources(ctx.Snap) {
		short := screenapi.ShortResource(name)
		if name == shown {
			short = "[" + short + "]"
		}
		names = append(names, short)
	}
	note := strings.Join(names, " ")
	if ctx.W < 100 {
		return note
	}
	plugin := ctx.Snap.Policy // empty if the scheduler does not publish it or the user may not see it
	if ctx.W >= 150 {
		note = "resource: " + note
		if plugin != "" {
			plugin = "plugin: " + plugin
		}
	}
	note = strings.TrimSpace(plugin + "   " + note)
	if q.table.SortNote() != "tree" {
		note += "   sort: " + q.table.SortNote()
	}
	return note
}

// Update handles an event.
func (q *Queues) Update(ctx *screenapi.Context, e screenapi.Event) []screenapi.Effect {
	q.updateScale(ctx)
	switch e := e.(type) {
	case screenapi.Refresh:
		q.refreshRows(ctx, true)
	case screenapi.Mouse:
		if _, open := q.table.Mouse(ctx, e); open {
			return q.openJobsOfQueue(ctx)
		}
	}
	return nil
}

func (q *Queues) refreshRows(ctx *screenapi.Context, lingering bool) {
	q.all = rowsInTreeOrder(ctx.Snap.Queues)
	objects := make([]*schedulingv1beta1.Queue, len(q.all))
	for i, r := range q.all {
		objects[i] = r.Object
	}
	q.forest = queueusage.NewForest(objects)
	rows := filterRows(q.all, q.filter)
	q.matches = 0
	for _, r := range rows {
		if !r.between {
			q.matches++
		}
	}
	q.table.SetRows(ctx, rows, lingering)
	allKnown := len(q.all) > 0 && ctx.Snap.IsComplete("queues")
	if q.target != "" && (q.table.Select(q.target) || allKnown) {
		q.target = "" // a queue with that name that appears later is not the intended one
	}
}

// rowsInTreeOrder returns the rows of queues in tree order.
func rowsInTreeOrder(queues []*snapshot.Queue) []*row {
	rows := make([]*row, len(queues))
	var path []bool
	for i := len(queues) - 1; i >= 0; i-- { // from the bottom, where the first queue of a level is the last child
		depth := queues[i].Depth
		for len(path) <= depth {
			path = append(path, true)
		}
		path = path[:depth+1]
		rows[i] = &row{Queue: queues[i], place: i, last: append([]bool(nil), path...)}
		path[depth] = false
	}
	return rows
}

// filterRows returns the rows that match a filter, together with their ancestors.
func filterRows(all []*row, f filter.Filter[*row]) []*row {
	if f.MatchesAll() {
		return all
	}
	wanted, path := map[*row]bool{}, []*row{}
	for _, r := range all {
		path = append(path[:min(r.Depth, len(path))], r)
		if !f.Match(r) {
			continue
		}
		for _, above := range path[:len(path)-1] {
			if !wanted[above] {
				wanted[above] = false
			}
		}
		wanted[r] = true
	}
	var rows []*row
	for _, r := range all {
		if matched, shown := wanted[r]; shown {
			kept := *r
			kept.between = !matched
			rows = append(rows, &kept)
		}
	}
	return rows
}

// SetFilter applies a filter.
func (q *Queues) SetFilter(ctx *screenapi.Context, text string) error {
	parsed, err := fields.Parse(text)
	if err != nil {
		return err
	}
	q.text, q.filter = text, parsed
	q.refreshRows(ctx, false)
	q.selectFirstMatch()
	return nil
}

// selectFirstMatch moves the cursor to the first match if it is on a queue that is shown only as an ancestor of matches.
// Otherwise, an action could be applied to a queue that the user did not search for.
func (q *Queues) selectFirstMatch() {
	if r := q.selectedQueue(); r == nil || !r.between {
		return
	}
	if at := slices.IndexFunc(q.all, q.filter.Match); at >= 0 {
		q.table.Select(q.all[at].Name)
	}
}

// FilterKeys returns the keys that a filter can contain, such as st: and gpu>=.
func (q *Queues) FilterKeys() []string { return fields.FilterKeys() }

// Matches returns the number of matching rows and the number of all rows.
func (q *Queues) Matches(*screenapi.Context) (shown, all int) { return q.matches, len(q.all) }

// fields defines the filter keys of queues.
var fields = filter.Fields[*row]{
	Words: []filter.Word[*row]{
		{Key: "queue", Also: []string{"name", "q"}, Of: func(r *row, to []string) []string { return append(to, r.Name) }},
		{Key: "parent", Of: func(r *row, to []string) []string { return append(to, r.Parent) }},
		{Key: "st", Also: []string{"state"}, Of: func(r *row, to []string) []string { return append(to, string(r.State)) }},
	},
	Numbers: []filter.Number[*row]{
		{Key: "run", Also: []string{"r"}, Of: func(r *row) float64 { return float64(r.Running) }},
		{Key: "wait", Also: []string{"pd"}, Of: func(r *row) float64 { return float64(r.Waiting) }},
		{Key: "gpu", Of: func(r *row) float64 { return sumGPUs(r.Object.Status.Allocated) }},
		{Key: "cpu", Of: func(r *row) float64 { return r.Object.Status.Allocated.Cpu().AsApproximateFloat64() }},
	},
	Text: func(r *row, to []string) []string { return append(to, r.Name, string(r.State)) },
}

// Escape reports whether it cleared any marks. Queues are never marked.
func (q *Queues) Escape() bool { return q.table.Escape() }

// selectedQueue returns the queue under the cursor, or nil if the table is empty.
func (q *Queues) selectedQueue() *row {
	if r, ok := q.table.Selected(); ok && !q.table.IsLingering(r) {
		return r
	}
	return nil
}

// Twin returns the output of `vcctl queue tree`.
func (q *Queues) Twin(ctx *screenapi.Context) string {
	table := render.Table{Header: []string{"NAME", "STATE", "RUN", "PEND", "USED", "NOTE"}}
	signs := queueusage.BranchCharacters(!ctx.Theme.Glyphs.ASCII)
	for _, b := range q.forest.Draw(func(string) bool { return true }, signs) {
		r := ctx.Snap.Queue(b.Queue.Name)
		if r == nil {
			continue
		}
		table.Rows = append(table.Rows, []string{b.Indent + r.Name, string(r.State), fmt.Sprint(r.Running), fmt.Sprint(r.Waiting),
			queueusage.FormatLongUsageBar(r.Object, !ctx.Theme.Glyphs.ASCII), q.forest.Note(r.Object)})
	}
	var text strings.Builder
	if err := table.Fprint(&text); err != nil || len(table.Rows) == 0 {
		return "No queues.\n"
	}
	return text.String()
}
