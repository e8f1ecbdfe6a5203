// Package shape judges equal requests once: for every shape it keeps the nodes
// that fit in order of their score, and replays only what changed since.
//
//	In:   place.Overlay and its change log, fit.Filters, score.Weights
//	Out:  the best node for a shape, now
//
// # Invariants
//
//   - Best is the node with the highest score among those that pass every filter; the first by name among equals.
//   - A Ranking that has replayed the log gives what a new one would give.
package shape

import (
	"math/bits"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/fit"
	"github.com/vc-batch/vc/internal/scheduler/place"
	"github.com/vc-batch/vc/internal/scheduler/score"
)

// unfit marks a node that does not fit.
const unfit = int32(-1)

// Ranking is a tournament over the nodes for one shape: leaves are scores by the
// node's rank, every inner value is the greater of its two children.
type Ranking struct {
	Shape *model.Shape

	tree     []int32
	leaves   int
	static   []int32 // by rank: unfit, or the static part of the score
	request  score.Request
	position int64  // of the change log, replayed up to here
	epoch    uint64 // of the overlay's set of nodes
	labeled  uint64 // model generation the static part was made at
	used     uint64 // last use, to forget the least recently used
	prefers  bool   // a static term is normalised over all nodes
	later    bool   // judged by the room that will be, not by what is idle
}

// Judge holds what all rankings share.
type Judge struct {
	Filters fit.Filters
	Weights score.Weights

	overlay   *place.Overlay
	resources *model.Resources
	// by shape: [0] by what is idle, [1] by what will be.
	rankings [2]map[*model.Shape]*Ranking
	clock    uint64
}

// maxTreeBytes bounds the memory of all rankings together.
const maxTreeBytes = 96 << 20

// Open makes the judge look at an overlay.
func (j *Judge) Open(o *place.Overlay, resources *model.Resources, shapes []*model.Shape) {
	j.overlay, j.resources = o, resources
	for i := range j.rankings {
		if j.rankings[i] == nil {
			j.rankings[i] = map[*model.Shape]*Ranking{}
		}
		if len(j.rankings[i]) <= len(shapes)/2+64 {
			continue
		}
		for s := range j.rankings[i] {
			if int(s.ID) >= len(shapes) || shapes[s.ID] != s {
				delete(j.rankings[i], s)
			}
		}
	}
}

// Best returns the best node for a shape, false when it fits nowhere now.
func (j *Judge) Best(s *model.Shape) (model.NodeID, bool) { return j.best(j.ranking(s, false)) }

func (j *Judge) best(r *Ranking) (model.NodeID, bool) {
	if len(j.overlay.Order) == 0 || r.tree[1] == unfit {
		return model.NoNode, false
	}
	i := 1
	for i < r.leaves {
		i *= 2
		if r.tree[i] < r.tree[i+1] {
			i++
		}
	}
	return j.overlay.Order[i-r.leaves], true
}

// Allowed says whether the static filters let the shape onto a node.
func (j *Judge) Allowed(s *model.Shape, id model.NodeID) bool {
	rank := j.overlay.Rank[id]
	return rank >= 0 && j.ranking(s, false).static[rank] != unfit
}

// Possible says whether the shape could run on some node if it were empty.
func (j *Judge) Possible(s *model.Shape) bool {
	r := j.ranking(s, false)
	for rank, id := range j.overlay.Order {
		if r.static[rank] != unfit && j.overlay.Roomy(id, s.Request) {
			return true
		}
	}
	return false
}

// BestLater returns the best node whose room will do once what is being released
// is free.
func (j *Judge) BestLater(s *model.Shape) (model.NodeID, bool) { return j.best(j.ranking(s, true)) }

// Each visits the nodes that fit now (later: once what is being released is
// free), by name, with their scores.
func (j *Judge) Each(s *model.Shape, later bool, visit func(id model.NodeID, points int32)) {
	r := j.ranking(s, later)
	for rank, id := range j.overlay.Order {
		if v := r.tree[r.leaves+rank]; v != unfit {
			visit(id, v)
		}
	}
}

// ranking brings the shape's ranking up to date.
func (j *Judge) ranking(s *model.Shape, later bool) *Ranking {
	j.clock++
	of := j.rankings[which(later)]
	r := of[s]
	if r == nil {
		j.forget()
		r = &Ranking{Shape: s, later: later}
		of[s] = r
	}
	r.used = j.clock
	if r.epoch != j.overlay.Epoch || r.tree == nil {
		j.build(r)
		return r
	}
	if r.position == j.overlay.Changes.End() {
		return r
	}
	stale := false
	relabeled := j.overlay.LabelsChanged > r.labeled
	// Many changes are dearer one by one up the tree than the whole tree once.
	bulk := j.overlay.Changes.End()-r.position > int64(r.leaves/32)
	replayed := j.overlay.Changes.Since(r.position, func(id model.NodeID) {
		rank := j.overlay.Rank[id]
		if relabeled && j.overlay.Nodes.Labeled[id] > r.labeled {
			if r.prefers {
				stale = true
				return
			}
			r.static[rank] = j.judgeStatic(r, id)
			// A preference may have come up that all nodes are measured by.
			stale = stale || fit.Intolerable(s, j.overlay.Nodes.Info[id]) > 0
		}
		if value := j.judge(r, rank, id); bulk {
			r.tree[r.leaves+int(rank)] = value
		} else {
			r.set(int(rank), value)
		}
	})
	if !replayed || stale {
		j.build(r)
		return r
	}
	if bulk {
		r.decide()
	}
	r.position = j.overlay.Changes.End()
	r.labeled = max(r.labeled, j.overlay.Labeled())
	return r
}

