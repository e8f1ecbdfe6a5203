package queues

import (
	"cmp"
	"fmt"
	"strings"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/queuerow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

type column = widget.Column[*row]

// tableColumns returns the columns of the tree. Amounts are amounts of the shown resource.
func (q *Queues) tableColumns() []column {
	amount := func(title string, width, from int, of func(queuerow.Numbers) int64) column {
		return column{Key: title, Title: title, Width: width, Narrow: width - 1, From: from, Right: true, Descending: true,
			Cell: func(_ *screenapi.Context, r *row) (string, canvas.Style) {
				return numberCell(formatAmount(q.resource, of(queueNumbers(r.Queue, q.resource))))
			},
			Compare: func(a, b *row) int {
				return cmp.Compare(of(queueNumbers(a.Queue, q.resource)), of(queueNumbers(b.Queue, q.resource)))
			}}
	}
	count := func(title string, width, narrow int, of func(*row) int) column {
		return column{Key: title, Title: title, Width: width, Narrow: narrow, Right: true, Descending: true,
			Cell:    func(_ *screenapi.Context, r *row) (string, canvas.Style) { return numberCell(fmt.Sprint(of(r))) },
			Compare: func(a, b *row) int { return cmp.Compare(of(a), of(b)) }}
	}
	columns := []column{
		{Key: "QUEUE", Letter: "N", Title: "QUEUE", Width: 20, Narrow: 12, Cell: q.nameCell, Compare: func(a, b *row) int { return strings.Compare(a.Name, b.Name) }},
		{Key: "STATE", Letter: "T", Title: "STATE", Width: 8, From: 100, Cell: stateCell(8), Compare: compareByState},
		{Key: "ST", Title: "ST", Width: 2, Below: 100, Cell: stateCell(2), Compare: compareByState},
		{Key: "SHARE", Letter: "H", Title: "SHARE", Width: 5, From: 80, Right: true, Descending: true, Cell: q.shareCell, Compare: func(a, b *row) int {
			x, _ := queueNumbers(a.Queue, q.resource).DeservedShare()
			y, _ := queueNumbers(b.Queue, q.resource).DeservedShare()
			return cmp.Compare(x, y)
		}},
		{Key: "BAR", Title: "", Width: 8, Flex: true, Draw: q.drawBar, Drawing: true},
		amount("ALLOC", 7, 0, func(n queuerow.Numbers) int64 { return n.Allocated }),
		amount("GUAR", 6, 100, func(n queuerow.Numbers) int64 { return n.Guarantee }),
		amount("DESV", 6, 80, func(n queuerow.Numbers) int64 { return n.Deserved }),
		amount("CAP", 6, 0, func(n queuerow.Numbers) int64 { return n.Capability }),
		count("RUN", 4, 4, func(r *row) int { return r.Running }),
		count("PEND", 4, 4, func(r *row) int { return r.Waiting }),
		{Key: "RECLAIM", Title: "RECLAIM", Width: 7, From: 100, Cell: func(_ *screenapi.Context, r *row) (string, canvas.Style) {
			if r.Object.Spec.Reclaimable != nil && !*r.Object.Spec.Reclaimable {
				return "no", theme.Plain
			}
			return "yes", theme.Dim
		}},
		{Key: "WEIGHT", Letter: "W", Title: "WEIGHT", Width: 6, From: 150, Right: true, Cell: func(_ *screenapi.Context, r *row) (string, canvas.Style) {
			return numberCell(fmt.Sprint(r.Object.Spec.Weight))
		}, Compare: func(a, b *row) int { return cmp.Compare(a.Object.Spec.Weight, b.Object.Spec.Weight) }},
		{Key: "PRIO", Letter: "P", Title: "PRIO", Width: 5, From: 150, Right: true, Cell: func(_ *screenapi.Context, r *row) (string, canvas.Style) {
			return numberCell(fmt.Sprint(r.Object.Spec.Priority))
		}, Compare: func(a, b *row) int { return cmp.Compare(a.Object.Spec.Priority, b.Object.Spec.Priority) }},
	}
	letters := map[string]string{"ALLOC": "A", "GUAR": "U", "DESV": "V", "CAP": "L", "RUN": "R", "PEND": "D"}
	for i := range columns {
		columns[i].Letter = cmp.Or(columns[i].Letter, letters[columns[i].Key])
	}
	return columns
}

// numberCell returns a number as a table cell; zero and "-" are dimmed.
func numberCell(text string) (string, canvas.Style) {
	if text == "0" || text == "-" {
		return text, theme.Dim
	}
	return text, theme.Plain
}

// nameCell draws the name of a queue. If the rows are in tree order, it draws the branches of the tree before the
// name.
func (q *Queues) nameCell(ctx *screenapi.Context, r *row) (string, canvas.Style) {
	style := theme.Plain
	if r.Object.Invalid() != nil {
		style = theme.Failed
	}
	if q.table.SortNote() != "tree" {
		return r.Name, style
	}
	return widget.TreeBranches(ctx, r.last[1:]) + r.Name, style
}

func compareByState(a, b *row) int { return cmp.Compare(a.State, b.State) }

func stateCell(width int) func(*screenapi.Context, *row) (string, canvas.Style) {
	return func(_ *screenapi.Context, r *row) (string, canvas.Style) {
		word := string(r.State)
		if width < 3 {
			word = map[schedulingv1beta1.QueueState]string{schedulingv1beta1.QueueStateOpen: "Op", schedulingv1beta1.QueueStateClosing: "Cg",
				schedulingv1beta1.QueueStateClosed: "Cd", schedulingv1beta1.QueueStateUnknown: "??"}[r.State]
		}
		if r.State == schedulingv1beta1.QueueStateOpen {
			return word, theme.Plain
		}
		return word, theme.Warn
	}
}

func (q *Queues) shareCell(_ *screenapi.Context, r *row) (string, canvas.Style) {
	part, ok := queueNumbers(r.Queue, q.resource).DeservedShare()
	switch {
	case !ok:
		return "-", theme.Dim
	case part > 1:
		return shareText(part), theme.Borrowed
	case part == 0:
		return shareText(part), theme.Dim
	}
	return shareText(part), theme.Plain
}

// shareText formats a share in at most five cells, for example 0.97, 11.2 or 220.
func shareText(part float64) string {
	switch {
	case part < 9.995:
		return fmt.Sprintf("%.2f", part)
	case part < 99.95:
		return fmt.Sprintf("%.1f", part)
	}
	return fmt.Sprintf("%.0f", part)
}

// drawBar draws the allocated and the admitted amount of the shown resource, with signs that mark the bounds.
func (q *Queues) drawBar(ctx *screenapi.Context, r *row, c canvas.Canvas) {
	n := queueNumbers(r.Queue, q.resource)
	bar := queuerow.NewUsageBar(n, q.scale)
	bar.Draw(c, 0, 0, c.W, ctx.Theme)
}
