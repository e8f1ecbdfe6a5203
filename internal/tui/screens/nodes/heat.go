package nodes

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/noderow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// heatMap is the full-screen map of all nodes.
type heatMap struct {
	widget.Heat
	drawn canvas.Canvas
}

var _ widget.Rows = (*heatMap)(nil)

func (h *heatMap) selectedCellID() string { return h.Cursor }

// Move moves the cursor n cells down; if n is negative, it moves up.
func (h *heatMap) Move(n int) {
	for range max(n, -n) {
		h.Cursor = h.AdjacentCell(0, n/max(n, -n))
	}
}

// moveSideways moves the cursor dx cells to the right; if dx is negative, it moves to the left.
func (h *heatMap) moveSideways(dx int) { h.Cursor = h.AdjacentCell(dx, 0) }

// Page moves the cursor by half a screen, down or up.
func (h *heatMap) Page(n int) { h.Move(n * max(h.drawn.H/2, 1)) }

// Home moves to the first cell.
func (h *heatMap) Home() { h.moveToIndex(0) }

// End moves to the last cell.
func (h *heatMap) End() { h.moveToIndex(-1) }

func (h *heatMap) moveToIndex(at int) {
	var ids []string
	for _, g := range h.Groups {
		for _, cell := range g.Cells {
			ids = append(ids, cell.ID)
		}
	}
	if len(ids) > 0 {
		h.Cursor = ids[(at+len(ids))%len(ids)]
	}
}

// Methods of tables that do not apply to a heat map.
func (h *heatMap) Mark()                                          {}
func (h *heatMap) Range()                                         {}
func (h *heatMap) MarkAll()                                       {}
func (h *heatMap) Escape() bool                                   { return false }
func (h *heatMap) SortBy(string)                                  {}
func (h *heatMap) SortMenu(*screenapi.Context) []screenapi.Effect { return nil }
func (h *heatMap) Chooser(*screenapi.Context) []screenapi.Effect  { return nil }

// Mouse handles a click or the wheel.
func (h *heatMap) Mouse(_ *screenapi.Context, m screenapi.Mouse) (taken, open bool) {
	return true, h.handleMouse(m)
}

func (h *heatMap) handleMouse(m screenapi.Mouse) (open bool) {
	x, y, inside := h.drawn.ContainsCell(m.X, m.Y)
	switch {
	case !inside:
	case m.Kind == screenapi.WheelDown:
		h.Move(3)
	case m.Kind == screenapi.WheelUp:
		h.Move(-3)
	default:
		if id := h.At(x, y); id != "" {
			open = m.Kind == screenapi.DoubleClick && id == h.Cursor
			h.Cursor = id
		}
	}
	return open
}

// enterHeat opens the map with the cursor on the list's current node. If the map is already open, it closes the map.
func (n *Nodes) enterHeat(*screenapi.Context) []screenapi.Effect {
	if n.heat != nil {
		n.leaveHeat()
		return nil
	}
	h := &heatMap{Heat: widget.Heat{Dense: true}}
	if row := n.selectedNode(); row != nil {
		h.Cursor = row.Name
	}
	n.inPods, n.heat = false, h
	n.fillHeat()
	return nil
}

// fillHeat puts the visible nodes into the map.
func (n *Nodes) fillHeat() {
	n.heat.Groups = noderow.HeatGroups(n.shown, n.heatGrouping(), n.resource)
	if n.selectedNode() == nil && len(n.shown) > 0 {
		n.heat.Cursor = n.shown[0].Name
	}
}

// leaveHeat returns to the list and selects the map's current node.
func (n *Nodes) leaveHeat() {
	at := n.heat.Cursor
	n.heat = nil
	n.table.Select(at)
}

// heatGrouping returns the grouping of the heat map.
func (n *Nodes) heatGrouping() noderow.By {
	if n.by != "" {
		return n.by
	}
	return noderow.OfferedGroupings(n.all)[0]
}

const heatFacts = 4 // lines below the map: a legend, and facts about the node under the cursor

func (n *Nodes) drawHeat(ctx *screenapi.Context, c canvas.Canvas) {
	h := n.heat
	facts := min(heatFacts, c.H/3)
	upper, lower := c.Cut(c.H - facts)
	h.drawn = upper
	if len(n.shown) == 0 {
		upper.Fit(2, 1, upper.W-2, n.emptyReason(ctx), theme.Dim)
		return
	}
	h.Draw(upper, ctx.Theme)
	if skip := n.scrollOffset(upper.H); skip != h.Skip {
		h.Skip = skip
		upper.Clear(0, 0, upper.W, upper.H)
		h.Draw(upper, ctx.Theme)
	}
	n.drawHeatFacts(ctx, lower)
}

// scrollOffset returns the number of lines to scroll to make the cell under the cursor visible.
func (n *Nodes) scrollOffset(height int) int {
	line, skip := n.heat.LineOfCell(n.heat.Cursor), n.heat.Skip
	if line < 0 || n.heat.TotalLines() <= height {
		return 0
	}
	skip = min(skip, line)
	return min(max(skip, line-height+1), max(n.heat.TotalLines()-height, 0))
}

func (n *Nodes) drawHeatFacts(ctx *screenapi.Context, c canvas.Canvas) {
	resource := screenapi.ShortResource(string(n.resource))
	noderow.DrawHeatLegend(c.Sub(0, 0, c.W-1, 1), 1, 0, resource, ctx.Theme)
	row := n.selectedNode()
	if row == nil {
		return
	}
	x := c.Put(1, 1, noderow.ShortNodeName(row.Name)+"  ", theme.Title)
	x = c.Put(x, 1, noderow.StateTextOf(row, ctx.Words), noderow.StateStyle(row.State))
	for _, name := range ctx.Snap.Resources {
		x = c.Put(x, 1, fmt.Sprintf("  %s %s", screenapi.ShortResource(string(name)), formatUsedOfTotal(row, name)), theme.Plain)
	}
	c.Put(x, 1, "  "+n.describeLocation(row), theme.Dim)
	said := "no jobs"
	if jobs := jobsOnNode(row); len(jobs) > 0 {
		said = countWithNoun(len(jobs), "job") + ": " + strings.Join(jobs, ", ")
	}
	if row.Problem != "" {
		said = row.Problem + "   " + said
	}
	c.Fit(1, 2, c.W-2, said, theme.Plain)
}

// formatUsedOfTotal returns the used and the total amount in the form used/total.
func formatUsedOfTotal(row *node, name corev1.ResourceName) string {
	used, has := noderow.UsedAmount(row, name)
	if row.Unknown {
		return "?/" + renderAmount(name, has)
	}
	return renderAmount(name, used) + "/" + renderAmount(name, has)
}

// describeLocation returns the location of a node: its hypernodes, rack and pool.
func (n *Nodes) describeLocation(row *node) string {
	var parts []string
	if len(row.HyperNodes) > 0 {
		parts = append(parts, "hypernode "+strings.Join(row.HyperNodes, " > "))
	}
	if row.Rack != "" {
		parts = append(parts, "rack "+row.Rack)
	}
	if row.Pool != "" {
		parts = append(parts, "pool "+row.Pool)
	}
	return strings.Join(parts, "  ")
}
