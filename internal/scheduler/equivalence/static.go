package equivalence

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/fit"
	"github.com/vc-batch/vc/internal/scheduler/score"
)

// static holds the part of a shape's evaluation that does not depend on running pods. All rankings of a shape use it.
type static struct {
	points  []int32 // static part of the score of each node, or unfit, by rank
	epoch   uint64  // epoch of the overlay's node set
	labeled uint64  // model generation at which it was computed
	version uint64  // changes when the score of a node changes although its labels did not
	prefers bool    // some term of the score is normalised over all nodes
	holders []int32 // for each image of the shape, the number of nodes that have it
}

// loadStatic returns the up-to-date static part of a shape's evaluation.
func (j *Judge) loadStatic(s *model.Shape) *static {
	if s.Plain != nil { // volumes and devices are not evaluated in this package
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
		j.updateRelabeled(s, st)
	}
	return st
}

// updateRelabeled re-evaluates the nodes whose labels changed, or all nodes if their scores depend on one another.
func (j *Judge) updateRelabeled(s *model.Shape, st *static) {
	for rank, id := range j.overlay.Order {
		if j.overlay.Nodes.Labeled[id] <= st.labeled {
			continue
		}
		// If a preference starts to matter, the scores of all nodes may have to be normalised again.
		if st.prefers || !st.hasSameHolders(s, j.overlay.Nodes.ImageNodes) || fit.CountUntolerated(s, j.overlay.Nodes.Info[id]) > 0 {
			j.buildStatic(s, st)
			return
		}
		st.points[rank] = j.judgeStatic(s, id)
	}
	st.labeled = j.overlay.LabelGeneration()
}

// judgeStatic returns the static score of a node for a shape that has no preferences.
func (j *Judge) judgeStatic(s *model.Shape, id model.NodeID) int32 {
	info := j.overlay.Nodes.Info[id]
	if code, _ := j.Filters.CheckStatic(s, info); code != "" {
		return unfit
	}
	return j.imageScore(s, info) + score.NormaliseScore(0, 0, j.Weights.Taints, true)
}

// buildStatic evaluates all nodes. It normalises the preference scores over the nodes that pass the static filters.
func (j *Judge) buildStatic(s *model.Shape, st *static) {
	o := j.overlay
	if cap(st.points) < len(o.Order) {
		st.points = make([]int32, len(o.Order))
	}
	st.points = st.points[:len(o.Order)]
	st.epoch, st.labeled = o.Epoch, o.LabelGeneration()
	st.holders = st.holders[:0]
	for _, name := range s.Images {
		st.holders = append(st.holders, o.Nodes.ImageNodes[name])
	}
	st.version++
	var mostPreferred, mostTaints int64
	for rank, id := range o.Order {
		st.points[rank] = j.judgeStatic(s, id)
		if st.points[rank] != unfit {
			preferred, taints := rawPreferences(s, o.Nodes.Info[id])
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
		preferred, taints := rawPreferences(s, info)
		st.points[rank] = j.imageScore(s, info) +
			score.NormaliseScore(preferred, mostPreferred, j.Weights.NodeAffinity, false) +
			score.NormaliseScore(taints, mostTaints, j.Weights.Taints, true)
	}
}

// hasSameHolders reports whether, for each image of the shape, the number of nodes that have it is unchanged.
func (st *static) hasSameHolders(s *model.Shape, now map[string]int32) bool {
	for i, name := range s.Images {
		if now[name] != st.holders[i] {
			return false
		}
	}
	return true
}

func (j *Judge) imageScore(s *model.Shape, info *model.NodeInfo) int32 {
	return j.Weights.ScoreImages(s, info, j.overlay.Nodes.ImageNodes, len(j.overlay.Order))
}

func rawPreferences(s *model.Shape, info *model.NodeInfo) (preferred, taints int64) {
	if s.Preferred != nil {
		preferred = s.Preferred.Score(info.Node)
	}
	return preferred, int64(fit.CountUntolerated(s, info))
}
