package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/noderow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// fewNodes is the maximum number of nodes that are shown as a matrix.
const fewNodes = 8

// amount is the amount of a resource in text form.
type amount struct{ name, text, percent string }

// memo is the cache key for values that are computed from all nodes only once per snapshot instead of once per frame.
type memo string

func countNodes(snap *snapshot.Snapshot) noderow.Counts {
	return snapshot.CachedValue(snap, memo("counts"), func() noderow.Counts { return noderow.CountByState(snap.Nodes) })
}

// freeNodesText returns the number and the names of the free nodes that have the shown resource, or "" if there are
// none.
func freeNodesText(ctx *screenapi.Context) string {
	resource := resourceName(ctx)
	free := snapshot.CachedValue(ctx.Snap, memo("free with "+resource), func() noderow.FreeNodes { return noderow.FindFreeNodes(ctx.Snap.Nodes, resource) })
	if free.Count == 0 {
		return ""
	}
	kind := ""
	if render.IsGPU(resource) {
		kind = screenapi.ShortResource(string(resource)) + " "
	}
	return fmt.Sprintf("whole %snodes free: %d (%s)", kind, free.Count, free.Names)
}

// total is the allocatable and the idle amount of a resource over all nodes.
type total struct{ has, idle int64 }

func cachedTotal(snap *snapshot.Snapshot, name corev1.ResourceName) total {
	return snapshot.CachedValue(snap, memo("total of "+name), func() total {
		has, idle := noderow.TotalAmount(snap.Nodes, name)
		return total{has, idle}
	})
}

// sumAmounts returns the total allocatable and idle amounts of each resource over all nodes.
func sumAmounts(ctx *screenapi.Context) (has, idle []amount) {
	for _, name := range ctx.Snap.Resources {
		total := cachedTotal(ctx.Snap, name)
		a := amount{name: string(name), text: render.FormatAmount(name, total.has)}
		if name == corev1.ResourceMemory {
			a.name = "mem"
		}
		i := amount{name: a.name, text: render.FormatAmount(name, total.idle), percent: formatPercent(total.idle, total.has)}
		if idleUnknown(ctx) {
			i.text, i.percent = "?", ""
		}
		has, idle = append(has, a), append(idle, i)
	}
	return has, idle
}

// idleUnknown reports whether the idle amounts are unknown.
func idleUnknown(ctx *screenapi.Context) bool {
	return len(ctx.Snap.Nodes) > 0 && ctx.Snap.Nodes[0].Unknown
}

// describeCounts returns the number of nodes in each state in text form.
func describeCounts(ctx *screenapi.Context) string {
	parts := stateCounts(countNodes(ctx.Snap))
	return parts[0] + ": " + strings.Join(parts[1:], "  ")
}

// stateCounts returns the total number of nodes and the number in each state.
func stateCounts(n noderow.Counts) []string {
	parts := []string{fmt.Sprintf("%d full", n.Full), fmt.Sprintf("%d mixed", n.Mixed), fmt.Sprintf("%d idle", n.Idle)}
	if n.Unknown > 0 {
		parts = []string{"? full", "? mixed", "? idle"}
	}
	if n.Drain > 0 {
		parts = append(parts, fmt.Sprintf("%d drain", n.Drain))
	}
	if n.Down > 0 {
		parts = append(parts, fmt.Sprintf("%d down", n.Down))
	}
	return append([]string{widget.FormatCount(n.All)}, parts...)
}

// noNodesReason returns the reason why no nodes are visible, or "".
func noNodesReason(ctx *screenapi.Context) string {
	if why := ctx.UnseenReason("nodes"); why != "" {
		return why
	}
	if len(ctx.Snap.Nodes) > 0 {
		return ""
	}
	return ctx.EmptyTableText("the cluster has no nodes")
}

