package nodecache

import "github.com/vc-batch/vc/internal/model"

// Drafts caches a policy's data about the nodes that the policy evaluates, and allows temporary changes during a
// cycle. Changes are dropped when the next cycle opens. The zero value is ready to use.
type Drafts[T any] struct {
	cluster *model.Cluster
	rows    []draft[T] // by model.NodeID
	touched []model.NodeID
}

// draft is the data about one node. made is the generation of the node's row from which the data was computed.
type draft[T any] struct {
	value   *T // nil if not computed yet
	made    uint64
	touched bool
}

// Open drops the changes made in the last cycle. If the cluster is a different one, it drops everything and returns
// true.
func (d *Drafts[T]) Open(cluster *model.Cluster) (another bool) {
	if d.cluster != cluster {
		*d = Drafts[T]{cluster: cluster}
		return true
	}
	for _, id := range d.touched {
		d.rows[id] = draft[T]{}
	}
	d.touched = d.touched[:0]
	return false
}

// GetOrLoad returns a node's data. It calls load if there is no data yet or the node has changed since.
func (d *Drafts[T]) GetOrLoad(id model.NodeID, load func(model.NodeID) *T) *T {
	for len(d.rows) <= int(id) {
		d.rows = append(d.rows, draft[T]{})
	}
	r := &d.rows[id]
	if now := d.cluster.Nodes.Changed[id]; r.value == nil || (!r.touched && r.made != now) {
		r.value, r.made = load(id), now
	}
	return r.value
}

// GetForChange is like GetOrLoad, for a node whose data the cycle is about to change.
func (d *Drafts[T]) GetForChange(id model.NodeID, load func(model.NodeID) *T) *T {
	value := d.GetOrLoad(id, load)
	if r := &d.rows[id]; !r.touched {
		r.touched = true
		d.touched = append(d.touched, id)
	}
	return value
}
