package noderow

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// By is a way to group nodes.
type By string

// The available groupings.
const (
	ByRack      By = "rack"
	ByPool      By = "pool"
	ByHyperNode By = "hypernode"
	Flat        By = "flat"
)

// OfferedGroupings returns the groupings that are possible for these nodes, in the order in which "g" cycles through
// them. Flat is always the last one.
func OfferedGroupings(nodes []*snapshot.Node) []By {
	var all []By
	for _, by := range []By{ByHyperNode, ByRack, ByPool} {
		for _, n := range nodes {
			if GroupNameOf(n, by) != "" {
				all = append(all, by)
				break
			}
		}
	}
	return append(all, Flat)
}

// GroupNameOf returns the name of a node's group, or "".
func GroupNameOf(n *snapshot.Node, by By) string {
	switch by {
	case ByRack:
		return n.Rack
	case ByPool:
		return n.Pool
	case ByHyperNode:
		if len(n.HyperNodes) > 0 {
			return n.HyperNodes[0]
		}
	}
	return ""
}

// SortByGroup returns the nodes in the order of their groups, and within a group in natural order. Nodes that have no
// group come last.
func SortByGroup(nodes []*snapshot.Node) []*snapshot.Node {
	by := OfferedGroupings(nodes)[0]
	return slices.SortedStableFunc(slices.Values(nodes), func(a, b *snapshot.Node) int {
		groupA, groupB := GroupNameOf(a, by), GroupNameOf(b, by)
		switch {
		case groupA == groupB:
			return render.CompareNatural(a.Name, b.Name)
		case groupA == "":
			return 1
		case groupB == "":
			return -1
		}
		return cmp.Or(render.CompareNatural(groupA, groupB), strings.Compare(groupA, groupB))
	})
}

// HeatGroups returns the nodes as groups for a heat map, in natural order. Nodes that have no group come last.
func HeatGroups(nodes []*snapshot.Node, by By, resource corev1.ResourceName) []widget.HeatGroup {
	cells := map[string][]widget.HeatCell{}
	var names []string
	for _, n := range nodes {
		name := GroupNameOf(n, by)
		if cells[name] == nil && name != "" {
			names = append(names, name)
		}
		cells[name] = append(cells[name], HeatCellOf(n, resource))
	}
	hostlist.SortNames(names)
	if cells[""] != nil {
		names = append(names, "")
	}
	groups := make([]widget.HeatGroup, len(names))
	for i, name := range names {
		groups[i] = widget.HeatGroup{Name: name, Cells: cells[name]}
		if name == "" && len(names) > 1 {
			groups[i].Name = "others"
		}
	}
	return groups
}

// HeatCellOf returns the heat map cell of a node: the level at which a resource is used, a letter if the node accepts no
// pods, or a dash if the node has none of the resource.
func HeatCellOf(n *snapshot.Node, resource corev1.ResourceName) widget.HeatCell {
	cell := widget.HeatCell{ID: n.Name}
	switch n.State {
	case nodecapacity.StateDown:
		cell.Sign, cell.Style = 'X', theme.Failed
	case nodecapacity.StateDrained, nodecapacity.StateDraining:
		cell.Sign, cell.Style = 'D', theme.Warn
	default:
		used, has := UsedAmount(n, resource)
		cell.Level = widget.HeatLevel(float64(used), float64(has))
		switch {
		case has == 0:
			cell.Sign, cell.Style = '-', theme.Dim
		case n.Unknown:
			cell.Sign, cell.Style = '?', theme.Dim
		}
	}
	return cell
}

// UsedAmount returns the used and the total amount of a resource on a node. For the resource "pods", it returns the
// number of pods.
func UsedAmount(n *snapshot.Node, resource corev1.ResourceName) (used, has int64) {
	if resource == corev1.ResourcePods {
		return int64(len(n.Pods)), n.PodLimit
	}
	return n.Used.AmountOfResource(resource), n.Has.AmountOfResource(resource)
}

// DrawHeatLegend explains the cells of a heat map, in their colours. It returns the column after the legend.
func DrawHeatLegend(c canvas.Canvas, x, y int, resource string, t *theme.Theme) int {
	x = c.Put(x, y, resource+" in use:", theme.Dim)
	for i, level := range []string{"0", "<25%", "<50%", "<100%", "full"} {
		x = c.PutRune(x+2, y, t.Glyphs.Heat[i], theme.Heat0+canvas.Style(i))
		x = c.Put(x, y, level, theme.Dim)
	}
	for _, sign := range []struct {
		sign  rune
		style canvas.Style
		text  string
	}{{'-', theme.Dim, " no " + resource}, {'D', theme.Warn, " drain"}, {'X', theme.Failed, " down"}} {
		x = c.PutRune(x+2, y, sign.sign, sign.style)
		x = c.Put(x, y, sign.text, theme.Dim)
	}
	return x
}

