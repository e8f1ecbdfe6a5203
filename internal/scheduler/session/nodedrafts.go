package session

import "github.com/vc-batch/vc/internal/model"

// NodeDrafts keeps what a policy makes of a node, for those that it is asked
// about, and lets a cycle change it: what is drafted is thrown away with the
// cycle. The zero value is ready.
type NodeDrafts[T any] struct {
	cluster *model.Cluster
	rows    []draft[T] // by model.NodeID
	touched []model.NodeID
}

// draft is a node's; made is the generation of the node's row that it is from.
type draft[T any] struct {
	value   *T // nil: not looked at yet
	made    uint64
	touched bool
}

// Open forgets what the last cycle tried, and everything when the cluster is
// another one; then it returns true.
func (d *NodeDrafts[T]) Open(s *Session) (another bool) {
	if d.cluster != s.Cluster {
		*d = NodeDrafts[T]{cluster: s.Cluster}
		return true
	}
	for _, id := range d.touched {
		d.rows[id] = draft[T]{}
	}
	d.touched = d.touched[:0]
	return false
}

// At is a node's draft; load makes it where the model has changed since.
func (d *NodeDrafts[T]) At(id model.NodeID, load func(model.NodeID) *T) *T {
	for len(d.rows) <= int(id) {
		d.rows = append(d.rows, draft[T]{})
	}
	r := &d.rows[id]
	if now := d.cluster.Nodes.Changed[id]; r.value == nil || !r.touched && r.made != now {
		r.value, r.made = load(id), now
	}
	return r.value
}

// Change is At for a node that the cycle is about to try something on.
func (d *NodeDrafts[T]) Change(id model.NodeID, load func(model.NodeID) *T) *T {
	value := d.At(id, load)
	if r := &d.rows[id]; !r.touched {
		r.touched = true
		d.touched = append(d.touched, id)
	}
	return value
}
