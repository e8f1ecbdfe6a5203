package evict

import (
	"cmp"
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// evictInDomains frees resources for a gang. If the gang must stay inside a domain and the action evicts whole gangs,
// it tries the domains one by one, the widest first.
func evictInDomains(s *cycle.Cycle, j *framework.Job, c Case) (done bool, why Failure) {
	gangwise := c.Kind == framework.GangPreempt || c.Kind == framework.GangReclaim
	if !gangwise || j.Topology == nil || !j.Topology.Hard {
		return MakeRoomFor(s, j, c)
	}
	domains, v := s.CandidateDomains(j, session.ToEvict)
	if v.Code != "" {
		return false, Failure{}
	}
	for i, d := range domains[:min(len(domains), cmp.Or(c.Domains, DefaultDomains))] {
		if d != nil {
			nodes := make(map[model.NodeID]bool, len(d.All))
			for _, id := range d.All {
				nodes[id] = true
			}
			c.Within = func(id model.NodeID) bool { return nodes[id] }
		}
		var failure Failure
		s.RunWithin(d, func() { done, failure = MakeRoomFor(s, j, c) })
		if done {
			return true, Failure{}
		}
		if i == 0 { // report the failure in the widest domain
			why = failure
		}
	}
	return false, why
}

// spareElsewhere spares victims that need not be evicted if the gang is placed outside the domain that was tried.
// This is possible because evicting whole gangs also frees resources outside the domain. wide is true if a victim was
// spared; the gang then fits, but possibly not in that domain.
func (p *plan) spareElsewhere(chosen []int, shapes []*model.Shape) (kept []int, wide bool) {
	outside := func(t *model.Task) bool { return !p.c.Within(t.Node) }
	if p.c.Within == nil || !slices.ContainsFunc(chosen, func(i int) bool { return slices.ContainsFunc(p.units[i].tasks, outside) }) {
		return chosen, false
	}
	p.s.RunWithin(nil, func() {
		p.bound = newBound(p.s, p.attack.Tasks, shapes, nil)
		kept = p.spareUnneeded(chosen)
	})
	return kept, len(kept) < len(chosen)
}
