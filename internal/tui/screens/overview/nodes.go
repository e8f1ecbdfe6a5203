package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/nodecapacity"
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

func count(snap *snapshot.Snapshot) noderow.Counts {
	return snapshot.Remember(snap, memo("counts"), func() noderow.Counts { return noderow.Count(snap.Nodes) })
}

func freeNodes(snap *snapshot.Snapshot) string {
	return snapshot.Remember(snap, memo("free"), func() string { return noderow.Free(snap.Nodes) })
}

// sums returns the total allocatable and idle amounts of each resource over all nodes.
func sums(ctx *screenapi.Context) (has, idle []amount) {
	total := snapshot.Remember(ctx.Snap, memo("totals"), func() [2]nodecapacity.Amounts {
		all, left := noderow.Totals(ctx.Snap.Nodes)
		return [2]nodecapacity.Amounts{all, left}
	})
	all, left := total[0], total[1]
	for _, name := range ctx.Snap.Resources {
		a := amount{name: string(name), text: render.Amount(name, all.Of(name))}
		switch name {
		case corev1.ResourceMemory:
			a.name = "mem"
		case corev1.ResourceCPU:
			a.name = "cpu"
		}
		i := amount{name: a.name, text: render.Amount(name, left.Of(name)), percent: percent(left.Of(name), all.Of(name))}
		if unknown(ctx) {
			i.text, i.percent = "?", ""
		}
		has, idle = append(has, a), append(idle, i)
	}
	return has, idle
}

// unknown reports whether the idle amounts are unknown.
func unknown(ctx *screenapi.Context) bool {
	return len(ctx.Snap.Nodes) > 0 && ctx.Snap.Nodes[0].Unknown
}

// counted returns the number of nodes in each state in text form.
func counted(ctx *screenapi.Context) string {
	parts := states(count(ctx.Snap))
	return parts[0] + ": " + strings.Join(parts[1:], "  ")
}

// states returns the total number of nodes and the number in each state.
func states(n noderow.Counts) []string {
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
	return append([]string{widget.Count(n.All)}, parts...)
}

// nodesGone returns the reason why no nodes are visible, or "".
func nodesGone(ctx *screenapi.Context) string {
	if why := ctx.Unseen("nodes"); why != "" {
		return why
	}
	if len(ctx.Snap.Nodes) > 0 {
		return ""
	}
	return ctx.Nothing("the cluster has no nodes")
}

func (o *Overview) nodeBlock(ctx *screenapi.Context, c canvas.Canvas) block {
	b := block{title: "Nodes (allocatable / idle)", note: "4 to open", want: 1, least: 1}
	wide := ctx.W >= 100
	if why := nodesGone(ctx); why != "" {
		b.draw = func(c canvas.Canvas) { c.Fit(0, 0, c.W, why, theme.Dim) }
		return b
	}
	if _, ok := ctx.Snap.HiddenKind("pods"); ok {
		b.note = "pods: " + cmp.Or(ctx.Only("pods"), "not shown")
	}
	if len(ctx.Snap.Nodes) <= fewNodes {
		b.want, b.least = 2*len(ctx.Snap.Resources)+2, 4
		if !wide {
			b.want = len(ctx.Snap.Nodes) + 2
		}
		b.draw = func(c canvas.Canvas) { o.matrix(ctx, c) }
		return b
	}
	// The heat map gets as many lines as its groups need, but at most a third of the screen.
	groups := snapshot.Remember(ctx.Snap, memo("groups by "+resourceName(ctx)), func() []widget.HeatGroup {
		return noderow.Groups(ctx.Snap.Nodes, noderow.Offered(ctx.Snap.Nodes)[0], resourceName(ctx))
	})
	o.heat.Groups, o.heat.Dense = groups, true
	most := max(c.H/3, 2)
	o.heat.Draw(canvas.New(c.W-4, most, ctx.Theme.Glyphs.ASCII), ctx.Theme)
	lines := min(o.heat.Lines(), most)
	head := 3
	if wide {
		head = 4
	}
	b.want, b.least = head+lines+1, head
	if !wide {
		b.want, head = 2+lines, 2
	}
	b.draw = func(c canvas.Canvas) { o.many(ctx, c, head) }
	return b
}

// many draws sums and the heat map.
func (o *Overview) many(ctx *screenapi.Context, c canvas.Canvas, head int) {
	if head == 2 {
		o.sumsNarrow(ctx, c)
	} else {
		sumsWide(ctx, c)
	}
	legend := 1
	if head == 2 || c.H-head < 2 {
		legend = 0
	}
	o.heatAt = c.Sub(0, head, c.W, c.H-head-legend)
	hidden := o.heat.Draw(o.heatAt, ctx.Theme)
	if legend == 0 {
		if hidden > 0 {
			c.PutRight(c.W, 1, fmt.Sprintf("  %s nodes more on screen 4", widget.Count(hidden)), theme.Dim)
		}
		return
	}
	text := noderow.Legend(screenapi.ShortResource(ctx.ShownResource()), ctx.Theme.Glyphs) + "      m: next resource"
	if hidden > 0 {
		text = fmt.Sprintf("%s nodes more on screen 4      %s", widget.Count(hidden), text)
	}
	c.Fit(0, c.H-1, c.W, text, theme.Dim)
}

