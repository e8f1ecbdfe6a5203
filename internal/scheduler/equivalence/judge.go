// Package equivalence finds the best node for pods that schedule alike. A shape is the part of a pod that decides
// where the pod may run; all pods of one shape form an equivalence class. For every shape, the package keeps the
// suitable nodes ordered by score, and re-evaluates only the nodes that changed.
//
//	In:   overlay.Overlay and its change log, fit.Filters, score.Weights
//	Out:  the current best node for a shape
//
// # Invariants
//
//   - BestNode is the node with the highest score among the nodes that pass every filter. Among nodes with equal scores,
//     it is the first by name.
//   - A ranking whose changes from the change log have been replayed equals a newly built one.
package equivalence

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/fit"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
	"github.com/vc-batch/vc/internal/scheduler/score"
)

// Judge evaluates nodes for shapes. It holds the state that all rankings share.
type Judge struct {
	Filters fit.Filters
	Weights score.Weights

	overlay   *overlay.Overlay
	resources *resource.Names
	statics   map[*model.Shape]*static
	rankings  map[aspect]*Ranking
	clock     uint64
}

// aspect is the key under which a ranking is stored.
type aspect struct {
	shape *model.Shape
	later bool  // use Future instead of Idle resources
	view  *View // nil: evaluate only resources and score
}

// maxTreeBytes limits the total memory of all rankings.
const maxTreeBytes = 96 << 20

// Open prepares the judge for a cycle on an overlay. It drops cached results of shapes that no longer exist.
func (j *Judge) Open(o *overlay.Overlay, resources *resource.Names, shapes []*model.Shape) {
	j.overlay, j.resources = o, resources
	if j.rankings == nil {
		j.rankings, j.statics = map[aspect]*Ranking{}, map[*model.Shape]*static{}
	}
	if max(len(j.rankings)/2, len(j.statics)) <= len(shapes)/2+64 {
		return
	}
	dead := func(s *model.Shape) bool { return int(s.ID) >= len(shapes) || shapes[s.ID] != s }
	for a := range j.rankings {
		if dead(a.shape) {
			delete(j.rankings, a)
		}
	}
	for s := range j.statics {
		if dead(s) {
			delete(j.statics, s)
		}
	}
}

// BestNode returns the best node for a shape. It returns false if no node can take a pod of the shape now.
func (j *Judge) BestNode(s *model.Shape) (model.NodeID, bool) {
	return j.firstBestNode(j.RankingFor(s, false, nil))
}

// BestNodeLater returns the best node for a shape, counting resources that are being released as free.
func (j *Judge) BestNodeLater(s *model.Shape) (model.NodeID, bool) {
	return j.firstBestNode(j.RankingFor(s, true, nil))
}

func (j *Judge) firstBestNode(r *Ranking) (model.NodeID, bool) {
	if len(j.overlay.Order) == 0 || r.trees[0].topValue() == unfit {
		return model.NoNode, false
	}
	return j.overlay.Order[r.trees[0].firstMaximum()], true
}

// IsAllowed reports whether the static filters permit pods of the shape on a node.
func (j *Judge) IsAllowed(s *model.Shape, id model.NodeID) bool {
	rank := j.overlay.Rank[id]
	return rank >= 0 && j.loadStatic(s).points[rank] != unfit
}

// FitsEmptyNode reports whether a pod of the shape could run on some node if that node were empty.
func (j *Judge) FitsEmptyNode(s *model.Shape) bool {
	points := j.loadStatic(s).points
	for rank, id := range j.overlay.Order {
		if points[rank] != unfit && j.overlay.FitsWhenEmpty(id, s.Request) {
			return true
		}
	}
	return false
}

// EachFitting calls visit for each node that fits, in order of names, with the node's score. If later is true, it
// counts resources that are being released as free.
func (j *Judge) EachFitting(s *model.Shape, later bool, visit func(id model.NodeID, points int32)) {
	j.EachBetter(s, later, func(id model.NodeID, points int32) int32 {
		visit(id, points)
		return unfit
	})
}

// EachBetter is like EachFitting, but visit returns a score, and from then on only nodes with a higher score are
// visited.
func (j *Judge) EachBetter(s *model.Shape, later bool, visit func(id model.NodeID, points int32) (best int32)) {
	if len(j.overlay.Order) == 0 {
		return
	}
	r := j.RankingFor(s, later, nil)
	r.trees[0].eachAbove(unfit, func(rank int, points int32) int32 { return visit(j.overlay.Order[rank], points) })
}

// dropOldestRanking drops the least recently used ranking if the rankings use too much memory.
func (j *Judge) dropOldestRanking() {
	each := 12*len(j.overlay.Order) + 1
	if n := len(j.rankings); n < 8 || n*each < maxTreeBytes {
		return
	}
	var oldest aspect
	least := j.clock
	for a, r := range j.rankings {
		if r.used < least {
			oldest, least = a, r.used
		}
	}
	delete(j.rankings, oldest)
	if !oldest.later && oldest.view == nil {
		delete(j.statics, oldest.shape)
	}
}
