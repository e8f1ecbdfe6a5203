package noderow

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
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

// Offered returns the groupings that are possible for these nodes, in the order in which "g" cycles through them.
// Flat is always the last one.
func Offered(nodes []*snapshot.Node) []By {
	var all []By
	for _, by := range []By{ByHyperNode, ByRack, ByPool} {
		for _, n := range nodes {
			if Group(n, by) != "" {
				all = append(all, by)
				break
			}
		}
	}
	return append(all, Flat)
}

// Group returns the name of a node's group, or "".
func Group(n *snapshot.Node, by By) string {
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

// Groups returns the nodes as groups for a heat map, in natural order. Nodes that have no group come last.
func Groups(nodes []*snapshot.Node, by By, resource corev1.ResourceName) []widget.HeatGroup {
	cells := map[string][]widget.HeatCell{}
	var names []string
	for _, n := range nodes {
		name := Group(n, by)
		if cells[name] == nil && name != "" {
			names = append(names, name)
		}
		cells[name] = append(cells[name], Cell(n, resource))
	}
	hostlist.Sort(names)
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

// Cell returns the heat map cell of a node: the level at which a resource is used, or a letter if the node accepts no
// pods.
func Cell(n *snapshot.Node, resource corev1.ResourceName) widget.HeatCell {
	cell := widget.HeatCell{ID: n.Name}
	switch n.State {
	case nodecapacity.StateDown:
		cell.Sign, cell.Style = 'X', theme.Failed
	case nodecapacity.StateDrained, nodecapacity.StateDraining:
		cell.Sign, cell.Style = 'D', theme.Warn
	default:
		used, has := Use(n, resource)
		cell.Level = widget.HeatLevel(float64(used), float64(has))
		if n.Unknown {
			cell.Sign, cell.Style = '?', theme.Dim
		}
	}
	return cell
}

// Use returns the used and the total amount of a resource on a node. For the resource "pods", it returns the number
// of pods.
func Use(n *snapshot.Node, resource corev1.ResourceName) (used, has int64) {
	if resource == corev1.ResourcePods {
		return int64(len(n.Pods)), n.PodLimit
	}
	return n.Used.Of(resource), n.Has.Of(resource)
}

// Legend explains the cells of a heat map.
func Legend(resource string, g theme.Glyphs) string {
	text := resource + " in use:  ' '0"
	for i, what := range []string{"<25%", "<50%", "<100%", "full"} {
		text += "  " + string(g.Heat[i+1]) + what
	}
	return text + "  D drain  X down"
}

// Totals returns the allocatable amounts of all nodes, and the idle amounts of the nodes that accept pods. A negative
// idle amount counts as zero.
func Totals(nodes []*snapshot.Node) (has, idle nodecapacity.Amounts) {
	for _, n := range nodes {
		has.Add(n.Has, 1)
		if !Takes(n) {
			continue
		}
		left := nodecapacity.Amounts{MilliCPU: max(n.Idle.MilliCPU, 0), MemoryBytes: max(n.Idle.MemoryBytes, 0), Devices: map[corev1.ResourceName]int64{}}
		for name, amount := range n.Idle.Devices {
			left.Devices[name] = max(amount, 0)
		}
		idle.Add(left, 1)
	}
	return has, idle
}

// Takes reports whether a node accepts new pods.
func Takes(n *snapshot.Node) bool {
	return n.State != nodecapacity.StateDown && n.State != nodecapacity.StateDrained && n.State != nodecapacity.StateDraining
}

// State returns the state of a node as shown by `vcctl node list`, or "?" if it is unknown how much of the node is
// used.
func State(n *snapshot.Node) string {
	if n.Unknown && Takes(n) {
		return "?"
	}
	return string(n.State)
}

// Counts holds the number of nodes in each state. Unknown counts nodes of which it is unknown how much is used.
type Counts struct{ All, Full, Mixed, Idle, Drain, Down, Unknown int }

// Count counts nodes by state. Draining and drained nodes are counted together.
func Count(nodes []*snapshot.Node) Counts {
	c := Counts{All: len(nodes)}
	for _, n := range nodes {
		if n.Unknown && Takes(n) {
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

// Free returns the folded names of the nodes that have no pods of jobs.
func Free(nodes []*snapshot.Node) string {
	var names []string
	for _, n := range nodes {
		if n.State == nodecapacity.StateIdle && !n.Unknown {
			names = append(names, n.Name)
		}
	}
	hostlist.Sort(names)
	return hostlist.Compress(names)
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

// Short returns a node's name without its domain. It does not shorten IP addresses.
func Short(name string) string {
	first, rest, ok := strings.Cut(name, ".")
	if !ok || strings.ContainsAny(rest, "0123456789") && strings.Trim(first, "0123456789") == "" {
		return name
	}
	return first
}
