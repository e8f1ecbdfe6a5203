package accounting

import (
	"slices"
	"time"
)

// NodeEvent is a time during which no more pods could start on a node, because it was down or drained.
type NodeEvent struct {
	Cluster, Node string
	// Start is the beginning of the event. End is its end, or zero if the event has not ended.
	Start, End time.Time
	State      NodeState
	// Reason is the reason of the state, for example NodeStatusUnknown. It may be empty.
	Reason string
}

// NodeEventQuery selects events of nodes. An empty list selects all values.
type NodeEventQuery struct {
	Clusters, Nodes []string
	States          []NodeState
	// From and To select the events that overlap the time from From until To. A zero time is no limit.
	From, To time.Time
}

// selects reports whether the query selects an event, ignoring its cluster.
func (q *NodeEventQuery) selects(e *NodeEvent) bool {
	hasNode := len(q.Nodes) == 0 || slices.Contains(q.Nodes, e.Node)
	hasState := len(q.States) == 0 || slices.Contains(q.States, e.State)
	if !hasNode || !hasState {
		return false
	}
	hasBegun := q.To.IsZero() || e.Start.Before(q.To)
	return hasBegun && (e.End.IsZero() || e.End.After(q.From))
}

// NodeEvents returns the selected events that follow from changes, ordered by cluster, node and start. The changes are
// ordered by CompareNodeChanges. An event ends when the state or its reason changes, and when the node is removed. An event
// that began before the first change of its node begins with that change.
func NodeEvents(changes []NodeChange, query NodeEventQuery) []NodeEvent {
	var events []NodeEvent
	var open *NodeEvent // the event of the current node that has not ended yet
	end := func(at time.Time) {
		if open == nil {
			return
		}
		if open.End = at; query.selects(open) {
			events = append(events, *open)
		}
		open = nil
	}
	for i := range changes {
		c := &changes[i]
		isOther := open != nil && (open.Cluster != c.Cluster || open.Node != c.Node)
		switch {
		case isOther:
			end(time.Time{})
		case open != nil && open.State == c.State && open.Reason == c.Reason:
			continue
		default:
			end(c.Time)
		}
		if c.State == NodeDown || c.State == NodeDrained {
			open = &NodeEvent{Cluster: c.Cluster, Node: c.Node, Start: c.Time, State: c.State, Reason: c.Reason}
		}
	}
	end(time.Time{})
	return events
}
