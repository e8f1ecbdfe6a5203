package interpod

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
)

// layout describes how a profile evaluates nodes: in groups or one by one.
type layout struct {
	made  bool
	epoch uint64
	sum   uint64 // sum of the topologies' versions
	// byNode is true if there would be too many groups, so that each node is evaluated separately.
	byNode bool
	groups *grouping

	// The following fields are the state for which the exclusions of individual nodes were computed.
	free   bool
	floors []int32
}

// grouping splits the nodes by their domains in some topologies.
type grouping struct {
	tops   []*topology
	sum    uint64
	epoch  uint64
	groups *equivalence.Groups // nil if there are too many groups
	first  []model.NodeID
}

// updateLayout updates the layout. If the set of excluded nodes may have changed, it also changes the view's stamp,
// so that rankings are computed again.
func (p *Profile) updateLayout() {
	l := &p.layout
	sum := p.sumVersions()
	if !l.made || l.epoch != p.counts.view.Epoch || l.sum != sum {
		l.made, l.epoch, l.sum = true, p.counts.view.Epoch, sum
		p.splitChecks()
		p.view.Stamp++
	}
	if l.byNode {
		return
	}
	free, changed := p.startsAffinity(), false
	if len(p.fine.affinity) > 0 && free != l.free {
		changed = true
	}
	l.free = free
	for i := range p.fine.hard {
		floor := p.fine.hard[i].baselineCount()
		if i >= len(l.floors) {
			l.floors = append(l.floors, floor)
		} else if l.floors[i] != floor {
			l.floors[i], changed = floor, true
		}
	}
	if changed {
		p.view.Stamp++
	}
}

func (p *Profile) sumVersions() (sum uint64) {
	p.eachTally(func(t *tally) { sum += t.top.version })
	return sum
}

// eachTally calls visit for all tallies that the profile uses.
func (p *Profile) eachTally(visit func(*tally)) {
	for _, list := range [][]*tally{p.all.affinity, p.all.anti, p.pulls} {
		for _, t := range list {
			visit(t)
		}
	}
	for _, list := range [][]spread{p.all.hard, p.own.soft} {
		for i := range list {
			visit(list[i].tally)
		}
	}
	for i := range p.own.prefers {
		visit(p.own.prefers[i].tally)
	}
}

// splitChecks separates the checks that are evaluated once per group from the checks that are evaluated for each
// node.
func (p *Profile) splitChecks() {
	p.coarse, p.fine = checks{}, checks{}
	p.layout.floors = p.layout.floors[:0]
	var tops []*topology
	group := func(t *tally) {
		if !slices.Contains(tops, t.top) {
			tops = append(tops, t.top)
		}
	}
	sort := func(list []*tally, coarse, fine *[]*tally) {
		for _, t := range list {
			if t.top.hasSingletonDomains() {
				*fine = append(*fine, t)
				continue
			}
			*coarse = append(*coarse, t)
			group(t)
		}
	}
	sort(p.all.affinity, &p.coarse.affinity, &p.fine.affinity)
	sort(p.all.anti, &p.coarse.anti, &p.fine.anti)
	for _, s := range p.all.hard {
		if s.tally.top.hasSingletonDomains() {
			p.fine.hard = append(p.fine.hard, s)
			continue
		}
		p.coarse.hard = append(p.coarse.hard, s)
		group(s.tally)
	}
	byNode := false
	p.eachScored(func(t *tally) {
		byNode = byNode || t.top.hasSingletonDomains()
		group(t)
	})
	p.layout.byNode, p.layout.groups, p.view.Groups = byNode, nil, nil
	if byNode || len(tops) == 0 {
		return
	}
	g := p.counts.sharedGrouping(tops)
	p.layout.groups, p.view.Groups, p.layout.byNode = g, g.groups, g.groups == nil
}

// eachScored calls visit for the tallies that influence the score.
func (p *Profile) eachScored(visit func(*tally)) {
	if p.counts.judge.Weights.PodAffinity != 0 {
		for i := range p.own.prefers {
			visit(p.own.prefers[i].tally)
		}
		for _, t := range p.pulls {
			visit(t)
		}
	}
	if p.counts.judge.Weights.Spread != 0 {
		for i := range p.own.soft {
			visit(p.own.soft[i].tally)
		}
	}
}

// maxGroups returns the maximum number of groups for which grouping pays off, given the number of nodes.
func maxGroups(nodes int) int { return max(nodes/8, 16) }

// sharedGrouping returns the shared grouping of the nodes by the given topologies.
func (pc *PodCounts) sharedGrouping(tops []*topology) *grouping {
	names := make([]string, len(tops))
	slices.SortFunc(tops, func(x, y *topology) int { return strings.Compare(x.key, y.key) })
	var sum uint64
	for i, top := range tops {
		names[i] = top.key
		sum += top.version
	}
	key := strings.Join(names, ",")
	if g := pc.groupings[key]; g != nil && g.sum == sum && g.epoch == pc.view.Epoch {
		return g
	}
	g := &grouping{tops: tops, sum: sum, epoch: pc.view.Epoch}
	g.splitNodes(pc.view.Order)
	pc.groupings[key] = g
	return g
}

func (g *grouping) splitNodes(order []model.NodeID) {
	of := make([]int32, len(order))
	for _, top := range g.tops {
		ids := map[[2]int32]int32{}
		for rank, id := range order {
			pair := [2]int32{of[rank], top.domain[id]}
			group, known := ids[pair]
			if !known {
				group = int32(len(ids))
				ids[pair] = group
			}
			of[rank] = group
		}
	}
	for rank, group := range of { // groups are numbered in the order of their first nodes
		if int(group) == len(g.first) {
			g.first = append(g.first, order[rank])
		}
	}
	if len(g.first) <= maxGroups(len(order)) {
		g.groups = equivalence.NewGroups(of, len(g.first))
	}
}
