package session

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// splitExpensive separates the rules whose Allows is expensive. These are called after all other rules, for
// candidates in descending order of points. If points depend on the set of candidates, every rule must be called
// before points are added, so no rule is separated.
func splitExpensive(rules []framework.NodeRule, j *framework.Job, t *model.Task) (cheap, expensive []framework.NodeRule) {
	for i := range rules {
		if rules[i].Expensive != nil && rules[i].Expensive(j, t) {
			expensive = append(expensive, rules[i])
			continue
		}
		if rules[i].Rank != nil {
			return rules, nil
		}
		cheap = append(cheap, rules[i])
	}
	return cheap, expensive
}

// mightAllow is a quick check before expensive rules are evaluated.
func mightAllow(expensive []framework.NodeRule, j *framework.Job, t *model.Task, id model.NodeID, later bool) bool {
	for i := range expensive {
		if expensive[i].MightAllow != nil && !expensive[i].MightAllow(j, t, id, later) {
			return false
		}
	}
	return true
}

// firstAllowed evaluates the expensive rules for the candidates until all rules allow one. It visits the candidates
// by descending points and, among equal points, in their order. It changes the order of nodes and points.
func firstAllowed(expensive []framework.NodeRule, j *framework.Job, t *model.Task, nodes []model.NodeID, points []float64, later bool) (model.NodeID, bool) {
	h := candidates{nodes: nodes, points: points, order: make([]int32, len(nodes))}
	for i := range h.order {
		h.order[i] = int32(i)
	}
	for i := len(nodes)/2 - 1; i >= 0; i-- {
		h.siftDown(i)
	}
	for len(h.nodes) > 0 {
		if code, _ := checkRules(expensive, j, t, h.nodes[0], later); code == "" {
			return h.nodes[0], true
		}
		last := len(h.nodes) - 1
		h.swap(0, last)
		h.nodes, h.points, h.order = h.nodes[:last], h.points[:last], h.order[:last]
		h.siftDown(0)
	}
	return model.NoNode, false
}

// candidates is a heap. The candidate with the most points comes first; among equal points, the candidate with the
// lowest index.
type candidates struct {
	nodes  []model.NodeID
	points []float64
	order  []int32
}

func (h *candidates) ranksBefore(i, k int) bool {
	return h.points[i] > h.points[k] || (h.points[i] == h.points[k] && h.order[i] < h.order[k])
}

func (h *candidates) swap(i, k int) {
	h.nodes[i], h.nodes[k] = h.nodes[k], h.nodes[i]
	h.points[i], h.points[k] = h.points[k], h.points[i]
	h.order[i], h.order[k] = h.order[k], h.order[i]
}

func (h *candidates) siftDown(i int) {
	for {
		best := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.nodes); child++ {
			if h.ranksBefore(child, best) {
				best = child
			}
		}
		if best == i {
			return
		}
		h.swap(i, best)
		i = best
	}
}
