package nodes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/filter"
	"github.com/vc-batch/vc/internal/tui/noderow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/usecolumn"
	"github.com/vc-batch/vc/internal/tui/widget"
)

type node = snapshot.Node

// Nodes is the screen.
type Nodes struct {
	table  widget.Table[*node]
	pods   widget.Table[*snapshot.Pod]
	text   string
	filter filter.Filter[*node]
	target string // node to select at the start; "" means the first one

	all   []*node
	shown []*node
	// by is the grouping of nodes. If the user has not chosen one yet, it is empty: the list is flat, and the heat
	// map uses the first available grouping.
	by     noderow.By
	inPods bool // keys apply to the table of pods
	heat   *heatMap

	resource corev1.ResourceName // resource to show and to sort by
	device   corev1.ResourceName // resource of the device column; "" if none exists
	labels   labeller
	place    map[string]int // position of each name in natural order
}

// ScreenSpec returns the description of the screen.
func ScreenSpec() screenapi.Spec {
	return screenapi.Spec{Name: screenapi.Nodes, Tab: "Nodes", ShortTab: "Nodes", Number: "4", New: New, Keys: keyBindings()}
}

// New returns the screen; target is the node to select at the start.
func New(target string) screenapi.Screen {
	n := &Nodes{target: target}
	n.table = widget.Table[*node]{
		Columns: n.tableColumns(), ID: func(row *node) string { return row.Name },
		Default: n.compareByIdle, DefaultSort: "idle",
	}
	n.pods = widget.Table[*snapshot.Pod]{Columns: podColumns(), ID: func(p *snapshot.Pod) string { return string(p.UID) }, DefaultSort: "name"}
	return n
}

// Selection returns the selected node.
func (n *Nodes) Selection() (object screenapi.Selection, ok bool) {
	selected := n.selectedNode()
	if selected == nil {
		return object, false
	}
	return screenapi.Selection{Kind: "node", Name: selected.Name}, true
}

// ArrangeTable arranges the columns and rows of the list of nodes.
func (n *Nodes) ArrangeTable(how screenapi.Arrangement) error { return n.table.Arrange(how, nil) }

// Name returns the screen's name.
func (n *Nodes) Name() string { return screenapi.Nodes }

// Crumb returns the screen's name in the path.
func (n *Nodes) Crumb(*screenapi.Context) string {
	if n.heat != nil {
		return "Nodes > Heat map"
	}
	return "Nodes"
}

// Note returns the number of nodes, and how they are sorted and grouped.
func (n *Nodes) Note(ctx *screenapi.Context) string {
	note := widget.FormatCount(len(n.all)) + " nodes"
	if marked := len(n.table.MarkedRows()); marked > 0 {
		note += ", " + widget.FormatCount(marked) + " marked"
	}
	order := n.table.SortNote()
	if order == "idle" {
		order += " " + screenapi.ShortResource(ctx.ShownResource())
	}
	metricKey, groupKey := ctx.KeyFor("metric", "m"), ctx.KeyFor("group", "g")
	switch {
	case ctx.W < 100:
		return note
	case n.heat != nil && ctx.W < 150:
		return screenapi.ShortResource(ctx.ShownResource()) + " (" + metricKey + ")   " + string(n.heatGrouping()) + " (" + groupKey + ")"
	case n.heat != nil:
		return note + "   metric: " + screenapi.ShortResource(ctx.ShownResource()) + " (" + metricKey + ")   group: " + string(n.heatGrouping()) + " (" + groupKey + ")"
	case n.by == "":
		return note + "   sort: " + order
	}
	return note + "   sort: " + order + "   group: " + string(n.by) + " (" + groupKey + ")"
}

// Update handles an event.
func (n *Nodes) Update(ctx *screenapi.Context, e screenapi.Event) []screenapi.Effect {
	switch e := e.(type) {
	case screenapi.Refresh:
		n.refreshRows(ctx, true)
	case screenapi.Mouse:
		return n.handleMouse(ctx, e)
	}
	return nil
}

