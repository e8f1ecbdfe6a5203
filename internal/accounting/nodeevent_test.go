package accounting

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEventsOfNodesFollowFromTheirChanges(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	at := func(hours int) time.Time { return begin.Add(time.Duration(hours) * time.Hour) }
	change := func(node string, hours int, state NodeState, reason string) NodeChange {
		return NodeChange{Cluster: "prod", Node: node, Time: at(hours), State: state, Reason: reason}
	}
	changes := []NodeChange{
		change("a", 0, NodeUp, ""), change("a", 1, NodeDown, "NotReady"), change("a", 2, NodeDown, "NotReady"), // the capacity changed
		change("a", 3, NodeDown, "Unknown"), change("a", 5, NodeUp, ""), change("a", 6, NodeDrained, "Cordoned"),
		change("b", 2, NodeDrained, "Cordoned"), change("b", 4, NodeGone, ""),
		change("c", 1, NodeUp, ""), change("d", 7, NodeDown, "NotReady"),
	}
	event := func(node string, start, end int, state NodeState, reason string) NodeEvent {
		e := NodeEvent{Cluster: "prod", Node: node, Start: at(start), State: state, Reason: reason}
		if end > 0 {
			e.End = at(end)
		}
		return e
	}
	notReady, unknown := event("a", 1, 3, NodeDown, "NotReady"), event("a", 3, 5, NodeDown, "Unknown")
	drained, removed, last := event("a", 6, 0, NodeDrained, "Cordoned"), event("b", 2, 4, NodeDrained, "Cordoned"), event("d", 7, 0, NodeDown, "NotReady")
	for name, c := range map[string]struct {
		query NodeEventQuery
		want  []NodeEvent
	}{
		"all":                   {NodeEventQuery{}, []NodeEvent{notReady, unknown, drained, removed, last}},
		"one node":              {NodeEventQuery{Nodes: []string{"b", "z"}}, []NodeEvent{removed}},
		"one state":             {NodeEventQuery{States: []NodeState{NodeDrained}}, []NodeEvent{drained, removed}},
		"those that end later":  {NodeEventQuery{From: at(3)}, []NodeEvent{unknown, drained, removed, last}},
		"those that begin soon": {NodeEventQuery{To: at(3)}, []NodeEvent{notReady, removed}},
		"an hour":               {NodeEventQuery{From: at(5), To: at(6)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, NodeEvents(changes, c.query)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
