package interpod

import (
	"math"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/score"
)

// candidates holds suitable nodes, or the first node of each suitable group.
type candidates struct {
	nodes  []model.NodeID
	points []float64 // in units of score.Unit
	groups []int     // group numbers, if the nodes stand for groups
	raw    []float64
	skip   []bool
}

func (c *candidates) clearNodes() {
	c.nodes, c.points, c.groups = c.nodes[:0], c.points[:0], c.groups[:0]
}

// BestNode returns the best node for a task of the profile. It returns false if the task fits on no node. If later is
// true, resources that are being released count as free.
func (p *Profile) BestNode(later bool) (model.NodeID, bool) {
	p.updateLayout()
	if p.own.problem != "" {
		return model.NoNode, false
	}
	if p.layout.byNode {
		return p.bestByNode(later)
	}
	return p.bestByGroup(later)
}

func (p *Profile) bestByNode(later bool) (model.NodeID, bool) {
	c := &p.counts.candidates
	c.clearNodes()
	free, hasRules := p.startsAffinity(), len(p.all.affinity)+len(p.all.anti)+len(p.all.hard) > 0
	p.counts.judge.EachFitting(p.shape, later, func(id model.NodeID, points int32) {
		if !hasRules || p.all.permitsNode(id, later, free) {
			c.nodes, c.points = append(c.nodes, id), append(c.points, float64(points))
		}
	})
	if len(c.nodes) == 0 {
		return model.NoNode, false
	}
	p.AddPoints(c.nodes, c.points)
	best := 0
	for i := range c.points {
		if c.points[i] > c.points[best] {
			best = i
		}
	}
	return c.nodes[best], true
}

func (p *Profile) bestByGroup(later bool) (model.NodeID, bool) {
	c, counts := &p.counts.candidates, p.counts
	if len(counts.view.Order) == 0 {
		return model.NoNode, false
	}
	c.clearNodes()
	r := counts.judge.RankingFor(p.shape, later, &p.view)
	for group := range r.GroupCount() {
		points, ok := r.TopScore(group)
		if !ok {
			continue
		}
		first := counts.view.Order[0]
		if g := p.layout.groups; g != nil {
			first = g.first[group]
		}
		if p.coarse.permitsNode(first, later, p.layout.free) {
			c.nodes, c.points, c.groups = append(c.nodes, first), append(c.points, float64(points)), append(c.groups, group)
		}
	}
	if len(c.nodes) == 0 {
		return model.NoNode, false
	}
	p.AddPoints(c.nodes, c.points)
	best, rank := -math.MaxFloat64, int32(math.MaxInt32)
	for i, points := range c.points {
		if points < best {
			continue
		}
		if at := r.FirstTopRank(c.groups[i]); points > best || at < rank {
			best, rank = points, at
		}
	}
	return counts.view.Order[rank], true
}

// AddPoints adds points for preferred affinity and soft spread constraints to the candidates' points, in units of
// score.Unit. Like kube-scheduler, it scales the raw values of all candidates to the range 0 to 100 and rounds down.
func (p *Profile) AddPoints(nodes []model.NodeID, points []float64) {
	c, w := &p.counts.candidates, &p.counts.judge.Weights
	for len(c.raw) < len(nodes) {
		c.raw, c.skip = append(c.raw, 0), append(c.skip, false)
	}
	if w.PodAffinity != 0 && len(p.own.prefers)+len(p.pulls) > 0 {
		p.addAffinityPoints(nodes, points, c.raw[:len(nodes)], w.PodAffinity)
	}
	if w.Spread != 0 && len(p.own.soft) > 0 {
		p.addSpreadPoints(nodes, points, w.Spread)
	}
}

func (p *Profile) addAffinityPoints(nodes []model.NodeID, points, raw []float64, weight float64) {
	least, most := math.Inf(1), math.Inf(-1)
	for i, id := range nodes {
		sum := int64(0)
		for k := range p.own.prefers {
			w := &p.own.prefers[k]
			if d := w.tally.top.domain[id]; d != none {
				sum += int64(w.weight) * int64(w.tally.here[d])
			}
		}
		for _, t := range p.pulls {
			if d := t.top.domain[id]; d != none {
				sum += int64(t.here[d])
			}
		}
		raw[i] = float64(sum)
		least, most = min(least, raw[i]), max(most, raw[i])
	}
	if most <= least {
		return
	}
	for i := range raw {
		points[i] += score.Unit * weight * math.Trunc(100*((raw[i]-least)/(most-least)))
	}
}

// addSpreadPoints prefers domains with fewer matching pods. A node that lacks the key of any constraint gets no points.
func (p *Profile) addSpreadPoints(nodes []model.NodeID, points []float64, weight float64) {
	raw, skip := p.counts.candidates.raw[:len(nodes)], p.counts.candidates.skip[:len(nodes)]
	for i, id := range nodes {
		raw[i], skip[i] = 0, false
		for k := range p.own.soft {
			skip[i] = skip[i] || p.own.soft[k].tally.top.domain[id] == none
		}
	}
	for k := range p.own.soft {
		s := &p.own.soft[k]
		top := s.tally.top
		size := top.countDistinct(nodes, skip)
		weight := math.Log(float64(size + 2))
		for i, id := range nodes {
			if !skip[i] {
				raw[i] += float64(s.countInDomain(top.domain[id]))*weight + float64(s.skew-1)
			}
		}
	}
	least, most := int64(math.MaxInt64), int64(0)
	for i := range raw {
		if !skip[i] {
			v := int64(math.Round(raw[i]))
			least, most = min(least, v), max(most, v)
		}
	}
	for i := range raw {
		switch {
		case skip[i]:
		case most == 0:
			points[i] += score.Unit * weight * 100
		default:
			points[i] += score.Unit * weight * float64(100*(most+least-int64(math.Round(raw[i])))/most)
		}
	}
}
