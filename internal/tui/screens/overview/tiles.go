package overview

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/noderow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// maxTiles is the maximum number of nodes that are shown as tiles.
const maxTiles = 100

// maxMarks is the maximum number of marks of a tile. A node with more devices has fewer marks than devices.
const maxMarks = 8

// maxIdleAmounts is the maximum number of resources whose idle amounts a tile shows.
const maxIdleAmounts = 3

// tileMap shows each node with its name, the use of the shown resource, and its idle amounts.
type tileMap struct {
	nodes     []*snapshot.Node
	words     screenapi.Vocabulary
	resource  corev1.ResourceName
	resources []corev1.ResourceName // whose idle amounts are shown
	// name, marks and idle are the widths of the parts of a tile.
	name, marks, idle int
	placed            canvas.Canvas // the canvas on which the tiles were last drawn
	isPlaced          bool
}

// newTileMap measures the tiles of the nodes.
func newTileMap(ctx *screenapi.Context) *tileMap {
	resource := resourceName(ctx)
	m := &tileMap{nodes: noderow.SortByGroup(ctx.Snap.Nodes), words: ctx.Words, resource: resource, resources: []corev1.ResourceName{resource}}
	for _, name := range ctx.Snap.Resources {
		if name != resource && len(m.resources) < maxIdleAmounts {
			m.resources = append(m.resources, name)
		}
	}
	for _, n := range m.nodes {
		m.name = max(m.name, canvas.Width(noderow.ShortNodeName(n.Name)))
		m.marks = max(m.marks, markCount(n, resource))
		m.idle = max(m.idle, canvas.Width(m.idleText(n)))
	}
	return m
}

// markCount returns the number of marks of a node: one per device, up to maxMarks; for a resource that is not a device,
// always maxMarks.
func markCount(n *snapshot.Node, resource corev1.ResourceName) int {
	_, has := noderow.UsedAmount(n, resource)
	if render.IsGPU(resource) {
		return int(min(max(has, 1), maxMarks))
	}
	return maxMarks
}

// usedMarks returns how many of a node's marks stand for a used part of the resource. A partly used node has at least
// one used and one unused mark, if it has several.
func usedMarks(used, has int64, marks int) int {
	switch {
	case used <= 0 || has <= 0:
		return 0
	case used >= has:
		return marks
	}
	filled := int((2*used*int64(marks) + has) / (2 * has))
	return min(max(filled, 1), max(marks-1, 1))
}

// idleText returns the idle amounts of a node, or its state if it accepts no pods.
func (m *tileMap) idleText(n *snapshot.Node) string {
	if !noderow.AcceptsPods(n) {
		return noderow.StateTextOf(n, m.words)
	}
	amounts := make([]string, len(m.resources))
	for i, name := range m.resources {
		amounts[i], _ = idleAmountOf(n, name)
	}
	return strings.Join(amounts, "/")
}

// tileWidth returns the width of a tile, including the space between two tiles.
func (m *tileMap) tileWidth() int { return m.name + m.marks + m.idle + 7 }

// perRow returns the number of tiles that are drawn side by side.
func (m *tileMap) perRow(width int) int { return max((width+3)/m.tileWidth(), 1) }

// neededLines returns the number of lines that the tiles occupy at a width.
func (m *tileMap) neededLines(width int) int {
	across := m.perRow(width)
	return (len(m.nodes) + across - 1) / across
}

func (m *tileMap) draw(c canvas.Canvas, t *theme.Theme) {
	m.placed, m.isPlaced = c, true
	across, width := m.perRow(c.W), m.tileWidth()
	for i, n := range m.nodes {
		x, y := i%across*width, i/across
		m.drawTile(c.Sub(x, y, width-3, 1), n, t)
	}
}

func (m *tileMap) drawTile(c canvas.Canvas, n *snapshot.Node, t *theme.Theme) {
	accepts := noderow.AcceptsPods(n)
	style := theme.Plain
	if !accepts {
		style = noderow.StateStyle(n.State)
	}
	c.Fit(0, 0, m.name, noderow.ShortNodeName(n.Name), style)
	m.drawMarks(c.Sub(m.name+1, 0, m.marks+2, 1), n, t)
	idle := theme.Good
	switch {
	case !accepts:
		idle = noderow.StateStyle(n.State)
	case n.State == nodecapacity.StateFull:
		idle = theme.Dim
	}
	c.Fit(m.name+m.marks+4, 0, m.idle, m.idleText(n), idle)
}

// drawMarks draws the use of the resource with the signs of the heat map: a dash if the node has none of it, a question
// mark if its use is unknown, and D or X for idle devices of a node that accepts no pods.
func (m *tileMap) drawMarks(c canvas.Canvas, n *snapshot.Node, t *theme.Theme) {
	used, has := noderow.UsedAmount(n, m.resource)
	cell := noderow.HeatCellOf(n, m.resource)
	c.PutRune(0, 0, '[', theme.Border)
	marks := markCount(n, m.resource)
	filled := usedMarks(used, has, marks)
	for i := range marks {
		glyph, style := t.Glyphs.Heat[0], theme.Heat0
		switch {
		case i < filled && !n.Unknown:
			glyph, style = t.Glyphs.Heat[4], theme.Heat0+4
		case cell.Sign != 0:
			glyph, style = cell.Sign, cell.Style
		}
		c.PutRune(1+i, 0, glyph, style)
	}
	c.PutRune(1+marks, 0, ']', theme.Border)
}

// nodeAt returns the name of the node at a position on the screen, or "".
func (m *tileMap) nodeAt(x, y int) string {
	if m == nil || !m.isPlaced {
		return ""
	}
	x, y, inside := m.placed.ContainsCell(x, y)
	if !inside {
		return ""
	}
	across := m.perRow(m.placed.W)
	column := x / m.tileWidth()
	at := y*across + column
	if column >= across || at >= len(m.nodes) {
		return ""
	}
	return m.nodes[at].Name
}

// drawTiles draws sums and the tiles.
func (o *Overview) drawTiles(ctx *screenapi.Context, c canvas.Canvas, head int) {
	drawSumsWide(ctx, c)
	o.tiles.draw(c.Sub(0, head, c.W, c.H-head-1), ctx.Theme)
	short := make([]string, len(o.tiles.resources))
	for i, name := range o.tiles.resources {
		short[i] = screenapi.ShortResource(string(name))
	}
	x := c.Put(0, c.H-1, short[0]+":  ", theme.Dim)
	x = c.Put(x, c.H-1, string(ctx.Theme.Glyphs.Heat[4]), theme.Heat0+4)
	x = c.Put(x, c.H-1, " in use  ", theme.Dim)
	x = c.Put(x, c.H-1, string(ctx.Theme.Glyphs.Heat[0]), theme.Heat0)
	x = c.Put(x, c.H-1, " idle   amounts: idle "+strings.Join(short, "/"), theme.Dim)
	c.Fit(x+6, c.H-1, c.W-x-6, "m: next resource", theme.Dim)
}

// tilesFit reports whether the tiles of the nodes fit on a canvas below the sums.
func (o *Overview) tilesFit(c canvas.Canvas, head int) bool {
	return o.tiles != nil && o.tiles.neededLines(c.W) <= c.H-head-1
}

// clickedNode returns the name of the node or of the group of nodes at a position, or "".
func (o *Overview) clickedNode(m screenapi.Mouse) string {
	if name := o.tiles.nodeAt(m.X, m.Y); name != "" {
		return name
	}
	x, y, inside := o.heatAt.ContainsCell(m.X, m.Y)
	if !inside {
		return ""
	}
	return o.heat.At(x, y)
}
