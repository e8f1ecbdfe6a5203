package widget

import (
	"strings"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// TreeBranches returns the lines to the left of a row of a tree. last has an entry for each level below the root: whether
// the row, or its ancestor at that level, is the last child of its parent. On narrow terminals, the lines are shorter.
func TreeBranches(ctx *screenapi.Context, last []bool) string {
	g := ctx.Theme.Glyphs
	short := func(branch string) string {
		if ctx.W < 100 {
			return strings.TrimSuffix(strings.Replace(branch, string([]rune(branch)[1]), "", 1), " ") + " "
		}
		return branch
	}
	var lines strings.Builder
	for level, isLast := range last {
		switch isOwn := level == len(last)-1; {
		case isOwn && isLast:
			lines.WriteString(short(g.LastBranch))
		case isOwn:
			lines.WriteString(short(g.Branch))
		case isLast:
			lines.WriteString(strings.Repeat(" ", canvas.Width(short(g.Trunk))))
		default:
			lines.WriteString(short(g.Trunk))
		}
	}
	return lines.String()
}
