package session

import "github.com/vc-batch/vc/internal/model"

// NodeTable keeps a value a node in step with the model, at the cost of the nodes
// that changed. The zero value is ready. A policy may keep one between cycles:
// what is in it follows from the model alone.
type NodeTable[T any] struct {
	// Values by model.NodeID; of rows that are not alive the zero value.
	Values []T

	cluster *model.Cluster
	seen    uint64
}

// Update reads anew what may have changed: labels, annotations, amounts, tasks,
// load. changed, if any, hears of every row that was read.
func (t *NodeTable[T]) Update(s *Session, read func(model.NodeID) T, changed func(id model.NodeID, old, now T)) {
	n := &s.Cluster.Nodes
	one := func(id model.NodeID) {
		var now T
		if n.Alive[id] {
			now = read(id)
		}
		old := t.Values[id]
		t.Values[id] = now
		if changed != nil {
			changed(id, old, now)
		}
	}
	fresh := t.cluster != s.Cluster
	if fresh {
		t.cluster, t.Values = s.Cluster, nil
	}
	for len(t.Values) < n.Len() {
		var none T
		t.Values = append(t.Values, none)
	}
	if fresh || !s.Cluster.NodesSince(t.seen, one) {
		for id := range t.Values {
			one(model.NodeID(id))
		}
	}
	t.seen = s.Cluster.Gen()
}
