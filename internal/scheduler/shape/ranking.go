package shape

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/score"
)

// View is a way to rank the nodes for a shape other than all together.
type View struct {
	// Groups splits the nodes; nil: they are one group.
	Groups *Groups
	// Bars keeps the shape off a node, for a reason that changes only along with the
	// node's room or with Stamp; nil: off none. later as in Judge.Ranking.
	Bars  func(id model.NodeID, later bool) bool
	Stamp uint64
}

// Groups splits the nodes by rank. It is not changed once it is made.
type Groups struct {
	of, leaf []int32   // by rank: the group, and the number in it
	ranks    [][]int32 // by group, ascending
	cells    int       // of all tournaments together
}

// NewGroups makes groups of nodes: of has the group of every rank, 0 to count-1.
func NewGroups(of []int32, count int) *Groups {
	g := &Groups{of: of, leaf: make([]int32, len(of)), ranks: make([][]int32, count)}
	for rank, group := range of {
		g.leaf[rank] = int32(len(g.ranks[group]))
		g.ranks[group] = append(g.ranks[group], int32(rank))
	}
	for _, ranks := range g.ranks {
		g.cells += 2 * rounded(len(ranks))
	}
	return g
}

// Ranking holds the nodes for one shape as tournaments, one a group: leaves are
// scores by the node's rank.
type Ranking struct {
	aspect
	groups   *Groups // nil: one
	trees    []tournament
	cells    []int32
	static   *static
	request  score.Request
	position int64  // of the change log, replayed up to here
	epoch    uint64 // of the overlay's set of nodes
	version  uint64 // of the static part
	stamp    uint64 // of the view
	used     uint64 // last use, to forget the least recently used
}

// Ranking brings the ranking of a shape up to date. later: by the room that will
// be, not by what is idle.
func (j *Judge) Ranking(s *model.Shape, later bool, view *View) *Ranking {
	if s.Plain != nil { // what a pod attaches is not judged here
		s = s.Plain
	}
	j.clock++
	key := aspect{s, later, view}
	r := j.rankings[key]
	if r == nil {
		j.forget()
		r = &Ranking{aspect: key}
		j.rankings[key] = r
	}
	r.used = j.clock
	if st := r.static; st == nil || st.epoch != j.overlay.Epoch || j.overlay.LabelsChanged > st.labeled {
		r.static = j.static(s)
	}
	if r.stale(j.overlay.Epoch) || !j.replay(r) {
		j.build(r)
	}
	return r
}

// stale says whether more than single nodes changed.
func (r *Ranking) stale(epoch uint64) bool {
	return r.trees == nil || r.epoch != epoch || r.version != r.static.version ||
		r.view != nil && (r.stamp != r.view.Stamp || r.groups != r.view.Groups)
}

// replay judges the nodes that changed; false: the log does not reach back so far.
func (j *Judge) replay(r *Ranking) bool {
	end := j.overlay.Changes.End()
	if r.position == end {
		return true
	}
	// Many changes are dearer one by one up the tree than the whole tree once.
	bulk := end-r.position > int64(len(r.cells)/64)
	replayed := j.overlay.Changes.Since(r.position, func(id model.NodeID) {
		rank := j.overlay.Rank[id]
		tree, leaf := r.place(rank)
		if value := j.judge(r, rank, id); bulk {
			tree.put(leaf, value)
		} else {
			tree.set(leaf, value)
		}
	})
	if replayed && bulk {
		r.decide()
	}
	r.position = end
	return replayed
}

// place is where a node is: its tournament and its leaf there.
func (r *Ranking) place(rank int32) (*tournament, int) {
	if r.groups == nil {
		return &r.trees[0], int(rank)
	}
	return &r.trees[r.groups.of[rank]], int(r.groups.leaf[rank])
}

// Groups is the number of groups.
func (r *Ranking) Groups() int { return len(r.trees) }

// Top is the highest score in a group; false when none of its nodes fits.
func (r *Ranking) Top(group int) (points int32, ok bool) {
	points = r.trees[group].top()
	return points, points != unfit
}

// First is the rank of the first node in a group that has the highest score.
func (r *Ranking) First(group int) int32 {
	leaf := r.trees[group].first()
	if r.groups == nil {
		return int32(leaf)
	}
	return r.groups.ranks[group][leaf]
}

func (r *Ranking) decide() {
	for i := range r.trees {
		r.trees[i].decide()
	}
}

// judge gives a node's whole score.
func (j *Judge) judge(r *Ranking, rank int32, id model.NodeID) int32 {
	points := r.static.points[rank]
	switch {
	case points == unfit:
		return unfit
	case !r.later && !j.Filters.Dynamic(j.overlay, id, r.shape):
		return unfit
	case r.later && !j.Filters.Later(j.overlay, id, r.shape):
		return unfit
	case r.view != nil && r.view.Bars != nil && r.view.Bars(id, r.later):
		return unfit
	}
	return points + j.Weights.Dynamic(j.overlay, id, &r.request)
}

// build judges every node.
func (j *Judge) build(r *Ranking) {
	o := j.overlay
	r.request = j.Weights.Prepare(j.resources, r.shape) // names may have come up since
	r.plant(len(o.Order))
	for rank, id := range o.Order {
		tree, leaf := r.place(int32(rank))
		tree.put(leaf, j.judge(r, int32(rank), id))
	}
	r.decide()
	r.position, r.epoch, r.version = o.Changes.End(), o.Epoch, r.static.version
}

// plant makes the empty tournaments.
func (r *Ranking) plant(nodes int) {
	r.groups, r.stamp = nil, 0
	cells, count := 2*rounded(nodes), 1
	if r.view != nil {
		r.groups, r.stamp = r.view.Groups, r.view.Stamp
	}
	if r.groups != nil {
		cells, count = r.groups.cells, len(r.groups.ranks)
	}
	if cap(r.cells) < cells {
		r.cells = make([]int32, cells)
	}
	r.cells = r.cells[:cells]
	r.trees = r.trees[:0]
	if r.groups == nil {
		r.trees = append(r.trees, over(r.cells, nodes))
		return
	}
	rest := r.cells
	for group := range count {
		n := len(r.groups.ranks[group])
		r.trees = append(r.trees, over(rest[:2*rounded(n)], n))
		rest = rest[2*rounded(n):]
	}
}