func (o *Overview) nodeBlock(ctx *screenapi.Context, c canvas.Canvas) block {
	b := block{title: "Nodes (allocatable / idle)", note: "4 to open", want: 1, least: 1}
	wide := ctx.W >= 100
	if why := noNodesReason(ctx); why != "" {
		b.draw = func(c canvas.Canvas) { c.Fit(0, 0, c.W, why, theme.Dim) }
		return b
	}
	if _, ok := ctx.Snap.HiddenKind("pods"); ok {
		b.note = "pods: " + cmp.Or(ctx.OnlyNamespaces("pods"), "not shown")
	}
	if len(ctx.Snap.Nodes) <= fewNodes {
		b.want, b.least = 2*len(ctx.Snap.Resources)+2, 4
		if !wide {
			b.want = len(ctx.Snap.Nodes) + 2
		}
		b.draw = func(c canvas.Canvas) { o.drawMatrix(ctx, c) }
		return b
	}
	if ctx.Compact {
		o.tiles, o.heat.Groups, o.cellsOf = nil, nil, noderow.Flat
		b.want, b.least = 2, 2
		b.draw = func(c canvas.Canvas) { o.drawSumsNarrow(ctx, c, c.W) }
		return b
	}
	// The heat map gets as many lines as its groups need, but at most a third of the screen.
	groups := snapshot.CachedValue(ctx.Snap, memo("groups by "+resourceName(ctx)), func() []widget.HeatGroup {
		return noderow.HeatGroups(ctx.Snap.Nodes, noderow.OfferedGroupings(ctx.Snap.Nodes)[0], resourceName(ctx))
	})
	o.heat.Groups, o.heat.Dense, o.cellsOf = groups, true, noderow.Flat
	most := max(c.H/3, 2)
	hidden := o.heat.Draw(canvas.New(c.W-4, most, ctx.Theme.Glyphs.ASCII), ctx.Theme)
	if by := noderow.OfferedGroupings(ctx.Snap.Nodes)[0]; hidden > 0 && by != noderow.Flat {
		o.cellsOf = by
		o.heat.Groups = []widget.HeatGroup{snapshot.CachedValue(ctx.Snap, memo("cells by "+resourceName(ctx)), func() widget.HeatGroup {
			return noderow.GroupCells(ctx.Snap.Nodes, by, resourceName(ctx))
		})}
		o.heat.Draw(canvas.New(c.W-4, most, ctx.Theme.Glyphs.ASCII), ctx.Theme)
	}
	lines := min(o.heat.TotalLines(), most)
	head := 3
	if wide {
		head = 4
	}
	b.want, b.least = head+lines+1, head
	if !wide {
		b.want, head = 2+lines, 2
	}
	o.tiles = nil
	if wide && len(ctx.Snap.Nodes) <= maxTiles {
		if tiles := newTileMap(ctx); tiles.neededLines(c.W-4) <= most {
			o.tiles = tiles
			b.want = head + tiles.neededLines(c.W-4) + 1
		}
	}
	b.draw = func(c canvas.Canvas) {
		if o.tilesFit(c, head) {
			o.drawTiles(ctx, c, head)
			return
		}
		o.tiles = nil
		o.drawManyNodes(ctx, c, head)
	}
	return b
}

// drawManyNodes draws sums and the heat map.
func (o *Overview) drawManyNodes(ctx *screenapi.Context, c canvas.Canvas, head int) {
	legend := 1
	if head == 2 || c.H-head < 2 {
		legend = 0
	}
	o.heatAt = c.Sub(0, head, c.W, c.H-head-legend)
	hidden := o.heat.Draw(o.heatAt, ctx.Theme)
	note := ""
	switch {
	case hidden > 0:
		note = widget.FormatCount(hidden) + " more nodes on screen 4"
	case o.cellsOf != noderow.Flat:
		note = "one cell per " + string(o.cellsOf)
	}
	end := c.W // of the second line of sums, which has the note if there is no legend
	if legend == 0 && note != "" {
		end = c.PutRight(c.W, 1, note, theme.Dim) - 2
	}
	if head == 2 {
		o.drawSumsNarrow(ctx, c, end)
	} else {
		drawSumsWide(ctx, c)
	}
	if legend == 0 {
		return
	}
	x := 0
	if note != "" {
		x = c.Put(0, c.H-1, note, theme.Dim) + 6
	}
	x = noderow.DrawHeatLegend(c, x, c.H-1, screenapi.ShortResource(ctx.ShownResource()), ctx.Theme)
	c.Fit(x+6, c.H-1, c.W-x-6, "m: next resource", theme.Dim)
}

// drawSumsWide draws one column per resource, with the allocatable and the idle amount.
func drawSumsWide(ctx *screenapi.Context, c canvas.Canvas) {
	has, idle := sumAmounts(ctx)
	c.Put(0, 1, "Allocatable", theme.Head)
	c.Put(0, 2, "Idle", theme.Head)
	x := 12
	for i := range has {
		w := max(canvas.Width(has[i].name), canvas.Width(has[i].text), canvas.Width(idle[i].text), 6)
		if x+w+7 > c.W {
			break
		}
		c.FitRight(x, 0, w, has[i].name, theme.Head)
		c.FitRight(x, 1, w, has[i].text, theme.Plain)
		c.FitRight(x, 2, w, idle[i].text, theme.Good)
		c.Put(x+w+1, 2, idle[i].percent, theme.Dim)
		x += w + 8
	}
	c.Fit(x, 0, c.W-x, "nodes "+describeCounts(ctx), theme.Plain)
	c.Fit(x, 2, c.W-x, freeNodesText(ctx), theme.Plain)
}

