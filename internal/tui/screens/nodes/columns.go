package nodes

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
	"github.com/vc-batch/vc/internal/tui/usecolumn"
	"github.com/vc-batch/vc/internal/tui/widget"
)

type column = widget.Column[*node]

// The keys of the columns whose title or width depends on the nodes.
const (
	nameColumn   = "NODE"
	deviceColumn = "GPU"
	idleColumn   = "IDLE"
	podsColumn   = "PODS"
)

func (n *Nodes) tableColumns() []column {
	text := func(of func(*node) string) func(*screenapi.Context, *node) (string, canvas.Style) {
		return func(_ *screenapi.Context, row *node) (string, canvas.Style) { return of(row), theme.Plain }
	}
	byIdle := func(name func() corev1.ResourceName) func(a, b *node) int {
		return func(a, b *node) int {
			return cmp.Compare(a.Idle.AmountOfResource(name()), b.Idle.AmountOfResource(name()))
		}
	}
	device := func() corev1.ResourceName { return n.device }
	cpu := func() corev1.ResourceName { return corev1.ResourceCPU }
	memory := func() corev1.ResourceName { return corev1.ResourceMemory }
	columns := []column{
		{Key: nameColumn, Letter: "N", Title: "NODE", Width: 8, Cell: func(_ *screenapi.Context, row *node) (string, canvas.Style) {
			return noderow.ShortNodeName(row.Name), theme.Plain
		}, Compare: func(a, b *node) int { return cmp.Compare(n.place[a.Name], n.place[b.Name]) }},
		{Key: "STATE", Letter: "T", Title: "STATE", Width: 8, Cell: func(ctx *screenapi.Context, row *node) (string, canvas.Style) {
			return noderow.StateTextOf(row, ctx.Words), noderow.StateStyle(row.State)
		}, Compare: func(a, b *node) int { return cmp.Compare(rankState(a.State), rankState(b.State)) }},
		{Key: deviceColumn, Letter: "V", Title: "GPU", Width: 12, Draw: n.drawUse(device, 8), Descending: true, Compare: byIdle(device)},
		{Key: "CPU", Letter: "U", Title: "CPU", Width: 18, Narrow: 14, From: 80, Draw: n.drawUse(cpu, 10), Descending: true, Compare: byIdle(cpu)},
		{Key: "CPUS", Title: "CPU", Width: 9, Below: 80, Right: true, Cell: func(_ *screenapi.Context, row *node) (string, canvas.Style) {
			return formatCompactUse(row, corev1.ResourceCPU), theme.Plain
		}, Compare: byIdle(cpu), Descending: true},
		{Key: "MEM", Letter: "E", Title: "MEM", Width: 15, Narrow: 14, From: 80, Draw: n.drawUse(memory, 8), Descending: true, Compare: byIdle(memory)},
		{Key: "MEMORY", Title: "MEM", Width: 7, Below: 80, Right: true, Cell: func(_ *screenapi.Context, row *node) (string, canvas.Style) {
			return formatCompactUse(row, corev1.ResourceMemory), theme.Plain
		}, Compare: byIdle(memory), Descending: true},
		{Key: podsColumn, Letter: "O", Title: "PODS", Width: 4, Right: true, Descending: true, Cell: func(_ *screenapi.Context, row *node) (string, canvas.Style) {
			if row.Unknown {
				return "?", theme.Dim
			}
			return fmt.Sprint(len(row.Pods)), theme.Plain
		}, Compare: func(a, b *node) int { return cmp.Compare(len(a.Pods), len(b.Pods)) }},
		{Key: idleColumn, Title: "IDLE gpu/cpu/mem", Width: 22, From: 110, Cell: n.idleCell},
		{Key: "LABELS", Title: "LABELS", Width: 14, From: 100, Cell: text(func(row *node) string { return n.labels.labelTextOf(row) }),
			Compare: func(a, b *node) int { return strings.Compare(n.labels.labelTextOf(a), n.labels.labelTextOf(b)) }},
		{Key: "JOBS", Title: "JOBS", Width: 8, Flex: true, From: 80, Cell: jobsCell},
		{Key: "RACK", Letter: "K", Title: "RACK", Width: 10, Hidden: true, Cell: text(func(row *node) string { return row.Rack }), Compare: func(a, b *node) int { return strings.Compare(a.Rack, b.Rack) }},
		{Key: "POOL", Letter: "L", Title: "POOL", Width: 10, Hidden: true, Cell: text(func(row *node) string { return row.Pool }), Compare: func(a, b *node) int { return strings.Compare(a.Pool, b.Pool) }},
		{Key: "HYPERNODE", Title: "HYPERNODE", Width: 12, Hidden: true, Cell: text(func(row *node) string { return strings.Join(row.HyperNodes, ">") })},
		{Key: "STATUS", Title: "STATUS", Width: 24, Hidden: true, Cell: text(func(row *node) string { return row.Status })},
		{Key: "TAINTS", Title: "TAINTS", Width: 24, Hidden: true, Cell: text(func(row *node) string { return strings.Join(row.Taints, ",") })},
		{Key: "ADDRESS", Title: "ADDRESS", Width: 15, Hidden: true, Cell: text(func(row *node) string { return row.Address })},
		{Key: "AGE", Letter: "A", Title: "AGE", Width: 5, Hidden: true, Right: true, Ticks: true, Cell: func(ctx *screenapi.Context, row *node) (string, canvas.Style) {
			return render.FormatAgeSince(ctx.Now, row.Created), theme.Plain
		}, Compare: func(a, b *node) int { return b.Created.Compare(a.Created) }},
	}
	beforePods := slices.IndexFunc(columns, func(c column) bool { return c.Key == podsColumn })
	return slices.Insert(columns, beforePods, usecolumn.Columns((*snapshot.Usage).OfNode, fromWithUse)...)
}

