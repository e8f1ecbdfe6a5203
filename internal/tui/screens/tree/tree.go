package tree

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Tree is the screen.
type Tree struct {
	uid    types.UID
	job    *snapshot.Job // last known state
	gone   bool
	table  widget.Table[*row]
	filter string
	folded map[string]bool // the rows, by ID, below which nothing is shown
	all    int             // number of rows before filtering
	// matching is the number of rows that match the filter, without the rows above them.
	matching int
}

// New returns the screen for the job with the specified UID.
func New(target string) screenapi.Screen {
	return &Tree{
		uid: types.UID(target), folded: map[string]bool{},
		table: widget.Table[*row]{Columns: columns(), ID: func(r *row) string { return r.id }, DefaultSort: treeOrder},
	}
}

// Name returns the screen's name.
func (t *Tree) Name() string { return screenapi.Tree }

// Target returns the UID of the job.
func (t *Tree) Target() string { return string(t.uid) }

// Crumb returns the screen's entry in the path.
func (t *Tree) Crumb(*screenapi.Context) string {
	if t.job == nil {
		return "tree"
	}
	return "tree of " + t.job.Name
}

// Note returns the number of pods, or says that the job was deleted.
func (t *Tree) Note(*screenapi.Context) string {
	switch {
	case t.gone:
		return "the job was deleted"
	case t.job == nil:
		return ""
	}
	return fmt.Sprintf("%s pods", widget.FormatCount(len(t.job.Pods)))
}

// ArrangeTable arranges the columns and rows.
func (t *Tree) ArrangeTable(how screenapi.Arrangement) error { return t.table.Arrange(how, nil) }

// Tables returns the screen's tables.
func (t *Tree) Tables() []widget.Placed { return []widget.Placed{&t.table} }

// Selection returns the object under the cursor; for a task, the job.
func (t *Tree) Selection() (object screenapi.Selection, ok bool) {
	kind, namespace, name := t.selectedObject()
	if kind == "" {
		return object, false
	}
	return screenapi.Selection{Kind: strings.ToLower(kind), Namespace: namespace, Name: name}, true
}

// selectedObject returns the object under the cursor; for a task, the job. The kind is "" if no row is selected.
func (t *Tree) selectedObject() (kind, namespace, name string) {
	r, ok := t.table.Selected()
	switch {
	case !ok:
		return "", "", ""
	case r.kind == "":
		return "Job", t.job.Namespace, t.job.Name
	}
	return r.kind, r.namespace, r.name
}

// selectedPod returns the pod under the cursor, or nil.
func (t *Tree) selectedPod() *snapshot.Pod {
	if r, ok := t.table.Selected(); ok {
		return r.pod
	}
	return nil
}

// Update handles an event.
func (t *Tree) Update(ctx *screenapi.Context, event screenapi.Event) []screenapi.Effect {
	switch e := event.(type) {
	case screenapi.Refresh:
		t.refreshRows(ctx)
	case screenapi.Mouse:
		if _, open := t.table.Mouse(ctx, e); open {
			return t.openOrFold(ctx)
		}
	}
	return nil
}

func (t *Tree) refreshRows(ctx *screenapi.Context) {
	if now := ctx.Snap.Job(t.uid); now != nil {
		t.job, t.gone = now, false
	} else {
		t.gone = t.job != nil
	}
	if t.job == nil {
		return
	}
	rows := rowsOfJob(ctx, t.job)
	t.all = len(rows)
	t.table.SetRows(ctx, t.visibleRows(rows), false)
}

// visibleRows returns the rows that match the filter, together with their ancestors. Without a filter, it returns the
// rows that are not below a folded one.
func (t *Tree) visibleRows(rows []*row) []*row {
	wanted := strings.ToLower(t.filter)
	shown := map[*row]bool{}
	t.matching = 0
	for _, r := range rows {
		switch {
		case wanted == "":
			shown[r] = !t.isHidden(r)
		case r.matches(wanted):
			t.matching++
			for at := r; at != nil; at = at.parent {
				shown[at] = true
			}
		}
	}
	var visible []*row
	for _, r := range rows {
		if shown[r] {
			r.isFolded = wanted == "" && t.folded[r.id]
			visible = append(visible, r)
		}
	}
	return withBranches(visible)
}

// isHidden reports whether a row is below a folded one.
func (t *Tree) isHidden(r *row) bool {
	for at := r.parent; at != nil; at = at.parent {
		if t.folded[at.id] {
			return true
		}
	}
	return false
}

// matches reports whether a row contains a text, which is in lower case.
func (r *row) matches(wanted string) bool {
	node := ""
	if r.pod != nil {
		node = r.pod.Node
	}
	return strings.Contains(strings.ToLower(r.title+" "+r.state+" "+node), wanted)
}

// SetFilter shows only rows that contain a text, and the rows above them.
func (t *Tree) SetFilter(ctx *screenapi.Context, text string) error {
	t.filter = text
	t.refreshRows(ctx)
	if r, ok := t.table.Selected(); ok && text != "" && !r.matches(strings.ToLower(text)) {
		t.selectFirstMatch()
	}
	return nil
}

// selectFirstMatch moves the cursor to the first row that matches the filter.
func (t *Tree) selectFirstMatch() {
	for _, r := range t.table.Rows() {
		if r.matches(strings.ToLower(t.filter)) {
			t.table.Select(r.id)
			return
		}
	}
}

// Matches returns the number of rows that match the filter and the number of all rows.
func (t *Tree) Matches(*screenapi.Context) (shown, all int) { return t.matching, t.all }

// Draw draws the tree.
func (t *Tree) Draw(ctx *screenapi.Context, c canvas.Canvas) {
	t.table.Draw(ctx, c, t.emptyReason(ctx))
}

// emptyReason returns the reason why there are no rows.
func (t *Tree) emptyReason(ctx *screenapi.Context) string {
	if t.job != nil {
		return "nothing matches " + t.filter + "   (" + ctx.KeyFor("back", "esc") + " clears)"
	}
	return ctx.EmptyTableText("this job does not exist; esc goes back")
}

// Twin returns the tree as text.
func (t *Tree) Twin(ctx *screenapi.Context) string { return t.table.Text(ctx, 160, "none") }

// openOrFold opens the logs of the pod under the cursor. On any other row, it hides or shows the rows below.
func (t *Tree) openOrFold(ctx *screenapi.Context) []screenapi.Effect {
	r, ok := t.table.Selected()
	switch {
	case !ok:
	case r.pod != nil:
		return []screenapi.Effect{screenapi.Open{Screen: screenapi.Job, Target: string(t.uid) + "#logs/" + r.pod.Name}}
	case t.filter != "":
		return []screenapi.Effect{screenapi.Notice{Text: "rows can be hidden when there is no filter; " + ctx.KeyFor("back", "esc") + " clears it", Bad: true}}
	case r.isFoldable():
		t.folded[r.id] = !t.folded[r.id]
		t.refreshRows(ctx)
	}
	return nil
}
