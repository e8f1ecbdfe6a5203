package neighbour

import (
	"math"
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/shape"
)

// Profile is what matters to tasks of one shape that the same terms of others
// are about.
type Profile struct {
	book  *Book
	shape *model.Shape
	own   *rules
	// around are the terms of others that match: repels first, pulls after.
	around []*tally
	repels []*tally
	pulls  []*tally

	all, coarse, fine checks
	view              shape.View
	layout            layout
}

// maxProfiles bounds the profiles of one shape: tasks of it that differ in labels
// which the terms of others ask about.
const maxProfiles = 8

// For returns what matters to a task of what else runs; nil: nothing.
func (b *Book) For(t *model.Task) *Profile {
	if !b.active() {
		return nil
	}
	own := b.rules[t.Shape]
	repels := 0
	b.around, repels = b.affecting(t, own != nil)
	if own == nil && len(b.around) == 0 {
		return nil
	}
	list := b.profiles[t.Shape]
	for _, p := range list {
		if slices.Equal(p.around, b.around) {
			return p
		}
	}
	p := b.profile(t.Shape, own, slices.Clone(b.around), repels)
	if len(list) >= maxProfiles {
		list = list[1:]
	}
	b.profiles[t.Shape] = append(list[:len(list):len(list)], p)
	return p
}

// affecting are the terms of others that match a task, and how many of them repel
// it. all: also those that nobody holds at the moment.
func (b *Book) affecting(t *model.Task, all bool) (list []*tally, repels int) {
	list = b.around[:0]
	matching := b.matching(t)
	if b.judge.Filters.PodRules {
		for _, m := range matching {
			for _, tally := range m.repels {
				if all || tally.total != 0 {
					list = append(list, tally)
				}
			}
		}
	}
	repels = len(list)
	if b.judge.Weights.PodAffinity != 0 {
		for _, m := range matching {
			for _, tally := range m.pulls {
				if all || tally.total != 0 {
					list = append(list, tally)
				}
			}
		}
	}
	return list, repels
}

func (b *Book) profile(s *model.Shape, own *rules, around []*tally, repels int) *Profile {
	if own == nil {
		own = &rules{shape: s}
	}
	p := &Profile{book: b, shape: s, own: own, around: around, repels: around[:repels], pulls: around[repels:]}
	f := &b.judge.Filters
	if f.PodRules {
		p.all.affinity = own.affinity
		p.all.anti = append(slices.Clone(own.anti), p.repels...)
	}
	if f.Spread {
		p.all.hard = own.hard
	}
	p.view.Bars = p.bars
	return p
}

// checks are conditions that must hold on a node.
type checks struct {
	affinity []*tally
	anti     []*tally
	hard     []spread
}

// allow says whether they do. free: no pod matches the affinity, and the first
// that would itself may go anywhere. later: when those that leave are gone.
func (k *checks) allow(id model.NodeID, later, free bool) bool {
	for _, t := range k.anti {
		if d := t.top.domain[id]; d != none && t.count(d, later) > 0 {
			return false
		}
	}
	for _, t := range k.affinity {
		if d := t.top.domain[id]; d == none || !free && t.count(d, later) <= 0 {
			return false
		}
	}
	for i := range k.hard {
		if !k.hard[i].allows(id) {
			return false
		}
	}
	return true
}

// allows says whether one more pod keeps the skew.
func (s *spread) allows(id model.NodeID) bool {
	d := s.tally.top.domain[id]
	if d == none {
		return false
	}
	return int64(s.count(d))+int64(s.self)-int64(s.floor()) <= int64(s.skew)
}

func (s *spread) count(d int32) int32 {
	if s.everyone {
		return 0
	}
	return s.tally.count(d, true)
}

// floor is the count that others are measured by.
func (s *spread) floor() int32 {
	switch {
	case s.tally.present < int(s.minDomains):
		return 0
	case s.tally.present == 0:
		return math.MaxInt32
	case s.everyone:
		return 0
	}
	return s.tally.minimum()
}

// free says whether no pod matches the required affinity, and a pod of the shape
// would.
func (p *Profile) free() bool {
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

// bars is what a ranking by groups asks of single nodes.
func (p *Profile) bars(id model.NodeID, later bool) bool {
	return p.own.problem != "" || !p.fine.allow(id, later, p.layout.free)
}

// Allows says why a task may not go to a node as far as other pods are
// concerned; "" when it may. later: once those that are leaving are gone.
func (p *Profile) Allows(id model.NodeID, later bool) (code reason.Code, detail string) {
	if p.own.problem != "" {
		return reason.PodAffinityMismatch, p.own.problem
	}
	free := p.free()
	if p.all.allow(id, later, free) {
		return "", ""
	}
	for i, t := range p.all.anti {
		if d := t.top.domain[id]; d != none && t.count(d, later) > 0 {
			if i >= len(p.own.anti) {
				return reason.PodAffinityMismatch, "anti-affinity of a running pod"
			}
			return reason.PodAffinityMismatch, "anti-affinity by " + t.top.key
		}
	}
	for _, t := range p.all.affinity {
		if d := t.top.domain[id]; d == none || !free && t.count(d, later) <= 0 {
			return reason.PodAffinityMismatch, "affinity by " + t.top.key
		}
	}
	for i := range p.all.hard {
		if s := &p.all.hard[i]; !s.allows(id) {
			return reason.TopologySpread, s.tally.top.key
		}
	}
	return "", ""
}