func (n *Nodes) handleMouse(ctx *screenapi.Context, m screenapi.Mouse) []screenapi.Effect {
	if n.heat != nil {
		if n.heat.handleMouse(m) {
			return n.openSelected(ctx)
		}
		return nil
	}
	if taken, open := n.pods.Mouse(ctx, m); taken {
		n.inPods = true
		if open {
			return n.openSelected(ctx)
		}
		return nil
	}
	if taken, open := n.table.Mouse(ctx, m); taken {
		n.inPods = false
		if open {
			return n.openSelected(ctx)
		}
	}
	return nil
}

func (n *Nodes) refreshRows(ctx *screenapi.Context, lingering bool) {
	n.all = ctx.Snap.Nodes
	n.measureColumns(ctx)
	n.shown = n.all
	if !n.filter.MatchesAll() {
		n.shown = nil
		for _, row := range n.all {
			if n.filter.Match(row) {
				n.shown = append(n.shown, row)
			}
		}
	}
	n.table.SetRows(ctx, n.shown, lingering)
	allKnown := len(n.all) > 0 && ctx.Snap.IsComplete("nodes")
	if n.target != "" && (n.table.Select(n.target) || allKnown) {
		n.target = "" // a node with that name that appears later is not the intended one
	}
	n.setPods(ctx)
	if n.heat != nil {
		n.fillHeat()
	}
}

// measureColumns determines what the columns show: the resource, the device, the widths and the labels.
func (n *Nodes) measureColumns(ctx *screenapi.Context) {
	n.resource, n.device = corev1.ResourceName(ctx.ShownResource()), ""
	for _, name := range ctx.Snap.Resources {
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			continue
		}
		if n.device == "" || name == n.resource {
			n.device = name
		}
	}
	if len(n.place) != len(n.all) || (len(n.all) > 0 && n.hasUnplaced()) {
		names := make([]string, len(n.all))
		for i, row := range n.all {
			names[i] = row.Name
		}
		hostlist.SortNames(names)
		n.place = make(map[string]int, len(names))
		for i, name := range names {
			n.place[name] = i
		}
		n.labels.evaluateLabels(n.all)
	}
	n.fitColumns()
	usecolumn.AdaptColumns(n.table.Columns, ctx.Snap.Usage, (*snapshot.Usage).OfNode)
	usecolumn.AdaptColumns(n.pods.Columns, ctx.Snap.Usage, (*snapshot.Usage).OfPod)
}

// hasUnplaced reports whether a node has no position yet.
func (n *Nodes) hasUnplaced() bool {
	return slices.ContainsFunc(n.all, func(row *node) bool { _, known := n.place[row.Name]; return !known })
}

// rankState returns the sort key of a state. Nodes on which a job is most likely to start come first, unusable ones
// last.
func rankState(state nodecapacity.State) int {
	switch state {
	case nodecapacity.StateIdle:
		return 0
	case nodecapacity.StateMixed:
		return 1
	case nodecapacity.StateDraining, nodecapacity.StateDrained:
		return 2
	case nodecapacity.StateFull:
		return 3
	}
	return 4
}

// compareByIdle compares nodes by state, by the idle amount of the shown resource, and by name.
func (n *Nodes) compareByIdle(a, b *node) int {
	return cmp.Or(cmp.Compare(rankState(a.State), rankState(b.State)), cmp.Compare(n.idleAmount(b), n.idleAmount(a)), cmp.Compare(n.place[a.Name], n.place[b.Name]))
}

func (n *Nodes) idleAmount(row *node) int64 {
	used, has := noderow.UsedAmount(row, n.resource)
	return has - used
}

func (n *Nodes) setPods(ctx *screenapi.Context) {
	var pods []*snapshot.Pod
	if row := n.selectedNode(); row != nil {
		pods = row.Pods
	}
	n.pods.SetRows(ctx, pods, false)
}

// selectedNode returns the node under the cursor, or nil.
func (n *Nodes) selectedNode() *node {
	if n.heat != nil {
		for _, row := range n.shown {
			if row.Name == n.heat.selectedCellID() {
				return row
			}
		}
		return nil
	}
	if row, ok := n.table.Selected(); ok && !n.table.IsLingering(row) {
		return row
	}
	return nil
}

// SetFilter applies a filter.
func (n *Nodes) SetFilter(ctx *screenapi.Context, text string) error {
	parsed, err := fields.Parse(text)
	if err != nil {
		return err
	}
	n.text, n.filter = text, parsed
	before := n.table.CursorID()
	n.refreshRows(ctx, false)
	n.table.GoHomeIfLost(before)
	return nil
}