// decide computes every inner value from the leaves.
func (r *Ranking) decide() {
	for i := r.leaves - 1; i >= 1; i-- {
		r.tree[i] = max(r.tree[2*i], r.tree[2*i+1])
	}
}

func which(later bool) int {
	if later {
		return 1
	}
	return 0
}

// forget drops the ranking that was not used for longest when there are too many.
func (j *Judge) forget() {
	each := 12*len(j.overlay.Order) + 1
	if n := len(j.rankings[0]) + len(j.rankings[1]); n < 8 || n*each < maxTreeBytes {
		return
	}
	var oldest *Ranking
	for i := range j.rankings {
		for _, r := range j.rankings[i] {
			if oldest == nil || r.used < oldest.used {
				oldest = r
			}
		}
	}
	delete(j.rankings[which(oldest.later)], oldest.Shape)
}

// judge gives a node's whole score.
func (j *Judge) judge(r *Ranking, rank int32, id model.NodeID) int32 {
	switch {
	case r.static[rank] == unfit:
		return unfit
	case !r.later && !j.Filters.Dynamic(j.overlay, id, r.Shape):
		return unfit
	case r.later && !j.Filters.Later(j.overlay, id, r.Shape):
		return unfit
	}
	return r.static[rank] + j.Weights.Dynamic(j.overlay, id, &r.request)
}

// build judges every node.
func (j *Judge) build(r *Ranking) {
	o := j.overlay
	n := len(o.Order)
	r.leaves = 1 << bits.Len(uint(max(n-1, 0)))
	if cap(r.tree) < 2*r.leaves {
		r.tree = make([]int32, 2*r.leaves)
	}
	r.tree = r.tree[:2*r.leaves]
	for i := range r.tree {
		r.tree[i] = unfit
	}
	if cap(r.static) < n {
		r.static = make([]int32, n)
	}
	r.static = r.static[:n]
	r.request = j.Weights.Prepare(j.resources, r.Shape) // names may have come up since
	r.labeled = o.Labeled()
	j.buildStatic(r)
	for rank, id := range o.Order {
		r.tree[r.leaves+rank] = j.judge(r, int32(rank), id)
	}
	r.decide()
	r.position = o.Changes.End()
	r.epoch = o.Epoch
}

// set changes a leaf and what it decides.
func (r *Ranking) set(rank int, value int32) {
	i := r.leaves + rank
	if r.tree[i] == value {
		return
	}
	r.tree[i] = value
	for i /= 2; i >= 1; i /= 2 {
		best := max(r.tree[2*i], r.tree[2*i+1])
		if r.tree[i] == best {
			return
		}
		r.tree[i] = best
	}
}

// judgeStatic is the static score of a node for a shape without preferences.
func (j *Judge) judgeStatic(r *Ranking, id model.NodeID) int32 {
	info := j.overlay.Nodes.Info[id]
	if code, _ := j.Filters.Static(r.Shape, info); code != "" {
		return unfit
	}
	return j.Weights.Images(r.Shape, info) + score.Normalise(0, 0, j.Weights.Taints, true)
}

// buildStatic fills the static part, normalising preferences over the nodes that
// pass the static filters.
func (j *Judge) buildStatic(r *Ranking) {
	o := j.overlay
	var mostPreferred, mostTaints int64
	for rank, id := range o.Order {
		r.static[rank] = j.judgeStatic(r, id)
		if r.static[rank] != unfit {
			preferred, taints := preferences(r.Shape, o.Nodes.Info[id])
			mostPreferred, mostTaints = max(mostPreferred, preferred), max(mostTaints, taints)
		}
	}
	r.prefers = r.Shape.Preferred != nil || mostTaints > 0
	if !r.prefers {
		return
	}
	for rank, id := range o.Order {
		if r.static[rank] == unfit {
			continue
		}
		info := o.Nodes.Info[id]
		preferred, taints := preferences(r.Shape, info)
		r.static[rank] = j.Weights.Images(r.Shape, info) +
			score.Normalise(preferred, mostPreferred, j.Weights.NodeAffinity, false) +
			score.Normalise(taints, mostTaints, j.Weights.Taints, true)
	}
}

func preferences(s *model.Shape, info *model.NodeInfo) (preferred, taints int64) {
	if s.Preferred != nil {
		preferred = s.Preferred.Score(info.Node)
	}
	return preferred, int64(fit.Intolerable(s, info))
}
