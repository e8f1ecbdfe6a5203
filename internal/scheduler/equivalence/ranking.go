package equivalence

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/score"
)

// View modifies how the nodes are ranked for a shape.
type View struct {
	// Groups splits the nodes; nil for a single group.
	Groups *Groups
	// Bars reports whether a node is excluded; nil excludes no node. Its result for a node may change only if the
	// node's resources or Stamp change. For the meaning of later, see Judge.RankingFor.
	Bars  func(id model.NodeID, later bool) bool
	Stamp uint64
}

// Groups splits the nodes into groups. It is immutable.
type Groups struct {
	of, leaf []int32   // by rank: the node's group, and its index within the group
	ranks    [][]int32 // for each group, the ranks of its nodes in ascending order
	cells    int       // total number of cells of all tournaments
}

// NewGroups returns a grouping of nodes. of holds the group number of every rank, from 0 to count-1.
func NewGroups(of []int32, count int) *Groups {
	g := &Groups{of: of, leaf: make([]int32, len(of)), ranks: make([][]int32, count)}
	for rank, group := range of {
		g.leaf[rank] = int32(len(g.ranks[group]))
		g.ranks[group] = append(g.ranks[group], int32(rank))
	}
	for _, ranks := range g.ranks {
		g.cells += 2 * leafCount(len(ranks))
	}
	return g
}

// Ranking ranks the nodes for one shape. It has one tournament per group, whose leaves are the scores in the order of
// the nodes' ranks.
type Ranking struct {
	aspect
	groups   *Groups // nil for a single group
	trees    []tournament
	cells    []int32
	static   *static
	request  score.Request
	position int64  // position in the change log up to which changes have been replayed
	epoch    uint64 // epoch of the overlay's node set
	version  uint64 // version of the static part
	stamp    uint64 // stamp of the view
	used     uint64 // time of last use, to find the least recently used ranking
}

// RankingFor returns the up-to-date ranking for a shape. If later is true, it ranks by the resources that will be free
// once pending releases finish; otherwise it ranks by idle resources.
func (j *Judge) RankingFor(s *model.Shape, later bool, view *View) *Ranking {
	if s.Plain != nil { // volumes and devices are not evaluated in this package
		s = s.Plain
	}
	j.clock++
	key := aspect{s, later, view}
	r := j.rankings[key]
	if r == nil {
		j.dropOldestRanking()
		r = &Ranking{aspect: key}
		j.rankings[key] = r
	}
	r.used = j.clock
	if st := r.static; st == nil || st.epoch != j.overlay.Epoch || j.overlay.LabelsChanged > st.labeled {
		r.static = j.loadStatic(s)
	}
	if r.needsRebuild(j.overlay.Epoch) || !j.replayChanges(r) {
		j.buildRanking(r)
	}
	return r
}

// needsRebuild reports whether the whole ranking must be rebuilt, because more than individual nodes changed.
func (r *Ranking) needsRebuild(epoch uint64) bool {
	if r.trees == nil || r.epoch != epoch || r.version != r.static.version {
		return true
	}
	return r.view != nil && (r.stamp != r.view.Stamp || r.groups != r.view.Groups)
}

// replayChanges re-evaluates the nodes that changed. It returns false if the change log does not reach back far enough.
func (j *Judge) replayChanges(r *Ranking) bool {
	end := j.overlay.Changes.EndPosition()
	if r.position == end {
		return true
	}
	// For many changes, recomputing the whole tree is cheaper than updating the path of each leaf.
	bulk := end-r.position > int64(len(r.cells)/64)
	replayed := j.overlay.Changes.EachChangedSince(r.position, func(id model.NodeID) {
		rank := j.overlay.Rank[id]
		tree, leaf := r.findLeaf(rank)
		if value := j.scoreNode(r, rank, id); bulk {
			tree.storeLeaf(leaf, value)
		} else {
			tree.setLeaf(leaf, value)
		}
	})
	if replayed && bulk {
		r.updateMaximums()
	}
	r.position = end
	return replayed
}

// findLeaf returns the tournament that contains a node, and the index of the node's leaf.
func (r *Ranking) findLeaf(rank int32) (*tournament, int) {
	if r.groups == nil {
		return &r.trees[0], int(rank)
	}
	return &r.trees[r.groups.of[rank]], int(r.groups.leaf[rank])
}

// GroupCount returns the number of groups.
func (r *Ranking) GroupCount() int { return len(r.trees) }

// TopScore returns the highest score in a group. It returns false if no node of the group fits.
func (r *Ranking) TopScore(group int) (points int32, ok bool) {
	points = r.trees[group].topValue()
	return points, points != unfit
}

// FirstTopRank returns the rank of the first node with the highest score in a group.
func (r *Ranking) FirstTopRank(group int) int32 {
	leaf := r.trees[group].firstMaximum()
	if r.groups == nil {
		return int32(leaf)
	}
	return r.groups.ranks[group][leaf]
}

func (r *Ranking) updateMaximums() {
	for i := range r.trees {
		r.trees[i].updateMaximums()
	}
}

// scoreNode returns a node's total score, or unfit.
func (j *Judge) scoreNode(r *Ranking, rank int32, id model.NodeID) int32 {
	points := r.static.points[rank]
	switch {
	case points == unfit:
		return unfit
	case !r.later && !j.Filters.FitsNow(j.overlay, id, r.shape):
		return unfit
	case r.later && !j.Filters.FitsLater(j.overlay, id, r.shape):
		return unfit
	case r.view != nil && r.view.Bars != nil && r.view.Bars(id, r.later):
		return unfit
	}
	return points + j.Weights.DynamicScore(j.overlay, id, &r.request)
}

// buildRanking evaluates every node.
func (j *Judge) buildRanking(r *Ranking) {
	o := j.overlay
	r.request = j.Weights.PrepareRequest(j.resources, r.shape) // new resource names may have appeared
	r.allocateTrees(len(o.Order))
	for rank, id := range o.Order {
		tree, leaf := r.findLeaf(int32(rank))
		tree.storeLeaf(leaf, j.scoreNode(r, int32(rank), id))
	}
	r.updateMaximums()
	r.position, r.epoch, r.version = o.Changes.EndPosition(), o.Epoch, r.static.version
}

// allocateTrees allocates empty tournaments.
func (r *Ranking) allocateTrees(nodes int) {
	r.groups, r.stamp = nil, 0
	cells, count := 2*leafCount(nodes), 1
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
		r.trees = append(r.trees, newTournament(r.cells, nodes))
		return
	}
	rest := r.cells
	for group := range count {
		n := len(r.groups.ranks[group])
		r.trees = append(r.trees, newTournament(rest[:2*leafCount(n)], n))
		rest = rest[2*leafCount(n):]
	}
}
