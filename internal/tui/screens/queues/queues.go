package queues

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/share"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/filter"
	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Queues is the screen.
type Queues struct {
	table  widget.Table[*row]
	text   string
	filter filter.Filter[*row]
	target string // the queue to begin at; "" is the first

	all     []*row
	matches int
	forest  *share.Forest
	history history
	// resource is the one that is shown, scale what the width of a bar stands for.
	resource corev1.ResourceName
	scale    float64
	serial   uint64 // of the snapshot that scale was made of
}

// row is a queue in the tree.
type row struct {
	*snapshot.Queue
	place int
	// last says of the queue and of those above it, the top first, whether it is the last child.
	last []bool
	// between is set of queues that are shown only because one below them matches.
	between bool
	// waiting are the jobs that wait in the queue and in those below it; made when first asked for.
	waiting []*snapshot.Job
	asked   bool
}

// Spec is the screen in the table of screens.
func Spec() screen.Spec {
	return screen.Spec{Name: screen.Queues, Tab: "Queues", ShortTab: "Queues", Number: "3", New: New, Keys: keyTable()}
}

// New makes the screen; target is the queue to begin at.
func New(target string) screen.Screen {
	q := &Queues{target: target}
	q.table = widget.Table[*row]{
		Columns: q.columns(), ID: func(r *row) string { return r.Name },
		Default: func(a, b *row) int { return cmp.Compare(a.place, b.place) }, DefaultSort: "tree",
		Dim: func(r *row) bool { return r.between },
	}
	return q
}

// Name is the screen's.
func (q *Queues) Name() string { return screen.Queues }

// Crumb is what the path calls it.
func (q *Queues) Crumb(*screen.Context) string { return "Queues" }

// Note says who shares between the queues, and what the bars show.
func (q *Queues) Note(ctx *screen.Context) string {
	var names []string
	shown := ctx.ShownResource()
	for _, name := range screen.Resources(ctx.Snap) {
		short := screen.ShortResource(name)
		if name == shown {
			short = "[" + short + "]"
		}
		names = append(names, short)
	}
	note := strings.Join(names, " ")
	if ctx.W < 100 {
		return note
	}
	plugin := ctx.Snap.Policy // "" when the scheduler says nothing of it, or not to this user
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

// Update takes an event in.
func (q *Queues) Update(ctx *screen.Context, e screen.Event) []screen.Effect {
	q.measure(ctx)
	switch e := e.(type) {
	case screen.Refresh:
		q.refresh(ctx, true)
	case screen.Mouse:
		if _, open := q.table.Mouse(ctx, e); open {
			return q.jobs(ctx)
		}
	}
	return nil
}

func (q *Queues) refresh(ctx *screen.Context, lingering bool) {
	q.all = rowsOf(ctx.Snap.Queues)
	objects := make([]*schedulingv1beta1.Queue, len(q.all))
	for i, r := range q.all {
		objects[i] = r.Object
	}
	q.forest = share.NewForest(objects)
	q.history.note(ctx.Now, ctx.Snap)
	rows := matching(q.all, q.filter)
	q.matches = 0
	for _, r := range rows {
		if !r.between {
			q.matches++
		}
	}
	q.table.SetRows(ctx, rows, lingering)
	if q.target != "" && (q.table.Select(q.target) || len(q.all) > 0 && ctx.Snap.Complete("queues")) {
		q.target = "" // a queue of that name that comes later is not what was meant
	}
}

// rowsOf are the rows of queues in the order of the tree.
func rowsOf(queues []*snapshot.Queue) []*row {
	rows := make([]*row, len(queues))
	var path []bool
	for i := len(queues) - 1; i >= 0; i-- { // from below: the first that is met of a level is the last child
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

// matching are the rows that a filter lets through, and those above them.
func matching(all []*row, f filter.Filter[*row]) []*row {
	if f.Empty() {
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

// SetFilter takes a filter over.
func (q *Queues) SetFilter(ctx *screen.Context, text string) error {
	parsed, err := fields.Parse(text)
	if err != nil {
		return err
	}
	q.text, q.filter = text, parsed
	q.refresh(ctx, false)
	return nil
}

// FilterKeys are the keys that queues can be filtered by, for the documentation.
func FilterKeys() []string { return fields.Keys() }

// Matches counts the rows.
func (q *Queues) Matches(*screen.Context) (shown, all int) { return q.matches, len(q.all) }

// fields is what queues can be filtered by.
var fields = filter.Fields[*row]{
	Words: []filter.Word[*row]{
		{Key: "queue", Also: []string{"name", "q"}, Of: func(r *row) []string { return []string{r.Name} }},
		{Key: "parent", Of: func(r *row) []string { return []string{r.Parent} }},
		{Key: "st", Also: []string{"state"}, Of: func(r *row) []string { return []string{string(r.State)} }},
	},
	Numbers: []filter.Number[*row]{
		{Key: "run", Also: []string{"r"}, Of: func(r *row) float64 { return float64(r.Running) }},
		{Key: "wait", Also: []string{"pd"}, Of: func(r *row) float64 { return float64(r.Waiting) }},
		{Key: "gpu", Of: func(r *row) float64 { return gpusOf(r.Object.Status.Allocated) }},
		{Key: "cpu", Of: func(r *row) float64 { return r.Object.Status.Allocated.Cpu().AsApproximateFloat64() }},
	},
	Text: func(r *row, to []string) []string { return append(to, r.Name, string(r.State)) },
}

// Escape takes nothing away: queues are not marked.
func (q *Queues) Escape() bool { return q.table.Escape() }

// selected is the queue under the cursor; nil in an empty table.
func (q *Queues) selected() *row {
	if r, ok := q.table.Selected(); ok && !q.table.Gone(r) {
		return r
	}
	return nil
}

// Twin is what `vcctl queue tree` prints.
func (q *Queues) Twin(ctx *screen.Context) string {
	table := render.Table{Header: []string{"NAME", "STATE", "RUN", "WAIT", "USED", "NOTE"}}
	signs := share.BranchesFor(!ctx.Theme.Glyphs.ASCII)
	for _, b := range q.forest.Draw(func(string) bool { return true }, signs) {
		r := ctx.Snap.Queue(b.Queue.Name)
		if r == nil {
			continue
		}
		table.Rows = append(table.Rows, []string{b.Indent + r.Name, string(r.State), fmt.Sprint(r.Running), fmt.Sprint(r.Waiting),
			share.UsedLong(r.Object, !ctx.Theme.Glyphs.ASCII), q.forest.Note(r.Object)})
	}
	var text strings.Builder
	if err := table.Fprint(&text); err != nil || len(table.Rows) == 0 {
		return "No queues.\n"
	}
	return text.String()
}
