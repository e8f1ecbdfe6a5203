package shape

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/fit"
	"github.com/vc-batch/vc/internal/scheduler/score"
)

// static is what of a shape's judgement does not depend on what runs: all
// rankings of the shape share it.
type static struct {
	points  []int32 // by rank: unfit, or the static part of the score
	epoch   uint64  // of the overlay's set of nodes
	labeled uint64  // model generation it was made at
	version uint64  // changes when points of nodes did that were not relabeled
	prefers bool    // a term is normalised over all nodes
	holders []int32 // nodes that have each of the shape's images
}

// static brings the shape's static part up to date.
func (j *Judge) static(s *model.Shape) *static {
	if s.Plain != nil { // what a pod attaches is not judged here
		s = s.Plain
	}
	st := j.statics[s]
	if st == nil {
		st = &static{}
		j.statics[s] = st
	}
	switch {
	case st.points == nil || st.epoch != j.overlay.Epoch:
		j.buildStatic(s, st)
	case j.overlay.LabelsChanged > st.labeled:
		j.relabel(s, st)
	}
	return st
}

// relabel judges the nodes whose labels changed, or all when they are measured by
// each other.
func (j *Judge) relabel(s *model.Shape, st *static) {
	for rank, id := range j.overlay.Order {
		if j.overlay.Nodes.Labeled[id] <= st.labeled {
			continue
		}
		// A preference may have come up that all nodes are measured by.
		if st.prefers || !st.sameHolders(s, j.overlay.Nodes.ImageNodes) || fit.Intolerable(s, j.overlay.Nodes.Info[id]) > 0 {
			j.buildStatic(s, st)
			return
		}
		st.points[rank] = j.judgeStatic(s, id)
	}
	st.labeled = j.overlay.Labeled()
}

// judgeStatic is the static score of a node for a shape without preferences.
func (j *Judge) judgeStatic(s *model.Shape, id model.NodeID) int32 {
	info := j.overlay.Nodes.Info[id]
	if code, _ := j.Filters.Static(s, info); code != "" {
		return unfit
	}
	return j.images(s, info) + score.Normalise(0, 0, j.Weights.Taints, true)
}

// buildStatic judges all nodes, normalising preferences over those that pass the
// static filters.
func (j *Judge) buildStatic(s *model.Shape, st *static) {
	o := j.overlay
	if cap(st.points) < len(o.Order) {
		st.points = make([]int32, len(o.Order))
	}
	st.points = st.points[:len(o.Order)]
	st.epoch, st.labeled = o.Epoch, o.Labeled()
	st.holders = st.holders[:0]
	for _, name := range s.Images {
		st.holders = append(st.holders, o.Nodes.ImageNodes[name])
	}
	st.version++
	var mostPreferred, mostTaints int64
	for rank, id := range o.Order {
		st.points[rank] = j.judgeStatic(s, id)
		if st.points[rank] != unfit {
			preferred, taints := preferences(s, o.Nodes.Info[id])
			mostPreferred, mostTaints = max(mostPreferred, preferred), max(mostTaints, taints)
		}
	}
	st.prefers = s.Preferred != nil || mostTaints > 0
	if !st.prefers {
		return
	}
	for rank, id := range o.Order {
		if st.points[rank] == unfit {
			continue
		}
		info := o.Nodes.Info[id]
		preferred, taints := preferences(s, info)
		st.points[rank] = j.images(s, info) +
			score.Normalise(preferred, mostPreferred, j.Weights.NodeAffinity, false) +
			score.Normalise(taints, mostTaints, j.Weights.Taints, true)
	}
}

// sameHolders says whether the shape's images are on as many nodes as they were.
func (st *static) sameHolders(s *model.Shape, now map[string]int32) bool {
	for i, name := range s.Images {
		if now[name] != st.holders[i] {
			return false
		}
	}
	return true
}

func (j *Judge) images(s *model.Shape, info *model.NodeInfo) int32 {
	return j.Weights.Images(s, info, j.overlay.Nodes.ImageNodes, len(j.overlay.Order))
}

func preferences(s *model.Shape, info *model.NodeInfo) (preferred, taints int64) {
	if s.Preferred != nil {
		preferred = s.Preferred.Score(info.Node)
	}
	return preferred, int64(fit.Intolerable(s, info))
}
