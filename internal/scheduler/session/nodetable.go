package session

import "github.com/vc-batch/vc/internal/model"

// NodeTable keeps a value per node up to date with the model, at a cost proportional to the changed nodes. The zero
// value is ready to use. A policy may keep a table between cycles, because its content depends only on the model.
type NodeTable[T any] struct {
	// Values is indexed by model.NodeID. Rows that are not alive have the zero value.
	Values []T

	cluster *model.Cluster
	seen    uint64
}

// Update reads the values that may have changed: labels, annotations, amounts, tasks, load. It calls changed, if
// not nil, for every row that was read.
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
