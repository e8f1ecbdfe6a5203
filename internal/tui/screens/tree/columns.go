package tree

import (
	"fmt"
	"strconv"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// treeOrder is the description of the order of the rows, which cannot be changed.
const treeOrder = "tree"

func columns() []widget.Column[*row] {
	ofPod := func(of func(*row) string) func(*screenapi.Context, *row) (string, canvas.Style) {
		return func(_ *screenapi.Context, r *row) (string, canvas.Style) {
			if r.pod == nil {
				return "", theme.Plain
			}
			return of(r), theme.Plain
		}
	}
	return []widget.Column[*row]{
		{Key: "object", Title: "OBJECT", Width: 42, Narrow: 30, Most: 64, Cell: func(ctx *screenapi.Context, r *row) (string, canvas.Style) {
			title := widget.TreeBranches(ctx, r.last[1:]) + r.title
			if r.isFolded {
				title += fmt.Sprintf(" (%d hidden)", r.children)
			}
			return title, theme.Plain
		}},
		{Key: "state", Title: "STATE", Width: 17, Narrow: 11, Cell: func(_ *screenapi.Context, r *row) (string, canvas.Style) { return r.state, r.style }},
		{Key: "node", Title: "NODE", Width: 12, Cell: ofPod(func(r *row) string { return r.pod.Node }), Empty: func(r *row) bool { return r.pod == nil || r.pod.Node == "" }},
		{Key: "ready", Title: "READY", Width: 5, From: 80, Cell: ofPod(func(r *row) string { return r.pod.Ready })},
		{Key: "restarts", Title: "RST", Width: 3, From: 80, Right: true, Cell: ofPod(func(r *row) string { return strconv.Itoa(int(r.pod.Restarts)) }),
			Empty: func(r *row) bool { return r.pod == nil || r.pod.Restarts == 0 }},
		{Key: "age", Title: "AGE", Width: 5, From: 100, Ticks: true, Cell: func(ctx *screenapi.Context, r *row) (string, canvas.Style) {
			if r.created.IsZero() {
				return "", theme.Plain
			}
			return render.FormatAgeSince(ctx.Now, r.created), theme.Plain
		}},
		{Key: "message", Title: "MESSAGE", Width: 8, Flex: true, Cell: func(_ *screenapi.Context, r *row) (string, canvas.Style) { return r.message, theme.Plain }},
	}
}