// drawSumsNarrow draws the same amounts in two lines, the second of which ends before column secondEnd.
func (o *Overview) drawSumsNarrow(ctx *screenapi.Context, c canvas.Canvas, secondEnd int) {
	has, idle := sumAmounts(ctx)
	name := resourceName(ctx)
	var rest []string
	end := c.W
	for i, resource := range ctx.Snap.Resources {
		text := fmt.Sprintf("%s %s/%s", screenapi.ShortResource(has[i].name), idle[i].text, has[i].text)
		if resource == name {
			text = "idle " + text
			if with := text + " " + idle[i].percent; c.W >= 78 && idle[i].percent != "" {
				text = with
			}
			end = c.PutRight(c.W, 0, text, theme.Good)
			continue
		}
		rest = append(rest, text)
	}
	first := "NODES " + describeCounts(ctx)
	if canvas.Width(first) > end-2 {
		n := countNodes(ctx.Snap)
		parts := stateCounts(n)
		first = "NODES " + parts[0] + ": " + strings.Join(parts[1:4], " ")
		if out := n.Drain + n.Down; out > 0 {
			first += fmt.Sprintf(" %d out", out)
		}
		first = strings.Replace(first, "mixed", "mix", 1)
	}
	c.Fit(0, 0, end-2, first, theme.Title)
	c.Fit(0, 1, secondEnd, "idle "+strings.Join(rest, "  ")+"  "+freeNodesText(ctx), theme.Plain)
}

// drawMatrix draws a small number of nodes in one column each or, on a narrow screen, in one line each.
func (o *Overview) drawMatrix(ctx *screenapi.Context, c canvas.Canvas) {
	nodes, resources := ctx.Snap.Nodes, ctx.Snap.Resources
	if ctx.W < 100 {
		o.drawMatrixNarrow(ctx, c)
		return
	}
	w := 0
	for _, n := range nodes {
		w = max(w, canvas.Width(noderow.ShortNodeName(n.Name))+2)
	}
	w = max(min(w, (c.W-24)/len(nodes)), 9)
	c.Put(0, 1, "Allocatable", theme.Head)
	c.Put(0, 1+len(resources), "Idle", theme.Head)
	c.Put(0, 1+2*len(resources), "State", theme.Head)
	for r, name := range resources {
		for _, y := range []int{1 + r, 1 + r + len(resources)} {
			c.Fit(13, y, 9, screenapi.ShortResource(string(name)), theme.Dim)
		}
	}
	for i, n := range nodes {
		x := 23 + i*w
		c.FitRight(x, 0, w-1, noderow.ShortNodeName(n.Name), theme.Head)
		for r, name := range resources {
			widget.FitNumber(c, x, 1+r, w-1, render.FormatAmount(name, n.Has.AmountOfResource(name)), theme.Plain)
			text, style := idleAmountOf(n, name)
			widget.FitNumber(c, x, 1+len(resources)+r, w-1, text, style)
		}
		c.FitRight(x, 1+2*len(resources), w-1, noderow.StateTextOf(n, ctx.Words), noderow.StateStyle(n.State))
	}
}

func (o *Overview) drawMatrixNarrow(ctx *screenapi.Context, c canvas.Canvas) {
	// Show as many resources as fit, starting with the chosen one.
	resources := slices.Clone(ctx.Snap.Resources)
	slices.SortStableFunc(resources, func(a, b corev1.ResourceName) int {
		return preferWanted(a, resourceName(ctx)) - preferWanted(b, resourceName(ctx))
	})
	resources = resources[:min(len(resources), max((c.W-24+2)/17, 1))]
	c.Fit(0, 0, c.W, "NODES "+describeCounts(ctx), theme.Title)
	c.Put(0, 1, "NAME", theme.Head)
	c.Put(18, 1, "STATE", theme.Head)
	for i, n := range ctx.Snap.Nodes {
		c.Fit(0, 2+i, 17, noderow.ShortNodeName(n.Name), theme.Plain)
		c.Fit(18, 2+i, 5, noderow.StateTextOf(n, ctx.Words), noderow.StateStyle(n.State))
		for r, name := range resources {
			x := 24 + r*17
			if i == 0 {
				c.FitRight(x, 1, 15, "idle "+screenapi.ShortResource(string(name)), theme.Head)
			}
			text, style := idleAmountOf(n, name)
			c.FitRight(x, 2+i, 15, text+"/"+render.FormatAmount(name, n.Has.AmountOfResource(name)), style)
		}
	}
}

func preferWanted(name, wanted corev1.ResourceName) int {
	if name == wanted {
		return 0
	}
	return 1
}

// idleAmountOf returns the idle amount of a resource on a node.
func idleAmountOf(n *snapshot.Node, name corev1.ResourceName) (string, canvas.Style) {
	switch idle := n.Idle.AmountOfResource(name); {
	case n.Unknown:
		return "?", theme.Dim
	case !noderow.AcceptsPods(n):
		return render.FormatAmount(name, idle), theme.Dim
	case idle <= 0:
		return render.FormatAmount(name, idle), theme.Dim
	default:
		return render.FormatAmount(name, idle), theme.Good
	}
}
