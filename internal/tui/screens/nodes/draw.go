package nodes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/noderow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/usecolumn"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// The heights of the parts below the list.
const (
	roomForBoxes = 23 // minimum number of lines of the body for drawing boxes
	podsLeast    = 6  // minimum lines of the boxes
	narrowFacts  = 3  // a rule and two facts
)

// Draw draws the heat map, or the list of nodes with the pods on the node under the cursor.
func (n *Nodes) Draw(ctx *screenapi.Context, c canvas.Canvas) {
	if n.heat != nil && ctx.Compact {
		n.leaveHeat()
	}
	if n.heat != nil {
		n.drawHeat(ctx, c)
		return
	}
	switch {
	case ctx.W >= 100 && c.H >= roomForBoxes:
		lower := max(min(c.H/3, max(len(n.pods.Rows())+4, podsLeast)), podsLeast)
		list, rest := c.Cut(min(max(len(n.table.Rows()), 1)+n.groupLines()+1, c.H-lower))
		if n.inPods && rest.H < c.H/2 {
			list, rest = c.Cut(c.H / 2)
		}
		n.table.Draw(ctx, list, n.emptyReason(ctx))
		n.setPods(ctx)
		n.drawBoxes(ctx, rest)
	case n.inPods:
		list, rest := c.Cut(c.H / 3)
		n.table.Draw(ctx, list, n.emptyReason(ctx))
		n.setPods(ctx)
		n.drawPods(ctx, rest)
	case c.H >= narrowFacts+6:
		list, rest := c.Cut(min(max(len(n.table.Rows())+n.groupLines()+1, 3), c.H-narrowFacts))
		n.table.Draw(ctx, list, n.emptyReason(ctx))
		n.drawNarrow(ctx, rest)
	default:
		n.table.Draw(ctx, c, n.emptyReason(ctx))
	}
}

// groupLines returns the maximum number of lines that group headings occupy.
func (n *Nodes) groupLines() int {
	if n.by == "" || n.by == noderow.Flat {
		return 0
	}
	names := map[string]bool{}
	for _, row := range n.table.Rows() {
		names[noderow.GroupNameOf(row, n.by)] = true
	}
	return len(names)
}

// emptyReason returns the reason why there are no rows.
func (n *Nodes) emptyReason(ctx *screenapi.Context) string {
	if why := ctx.UnseenReason("nodes"); why != "" {
		return why
	}
	if len(n.all) > 0 {
		return "no node matches " + n.text + "   (" + ctx.KeyFor("back", "esc") + " clears)"
	}
	for _, l := range ctx.Snap.Loading {
		if l.Kind == "nodes" {
			return "nodes are loading ..."
		}
	}
	return ctx.EmptyTableText("the cluster has no nodes")
}

func (n *Nodes) drawPods(ctx *screenapi.Context, c canvas.Canvas) {
	row := n.selectedNode()
	if row == nil || c.H < 2 {
		return
	}
	widget.DrawTitledRule(c, 0, ctx.Theme, "Pods on "+noderow.ShortNodeName(row.Name), n.podsNote(ctx))
	_, rest := c.Cut(1)
	n.pods.Draw(ctx, rest, n.noPodsReason(ctx))
}

func (n *Nodes) podsNote(ctx *screenapi.Context) string {
	if _, ok := ctx.Snap.HiddenKind("pods"); ok {
		return "pods: " + cmp.Or(ctx.OnlyNamespaces("pods"), "not shown")
	}
	if n.inPods {
		return "enter opens the job, esc goes back"
	}
	return "tab"
}

func (n *Nodes) noPodsReason(ctx *screenapi.Context) string {
	if _, hidden := ctx.Snap.HiddenKind("pods"); hidden {
		return "no pods that you are allowed to see"
	}
	return "no pods"
}

func (n *Nodes) drawBoxes(ctx *screenapi.Context, c canvas.Canvas) {
	row := n.selectedNode()
	if row == nil {
		return
	}
	facts := n.listNodeFacts(ctx, row)
	height := min(c.H, max(len(n.pods.Rows())+4, len(facts)+2, podsLeast))
	left := c.W * 3 / 5
	n.pods.Draw(ctx, widget.DrawTitledBox(c.Sub(0, 0, left, height), ctx.Theme, "Pods on "+noderow.ShortNodeName(row.Name), n.podsNote(ctx)), n.noPodsReason(ctx))
	inside := widget.DrawTitledBox(c.Sub(left, 0, c.W-left, height), ctx.Theme, noderow.ShortNodeName(row.Name), "")
	y := 0
	for _, one := range facts {
		lines := []string{one.text}
		if canvas.Width(one.text) > inside.W {
			lines = render.WrapAtBlanks(one.text, inside.W)
		}
		for _, line := range lines {
			inside.Fit(0, y, inside.W, line, one.style)
			y++
		}
	}
}

func (n *Nodes) drawNarrow(ctx *screenapi.Context, c canvas.Canvas) {
	row := n.selectedNode()
	if row == nil {
		return
	}
	widget.DrawTitledRule(c, 0, ctx.Theme, "", "")
	facts := n.listNodeFacts(ctx, row)
	if facts[0].style != theme.Failed {
		facts[0].text = noderow.ShortNodeName(row.Name) + "  " + facts[0].text
	}
	for i, one := range facts[:min(len(facts), c.H-1)] {
		c.Fit(1, i+1, c.W-2, one.text, one.style)
	}
}

// fact is a line of information about a node.
type fact struct {
	text  string
	style canvas.Style
}

// listNodeFacts returns information about a node, with the most important line first.
func (n *Nodes) listNodeFacts(ctx *screenapi.Context, row *node) []fact {
	var all []fact
	add := func(style canvas.Style, text string) {
		if text != "" {
			all = append(all, fact{text, style})
		}
	}
	has := []string{"cpu " + render.FormatCores(row.Has.MilliCPU), "mem " + render.FormatMemory(row.Has.MemoryBytes)}
	for _, name := range slices.Sorted(maps.Keys(row.Has.Devices)) {
		has = append(has, fmt.Sprintf("%s %d", render.ShortResource(name), row.Has.Devices[name]))
	}
	if labels := n.labels.labelTextOf(row); labels != "" {
		has = append(has, labels)
	}
	condition := "Ready"
	if !row.Ready {
		condition = "not ready"
		add(theme.Failed, strings.TrimSpace(condition+durationInState(ctx, row)+": "+row.Problem))
	}
	add(theme.Plain, strings.Join(has, "  "))
	if used := usecolumn.DescribeUse(ctx.Snap.Usage.OfNode(row), row.Has.MilliCPU, row.Has.MemoryBytes); used != "" {
		add(theme.Plain, "used: "+used)
	}
	if row.Ready {
		condition += durationInState(ctx, row)
	}
	cordon := "cordon: no"
	if row.Cordoned {
		cordon = "cordon: yes, no new pods"
	}
	taints := "no taints"
	if len(row.Taints) > 0 {
		taints = "taints " + strings.Join(row.Taints, ", ")
	}
	add(theme.Plain, condition+"   "+cordon+"   "+taints)
	add(theme.Plain, n.describeLocation(row))
	add(theme.Dim, strings.TrimSpace(strings.Join([]string{row.Address, row.Status}, "  ")))
	return all
}

// durationInState returns how long a node has been in its current condition.
func durationInState(ctx *screenapi.Context, row *node) string {
	if row.Since.IsZero() {
		return ""
	}
	return " " + render.FormatDuration(max(ctx.Now.Sub(row.Since), time.Second))
}
