package interpod

import (
	"math"
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
)

// Profile holds the rules about other pods that apply to a group of tasks. These tasks have the same shape, and the
// same terms of other pods match them.
type Profile struct {
	counts *PodCounts
	shape  *model.Shape
	own    *rules
	// around holds the terms of other pods that match the tasks, with repels before pulls.
	around []*tally
	repels []*tally
	pulls  []*tally

	all, coarse, fine checks
	view              equivalence.View
	layout            layout
}

// maxProfiles limits the number of profiles for one shape. Tasks of a shape may have different profiles, because
// their labels may differ in ways that matter to the terms of other pods.
const maxProfiles = 8

// ProfileFor returns the rules about other pods that apply to a task. It returns nil if none exist.
func (pc *PodCounts) ProfileFor(t *model.Task) *Profile {
	if !pc.hasRules() {
		return nil
	}
	own := pc.rules[t.Shape]
	repels := 0
	pc.around, repels = pc.affectingTerms(t, own != nil)
	if own == nil && len(pc.around) == 0 {
		return nil
	}
	list := pc.profiles[t.Shape]
	for _, p := range list {
		if slices.Equal(p.around, pc.around) {
			return p
		}
	}
	p := pc.newProfile(t.Shape, own, slices.Clone(pc.around), repels)
	if len(list) >= maxProfiles {
		list = list[1:]
	}
	pc.profiles[t.Shape] = append(list[:len(list):len(list)], p)
	return p
}

// affectingTerms returns the terms of other pods that match a task. The first repels entries are anti-affinity terms.
// If all is true, the result includes terms that no pod currently holds.
func (pc *PodCounts) affectingTerms(t *model.Task, all bool) (list []*tally, repels int) {
	list = pc.around[:0]
	matching := pc.matchersOf(t)
	if pc.judge.Filters.PodRules {
		for _, m := range matching {
			list = appendTerms(list, m.repels, all)
		}
	}
	repels = len(list)
	if pc.judge.Weights.PodAffinity != 0 {
		for _, m := range matching {
			list = appendTerms(list, m.pulls, all)
		}
	}
	return list, repels
}

// appendTerms appends all terms, or only the terms that some pod currently has.
func appendTerms(list, terms []*tally, all bool) []*tally {
	for _, term := range terms {
		if all || term.total != 0 {
			list = append(list, term)
		}
	}
	return list
}

func (pc *PodCounts) newProfile(s *model.Shape, own *rules, around []*tally, repels int) *Profile {
	if own == nil {
		own = &rules{shape: s}
	}
	p := &Profile{counts: pc, shape: s, own: own, around: around, repels: around[:repels], pulls: around[repels:]}
	f := &pc.judge.Filters
	if f.PodRules {
		p.all.affinity = own.affinity
		p.all.anti = append(slices.Clone(own.anti), p.repels...)
	}
	if f.Spread {
		p.all.hard = own.hard
	}
	p.view.Bars = p.excludesNode
	return p
}

// checks holds the conditions that a node must meet.
type checks struct {
	affinity []*tally
	anti     []*tally
	hard     []spread
}

// permitsNode reports whether the checks permit a node. free means that no pod matches the required affinity yet, so
// the first matching pod may run anywhere. If later is true, pods that are leaving are ignored.
func (k *checks) permitsNode(id model.NodeID, later, free bool) bool {
	for _, t := range k.anti {
		if d := t.top.domain[id]; d != none && t.countInDomain(d, later) > 0 {
			return false
		}
	}
	for _, t := range k.affinity {
		if d := t.top.domain[id]; d == none || (!free && t.countInDomain(d, later) <= 0) {
			return false
		}
	}
	for i := range k.hard {
		if !k.hard[i].allowsOneMore(id) {
			return false
		}
	}
	return true
}

// allowsOneMore reports whether the maximum skew is respected if one more pod is placed on a node.
func (s *spread) allowsOneMore(id model.NodeID) bool {
	d := s.tally.top.domain[id]
	if d == none {
		return false
	}
	return int64(s.countInDomain(d))+int64(s.self)-int64(s.baselineCount()) <= int64(s.skew)
}

func (s *spread) countInDomain(d int32) int32 {
	if s.everyone {
		return 0
	}
	return s.tally.countInDomain(d, true)
}

// baselineCount returns the count against which the skew of a domain is measured.
func (s *spread) baselineCount() int32 {
	switch {
	case s.tally.present < int(s.minDomains):
		return 0
	case s.tally.present == 0:
		return math.MaxInt32
	case s.everyone:
		return 0
	}
	return s.tally.minimumCount()
}

// startsAffinity reports whether no pod matches the shape's required affinity yet, but a pod of the shape itself
// would.
func (p *Profile) startsAffinity() bool {
	if !p.own.alone {
		return false
	}
	for _, t := range p.own.affinity {
		if t.total > 0 {
			return false
		}
	}
	return true
}

// excludesNode reports whether a ranking by groups must exclude an individual node.
func (p *Profile) excludesNode(id model.NodeID, later bool) bool {
	return p.own.problem != "" || !p.fine.permitsNode(id, later, p.layout.free)
}

// CheckNode returns the reason why rules about other pods exclude a task from a node; "" if they permit it. If later is
// true, pods that are leaving are ignored.
func (p *Profile) CheckNode(id model.NodeID, later bool) (code reason.Code, detail string) {
	if p.own.problem != "" {
		return reason.PodAffinityMismatch, p.own.problem
	}
	free := p.startsAffinity()
	for i, t := range p.all.anti {
		if d := t.top.domain[id]; d != none && t.countInDomain(d, later) > 0 {
			if i >= len(p.own.anti) {
				return reason.PodAffinityMismatch, "anti-affinity of a running pod"
			}
			return reason.PodAffinityMismatch, "anti-affinity by " + t.top.key
		}
	}
	for _, t := range p.all.affinity {
		if d := t.top.domain[id]; d == none || (!free && t.countInDomain(d, later) <= 0) {
			return reason.PodAffinityMismatch, "affinity by " + t.top.key
		}
	}
	for i := range p.all.hard {
		if s := &p.all.hard[i]; !s.allowsOneMore(id) {
			return reason.TopologySpread, s.tally.top.key
		}
	}
	return "", ""
}