// GroupCells returns one heat map cell per group of nodes, with the level at which the group uses a resource. The ID of a
// cell is a filter for the nodes of the group, for example rack=r01. Nodes without a group are in no cell.
func GroupCells(nodes []*snapshot.Node, by By, resource corev1.ResourceName) widget.HeatGroup {
	members := map[string][]*snapshot.Node{}
	var names []string
	for _, n := range nodes {
		name := GroupNameOf(n, by)
		if name == "" {
			continue
		}
		if members[name] == nil {
			names = append(names, name)
		}
		members[name] = append(members[name], n)
	}
	hostlist.SortNames(names)
	cells := make([]widget.HeatCell, len(names))
	for i, name := range names {
		cells[i] = groupCell(members[name], resource)
		cells[i].ID = string(by) + "=" + name
	}
	return widget.HeatGroup{Cells: cells}
}

// groupCell returns the heat map cell of a group. Only nodes that accept pods count; if there are none, the cell has the
// letter of the first node.
func groupCell(nodes []*snapshot.Node, resource corev1.ResourceName) widget.HeatCell {
	var used, has int64
	accepting := 0
	for _, n := range nodes {
		if AcceptsPods(n) {
			u, h := UsedAmount(n, resource)
			used, has = used+u, has+h
			accepting++
		}
	}
	switch {
	case accepting == 0, nodes[0].Unknown:
		return HeatCellOf(nodes[0], resource)
	case has == 0:
		return widget.HeatCell{Sign: '-', Style: theme.Dim}
	}
	return widget.HeatCell{Level: widget.HeatLevel(float64(used), float64(has))}
}

// TotalAmount returns the total and the idle amount of one resource over all nodes, which may be the resource "pods". Only
// nodes that accept pods have idle amounts.
func TotalAmount(nodes []*snapshot.Node, resource corev1.ResourceName) (has, idle int64) {
	for _, n := range nodes {
		used, total := UsedAmount(n, resource)
		has += total
		if AcceptsPods(n) {
			idle += max(total-used, 0)
		}
	}
	return has, idle
}

// AcceptsPods reports whether a node accepts new pods.
func AcceptsPods(n *snapshot.Node) bool {
	return n.State != nodecapacity.StateDown && n.State != nodecapacity.StateDrained && n.State != nodecapacity.StateDraining
}

// StateTextOf returns the state of a node, in whole words or with sinfo's names. It returns "?" if it is unknown how much
// of the node is used.
func StateTextOf(n *snapshot.Node, words screenapi.Vocabulary) string {
	switch {
	case n.Unknown && AcceptsPods(n):
		return "?"
	case words == screenapi.SlurmWords:
		return string(n.State)
	}
	return stateWords[n.State]
}

// stateWords maps sinfo's names of states to whole words.
var stateWords = map[nodecapacity.State]string{
	nodecapacity.StateIdle: "idle", nodecapacity.StateMixed: "mixed", nodecapacity.StateFull: "full",
	nodecapacity.StateDraining: "draining", nodecapacity.StateDrained: "drained", nodecapacity.StateDown: "down",
}

// Counts holds the number of nodes in each state. Unknown counts nodes of which it is unknown how much is used.
type Counts struct{ All, Full, Mixed, Idle, Drain, Down, Unknown int }

// CountByState counts nodes by state. Draining and drained nodes are counted together.
func CountByState(nodes []*snapshot.Node) Counts {
	c := Counts{All: len(nodes)}
	for _, n := range nodes {
		if n.Unknown && AcceptsPods(n) {
			c.Unknown++
			continue
		}
		switch n.State {
		case nodecapacity.StateFull:
			c.Full++
		case nodecapacity.StateMixed:
			c.Mixed++
		case nodecapacity.StateIdle:
			c.Idle++
		case nodecapacity.StateDrained, nodecapacity.StateDraining:
			c.Drain++
		case nodecapacity.StateDown:
			c.Down++
		}
	}
	return c
}

// FreeNodes are the nodes that have a resource and no pods of jobs.
type FreeNodes struct {
	Count int
	Names string // folded, for example r01n[01-04]
}

// FindFreeNodes returns the free nodes that have a resource.
func FindFreeNodes(nodes []*snapshot.Node, resource corev1.ResourceName) FreeNodes {
	var names []string
	for _, n := range nodes {
		_, has := UsedAmount(n, resource)
		if n.State == nodecapacity.StateIdle && !n.Unknown && has > 0 {
			names = append(names, n.Name)
		}
	}
	hostlist.SortNames(names)
	return FreeNodes{len(names), hostlist.CompressNames(names)}
}

// StateStyle returns the style of a node's state.
func StateStyle(state nodecapacity.State) canvas.Style {
	switch state {
	case nodecapacity.StateDown:
		return theme.Failed
	case nodecapacity.StateDrained, nodecapacity.StateDraining:
		return theme.Warn
	case nodecapacity.StateFull, nodecapacity.StateMixed:
		return theme.Running
	}
	return theme.Plain
}

// ShortNodeName returns a node's name without its domain. It does not shorten IP addresses.
func ShortNodeName(name string) string {
	first, rest, ok := strings.Cut(name, ".")
	if !ok || (strings.ContainsAny(rest, "0123456789") && strings.Trim(first, "0123456789") == "") {
		return name
	}
	return first
}