// sumsWide draws one column per resource, with the allocatable and the idle amount.
func sumsWide(ctx *screenapi.Context, c canvas.Canvas) {
	has, idle := sums(ctx)
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
	c.Fit(x, 0, c.W-x, "nodes "+counted(ctx), theme.Plain)
	if free := freeNodes(ctx.Snap); free != "" {
		c.Fit(x, 2, c.W-x, fmt.Sprintf("whole nodes free: %d (%s)", count(ctx.Snap).Idle, free), theme.Plain)
	}
}

// sumsNarrow draws the same amounts in two lines.
func (o *Overview) sumsNarrow(ctx *screenapi.Context, c canvas.Canvas) {
	has, idle := sums(ctx)
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
	first := "NODES " + counted(ctx)
	if canvas.Width(first) > end-2 {
		n := count(ctx.Snap)
		parts := states(n)
		first = "NODES " + parts[0] + ": " + strings.Join(parts[1:4], " ")
		if out := n.Drain + n.Down; out > 0 {
			first += fmt.Sprintf(" %d out", out)
		}
		first = strings.Replace(first, "mixed", "mix", 1)
	}
	c.Fit(0, 0, end-2, first, theme.Title)
	second := "idle " + strings.Join(rest, "  ")
	if free := freeNodes(ctx.Snap); free != "" {
		second += fmt.Sprintf("  whole nodes free %d: %s", count(ctx.Snap).Idle, free)
	}
	c.Fit(0, 1, c.W, second, theme.Plain)
}

// matrix draws a small number of nodes in one column each or, on a narrow screen, in one line each.
func (o *Overview) matrix(ctx *screenapi.Context, c canvas.Canvas) {
	nodes, resources := ctx.Snap.Nodes, ctx.Snap.Resources
	if ctx.W < 100 {
		o.matrixNarrow(ctx, c)
		return
	}
	w := 0
	for _, n := range nodes {
		w = max(w, canvas.Width(noderow.Short(n.Name))+2)
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
		c.FitRight(x, 0, w-1, noderow.Short(n.Name), theme.Head)
		for r, name := range resources {
			widget.FitNumber(c, x, 1+r, w-1, render.Amount(name, n.Has.Of(name)), theme.Plain)
			text, style := idleOf(n, name)
			widget.FitNumber(c, x, 1+len(resources)+r, w-1, text, style)
		}
		c.FitRight(x, 1+2*len(resources), w-1, noderow.State(n), noderow.StateStyle(n.State))
	}
}

func (o *Overview) matrixNarrow(ctx *screenapi.Context, c canvas.Canvas) {
	// Show as many resources as fit, starting with the chosen one.
	resources := slices.Clone(ctx.Snap.Resources)
	slices.SortStableFunc(resources, func(a, b corev1.ResourceName) int { return first(a, resourceName(ctx)) - first(b, resourceName(ctx)) })
	resources = resources[:min(len(resources), max((c.W-24+2)/17, 1))]
	c.Fit(0, 0, c.W, "NODES "+counted(ctx), theme.Title)
	c.Put(0, 1, "NAME", theme.Head)
	c.Put(18, 1, "STATE", theme.Head)
	for i, n := range ctx.Snap.Nodes {
		c.Fit(0, 2+i, 17, noderow.Short(n.Name), theme.Plain)
		c.Fit(18, 2+i, 5, noderow.State(n), noderow.StateStyle(n.State))
		for r, name := range resources {
			x := 24 + r*17
			if i == 0 {
				c.FitRight(x, 1, 15, "idle "+screenapi.ShortResource(string(name)), theme.Head)
			}
			text, style := idleOf(n, name)
			c.FitRight(x, 2+i, 15, text+"/"+render.Amount(name, n.Has.Of(name)), style)
		}
	}
}

func first(name, wanted corev1.ResourceName) int {
	if name == wanted {
		return 0
	}
	return 1
}

// idleOf returns the idle amount of a resource on a node.
func idleOf(n *snapshot.Node, name corev1.ResourceName) (string, canvas.Style) {
	switch idle := n.Idle.Of(name); {
	case n.Unknown:
		return "?", theme.Dim
	case !noderow.Takes(n):
		return render.Amount(name, idle), theme.Dim
	case idle <= 0:
		return render.Amount(name, idle), theme.Dim
	default:
		return render.Amount(name, idle), theme.Good
	}
}