// FilterKeys returns the keys that a filter can contain, such as st: and gpu>=.
func (n *Nodes) FilterKeys() []string { return fields.FilterKeys() }

// Matches returns the number of visible nodes and the number of all nodes.
func (n *Nodes) Matches(*screenapi.Context) (shown, all int) { return len(n.shown), len(n.all) }

// fields defines the filter keys of nodes.
var fields = filter.Fields[*node]{
	Words: []filter.Word[*node]{
		{Key: "node", Also: []string{"name"}, Of: func(r *node, to []string) []string { return append(to, r.Name) }},
		{Key: "st", Also: []string{"state"}, Of: appendStateNames},
		{Key: "rack", Of: func(r *node, to []string) []string { return append(to, r.Rack) }},
		{Key: "pool", Of: func(r *node, to []string) []string { return append(to, r.Pool) }},
		{Key: "hypernode", Also: []string{"hn"}, Of: func(r *node, to []string) []string { return append(to, r.HyperNodes...) }},
		{Key: "job", Of: func(r *node, to []string) []string { return append(to, jobsOnNode(r)...) }},
		{Key: "taint", Of: func(r *node, to []string) []string { return append(to, r.Taints...) }},
		{Key: "label", Of: func(r *node, to []string) []string {
			for name, value := range r.Labels {
				to = append(to, name+"="+value)
			}
			return to
		}},
	},
	Numbers: []filter.Number[*node]{
		{Key: "gpu", Also: []string{"idle", "free"}, Of: ifUsable(idleDevices)},
		{Key: "cpu", Of: ifUsable(func(r *node) float64 { return float64(r.Idle.MilliCPU) / 1000 })},
		{Key: "mem", Also: []string{"memory"}, Of: ifUsable(func(r *node) float64 { return float64(r.Idle.MemoryBytes) / (1 << 30) })},
		{Key: "pods", Of: func(r *node) float64 { return float64(len(r.Pods)) }},
	},
	Text: func(r *node, to []string) []string {
		return append(appendStateNames(r, append(to, r.Name, r.Rack, r.Pool)), r.HyperNodes...)
	},
}

// appendStateNames appends the names of a node's state in all vocabularies.
func appendStateNames(r *node, to []string) []string {
	return append(to, noderow.StateTextOf(r, screenapi.KubernetesWords), noderow.StateTextOf(r, screenapi.SlurmWords))
}

// ifUsable returns the idle amount of a node, or 0 if jobs cannot use it, because the node is cordoned or down.
func ifUsable(idle func(*node) float64) func(*node) float64 {
	return func(r *node) float64 {
		switch r.State {
		case nodecapacity.StateDraining, nodecapacity.StateDrained, nodecapacity.StateDown:
			return 0
		}
		return idle(r)
	}
}

// idleDevices returns the number of idle devices of a node.
func idleDevices(r *node) float64 {
	sum := int64(0)
	for _, amount := range r.Idle.Devices {
		sum += amount
	}
	return float64(sum)
}

// Escape leaves the heat map. Without a heat map, it leaves the table of pods, or clears marks.
func (n *Nodes) Escape() bool {
	switch {
	case n.heat != nil:
		n.leaveHeat()
		return true
	case n.inPods:
		n.inPods = false
		return true
	}
	return n.table.Escape()
}

// Twin returns the list in the format of `vcctl node list`, with the state added.
func (n *Nodes) Twin(ctx *screenapi.Context) string {
	var text strings.Builder
	if err := n.textTable(ctx).Fprint(&text); err != nil || len(n.all) == 0 {
		return "No nodes.\n"
	}
	return text.String()
}

// jobsOnNode returns the jobs that have pods on a node, by number, or by name if they have no number.
func jobsOnNode(row *node) []string {
	var jobs []string
	for _, p := range row.Pods {
		if p.Job == "" {
			continue
		}
		if name := cmp.Or(p.JobID, p.Job); !slices.Contains(jobs, name) {
			jobs = append(jobs, name)
		}
	}
	return jobs
}

func countWithNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", widget.FormatCount(n), noun)
}