// fromWithUse is the terminal width from which the measured use is shown.
const fromWithUse = 140

// fitColumns sets the width of the name column and the title of the device column.
func (n *Nodes) fitColumns() {
	widest := 6
	for _, row := range n.all {
		widest = max(widest, canvas.Width(noderow.ShortNodeName(row.Name)))
	}
	for i := range n.table.Columns {
		switch column := &n.table.Columns[i]; column.Key {
		case nameColumn:
			column.Width, column.Narrow = min(widest, 24), min(widest, 15)
		case deviceColumn:
			column.Hidden, column.Title = n.device == "", strings.ToUpper(screenapi.ShortResource(string(n.device)))
		case idleColumn:
			column.Title = "IDLE cpu/mem"
			if n.device != "" {
				column.Title = "IDLE " + screenapi.ShortResource(string(n.device)) + "/cpu/mem"
			}
		}
	}
}

// drawUse draws how much of a resource is used, as a bar and as numbers in the form used/total.
func (n *Nodes) drawUse(name func() corev1.ResourceName, cells int) func(*screenapi.Context, *node, canvas.Canvas) {
	return func(ctx *screenapi.Context, row *node, c canvas.Canvas) {
		used, has := noderow.UsedAmount(row, name())
		bar := cells
		if ctx.W < 100 && (cells > 8 || name() == corev1.ResourceMemory) {
			bar = 6
		}
		if ctx.Compact {
			bar = -1
		}
		if row.Unknown {
			c.FitRight(bar+1, 0, c.W-bar-1, "?", theme.Dim)
			return
		}
		if has == 0 {
			c.FitRight(bar+1, 0, c.W-bar-1, "-", theme.Dim)
			return
		}
		style := theme.Heat0 + canvas.Style(widget.HeatLevel(float64(used), float64(has)))
		widget.Bar{Used: float64(used), Scale: float64(has), Style: style}.Draw(c, 0, 0, bar, ctx.Theme)
		text := theme.Plain
		if used == 0 {
			text = theme.Dim
		}
		c.FitRight(bar+1, 0, c.W-bar-1, formatCompactUse(row, name()), text)
	}
}

// formatCompactUse returns used/total. For memory, it returns only the used amount to save space.
func formatCompactUse(row *node, name corev1.ResourceName) string {
	used, has := noderow.UsedAmount(row, name)
	switch {
	case row.Unknown:
		return "?"
	case name == corev1.ResourceMemory:
		return render.FormatMemory(used)
	}
	return render.FormatAmount(name, used) + "/" + render.FormatAmount(name, has)
}

func (n *Nodes) idleCell(_ *screenapi.Context, row *node) (string, canvas.Style) {
	if row.Unknown {
		return "?", theme.Dim
	}
	text := fmt.Sprintf("%4s / %s", render.FormatCores(row.Idle.MilliCPU), render.FormatMemory(row.Idle.MemoryBytes))
	if n.device != "" {
		text = fmt.Sprintf("%d / %s", row.Idle.AmountOfResource(n.device), text)
	}
	if !noderow.AcceptsPods(row) {
		return text, theme.Dim
	}
	return text, theme.Plain
}

// jobsCell returns the jobs on a node. If the node is down, the jobs are shown as lost.
func jobsCell(_ *screenapi.Context, row *node) (string, canvas.Style) {
	jobs := jobsOnNode(row)
	if len(jobs) == 0 {
		return "", theme.Plain
	}
	text := strings.Join(jobs[:min(len(jobs), 2)], ",")
	if len(jobs) > 2 {
		text += fmt.Sprintf(" +%d", len(jobs)-2)
	}
	if !row.Ready {
		return "(" + text + " lost)", theme.Failed
	}
	return text, theme.Plain
}

// textTable returns the table for Twin.
func (n *Nodes) textTable(ctx *screenapi.Context) *render.Table {
	table := &render.Table{Header: []string{"NAME", "STATE", "STATUS", "CPU", "IDLE CPU", "MEMORY", "IDLE MEMORY"}}
	devices := ctx.Snap.Resources[min(2, len(ctx.Snap.Resources)):]
	for _, name := range devices {
		short := strings.ToUpper(render.ShortResource(name))
		table.Header = append(table.Header, short, "IDLE "+short)
	}
	table.Header = append(table.Header, "JOBS")
	for _, row := range n.table.Rows() {
		idle := func(text string) string {
			if row.Unknown {
				return "?"
			}
			return text
		}
		line := []string{row.Name, noderow.StateTextOf(row, ctx.Words), row.Status, render.FormatCores(row.Has.MilliCPU), idle(render.FormatCores(row.Idle.MilliCPU)),
			render.FormatMemory(row.Has.MemoryBytes), idle(render.FormatMemory(row.Idle.MemoryBytes))}
		for _, name := range devices {
			line = append(line, fmt.Sprint(row.Has.AmountOfResource(name)), idle(fmt.Sprint(row.Idle.AmountOfResource(name))))
		}
		table.Rows = append(table.Rows, append(line, cmp.Or(strings.Join(jobsOnNode(row), ","), "-")))
	}
	return table
}
