// Package nodecache caches what policies compute about single nodes. Table holds a value for each node and keeps it
// up to date with the model. Drafts holds values for the nodes that a policy evaluates, and allows temporary changes
// during a cycle.
package nodecache

import "github.com/vc-batch/vc/internal/model"

// Table keeps a value per node up to date with the model. The cost of an update is proportional to the number of
// changed nodes. The zero value is ready to use. A policy may keep a table between cycles, because its content
// depends only on the model.
type Table[T any] struct {
	// Values is indexed by model.NodeID. Rows that are not alive have the zero value.
	Values []T

	cluster *model.Cluster
	seen    uint64
}

// Update reads the values of all nodes whose labels, annotations, amounts, tasks or load may have changed. It calls
// changed, if not nil, for every row that was read.
func (t *Table[T]) Update(cluster *model.Cluster, read func(model.NodeID) T, changed func(id model.NodeID, old, now T)) {
	n := &cluster.Nodes
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
	fresh := t.cluster != cluster
	if fresh {
		t.cluster, t.Values = cluster, nil
	}
	for len(t.Values) < n.Len() {
		var none T
		t.Values = append(t.Values, none)
	}
	if fresh || !cluster.NodesSince(t.seen, one) {
		for id := range t.Values {
			one(model.NodeID(id))
		}
	}
	t.seen = cluster.Gen()
}
