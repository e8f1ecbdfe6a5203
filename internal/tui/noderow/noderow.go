package noderow

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/room"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// By is what nodes are put together by.
type By string

// The groupings.
const (
	ByRack      By = "rack"
	ByPool      By = "pool"
	ByHyperNode By = "hypernode"
	Flat        By = "flat"
)

// Offered are the groupings that say something of these nodes, in the order in which
// "g" goes through them; Flat is always the last.
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

// Group is the name of the group that a node is in; "" is none.
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

// Groups are the nodes as groups of a heat map, in the order of people; nodes that are
// in no group come last.
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

// Cell is a node in a heat map: how much of a resource is in use, or a letter when it
// takes no pods.
func Cell(n *snapshot.Node, resource corev1.ResourceName) widget.HeatCell {
	cell := widget.HeatCell{ID: n.Name}
	switch n.State {
	case room.StateDown:
		cell.Sign, cell.Style = 'X', theme.Failed
	case room.StateDrained, room.StateDraining:
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

// Use is what of a resource is in use on a node, and what it has; pods are counted.
func Use(n *snapshot.Node, resource corev1.ResourceName) (used, has int64) {
	if resource == corev1.ResourcePods {
		return int64(len(n.Pods)), n.PodLimit
	}
	return n.Used.Of(resource), n.Has.Of(resource)
}

// Legend says what the cells of a heat map of a resource mean.
func Legend(resource string, g theme.Glyphs) string {
	text := resource + " in use:  ' '0"
	for i, what := range []string{"<25%", "<50%", "<100%", "full"} {
		text += "  " + string(g.Heat[i+1]) + what
	}
	return text + "  D drain  X down"
}

// Totals are what all nodes have, and what of it could be had: idle on nodes that take
// pods. A node on which more is asked for than there is counts as one without anything idle.
func Totals(nodes []*snapshot.Node) (has, idle room.Amounts) {
	for _, n := range nodes {
		has.Add(n.Has, 1)
		if !Takes(n) {
			continue
		}
		left := room.Amounts{MilliCPU: max(n.Idle.MilliCPU, 0), MemoryBytes: max(n.Idle.MemoryBytes, 0), Devices: map[corev1.ResourceName]int64{}}
		for name, amount := range n.Idle.Devices {
			left.Devices[name] = max(amount, 0)
		}
		idle.Add(left, 1)
	}
	return has, idle
}

// Takes says whether new pods may come to a node.
func Takes(n *snapshot.Node) bool {
	return n.State != room.StateDown && n.State != room.StateDrained && n.State != room.StateDraining
}

// State is how a node stands, in a word: that of `vcctl node list`, and "?" when nobody may see what is in use on it.
func State(n *snapshot.Node) string {
	if n.Unknown && Takes(n) {
		return "?"
	}
	return string(n.State)
}

// Counts is how many nodes are in each state; Unknown are those of which nobody may see what is in use on them.
type Counts struct{ All, Full, Mixed, Idle, Drain, Down, Unknown int }

// Count counts nodes by state; those that drain and those that are drained are one.
func Count(nodes []*snapshot.Node) Counts {
	c := Counts{All: len(nodes)}
	for _, n := range nodes {
		if n.Unknown && Takes(n) {
			c.Unknown++
			continue
		}
		switch n.State {
		case room.StateFull:
			c.Full++
		case room.StateMixed:
			c.Mixed++
		case room.StateIdle:
			c.Idle++
		case room.StateDrained, room.StateDraining:
			c.Drain++
		case room.StateDown:
			c.Down++
		}
	}
	return c
}

// Free is the names of the nodes on which no job has a pod, folded.
func Free(nodes []*snapshot.Node) string {
	var names []string
	for _, n := range nodes {
		if n.State == room.StateIdle && !n.Unknown {
			names = append(names, n.Name)
		}
	}
	hostlist.Sort(names)
	return hostlist.Compress(names)
}

// StateStyle is what a node's state looks like.
func StateStyle(state room.State) canvas.Style {
	switch state {
	case room.StateDown:
		return theme.Failed
	case room.StateDrained, room.StateDraining:
		return theme.Warn
	case room.StateFull, room.StateMixed:
		return theme.Running
	}
	return theme.Plain
}

// Short is a node's name without its domain, where that says nothing; an address is left whole.
func Short(name string) string {
	first, rest, ok := strings.Cut(name, ".")
	if !ok || strings.ContainsAny(rest, "0123456789") && strings.Trim(first, "0123456789") == "" {
		return name
	}
	return first
}
