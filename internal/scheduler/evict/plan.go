package evict

import (
	"fmt"
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Reclaim makes room for a starving gang out of queues that hold more than they
// deserve. It returns whether it did.
func Reclaim(s *session.Session, j *session.Job) bool {
	tasks := j.Minimum()
	if len(tasks) == 0 || slices.ContainsFunc(tasks, func(t *model.Task) bool { return t.Never || t.Shape.Impossible }) {
		return false
	}
	if v := s.Rules.MayTake(j.In, j.MinimumRequest()); v.Code != "" {
		return false
	}
	asked := j.MinimumRequest()
	units, blockers := victims(s, j, asked, j.Shapes())
	p := &plan{s: s, taker: j, units: units, asked: asked, times: map[*model.Task]int{}}
	if chosen, ok := p.choose(); ok {
		p.commit(chosen)
		return true
	}
	v := j.Verdict
	switch {
	case len(blockers) > 0 && (v.Code == reason.GangDoesNotFit || v.Code == reason.NotReclaimable):
		v.Code, v.Blocker = reason.NotReclaimable, blockers
	case v.Code == reason.NotReclaimable:
		v.Code, v.Blocker = reason.GangDoesNotFit, nil
	default:
		return false
	}
	s.Verdict(j, v)
	s.NoteBlockers(j.In.Queue, v)
	return false
}

// plan is one search for victims. While it searches the overlay and the ledger
// have the units evicted that are marked out.
type plan struct {
	s     *session.Session
	taker *session.Job
	units []unit
	asked model.Request
	out   []bool
	times map[*model.Task]int // in how many units a task is out
}

// choose finds a set of units without any of which the gang would not fit.
// Units that leave their queue what it deserves are preferred; others are taken
// only when those do not suffice.
func (p *plan) choose() ([]int, bool) {
	p.out = make([]bool, len(p.units))
	var order []int
	for _, strict := range []bool{true, false} {
		for i := range p.units {
			if !p.out[i] && p.mayGo(i, strict) {
				p.evict(i)
				order = append(order, i)
			}
		}
		if len(order) > 0 && p.s.Try(p.taker) {
			return p.shrink(order), true
		}
	}
	p.restore(order)
	return nil, false
}

// mayGo says whether a unit's queue may lose it now. strict: and still hold what
// it deserves of what is asked.
func (p *plan) mayGo(i int, strict bool) bool {
	u := &p.units[i]
	if !p.s.Rules.MayLose(u.from, p.asked) {
		return false
	}
	if !strict {
		return true
	}
	lost := session.Sum(p.still(u.tasks))
	for _, t := range p.asked {
		k := int(t.Index)
		if k != model.Pods && lost.Get(k) > 0 && u.from.Allocated[k]-float64(lost.Get(k)) < u.from.Deserved[k]-0.1 {
			return false
		}
	}
	return true
}

// still are the tasks that are not out.
func (p *plan) still(tasks []*model.Task) []*model.Task {
	var in []*model.Task
	for _, t := range tasks {
		if p.times[t] == 0 {
			in = append(in, t)
		}
	}
	return in
}

// shrink puts units back, dearest first, as long as the gang fits without them:
// first by halves of the whole list, then one by one.
func (p *plan) shrink(order []int) []int {
	low, high := 1, len(order)
	for low < high { // the shortest prefix that suffices
		middle := (low + high) / 2
		p.spareAll(order[middle:high])
		if p.s.Try(p.taker) {
			high = middle
			continue
		}
		p.evictAll(order[middle:high])
		low = middle + 1
	}
	chosen := order[:high]
	var kept []int
	for k := len(chosen) - 1; k >= 0; k-- {
		p.spare(chosen[k])
		if p.s.Try(p.taker) {
			continue
		}
		p.evict(chosen[k])
		kept = append(kept, chosen[k])
	}
	slices.Sort(kept)
	return kept
}

func (p *plan) evictAll(units []int) {
	for _, i := range units {
		p.evict(i)
	}
}

func (p *plan) spareAll(units []int) {
	for _, i := range units {
		p.spare(i)
	}
}

func (p *plan) restore(order []int) {
	for _, i := range order {
		p.spare(i)
	}
}

// evict marks a unit out. A surplus task is part of its gang's whole as well: it
// is out while any of its units is.
func (p *plan) evict(i int) {
	p.out[i] = true
	for _, t := range p.units[i].tasks {
		if p.times[t]++; p.times[t] == 1 {
			p.s.View.Evict(t.Node, t)
			p.units[i].from.Hold(t.Shape.Request, -1)
			p.s.Trying++
		}
	}
}

func (p *plan) spare(i int) {
	p.out[i] = false
	for _, t := range p.units[i].tasks {
		if p.times[t]--; p.times[t] == 0 {
			p.s.View.Spare(t.Node, t)
			p.units[i].from.Hold(t.Shape.Request, 1)
			p.s.Trying--
		}
	}
}

// commit evicts for good and promises the room to the gang.
func (p *plan) commit(chosen []int) {
	s, j := p.s, p.taker
	taker := decision.Object{Namespace: j.Namespace, Name: j.Gang.Name, UID: j.UID}
	for _, i := range chosen {
		u := &p.units[i]
		for _, t := range u.tasks {
			if p.times[t] == 0 { // said already
				continue
			}
			p.times[t] = 0
			s.Out.Evicts = append(s.Out.Evicts, decision.Evict{
				Pod:       decision.Object{Namespace: t.Namespace, Name: t.Name, UID: t.UID},
				Gang:      decision.Object{Namespace: u.gang.Namespace, Name: u.gang.Name, UID: u.gang.UID},
				Node:      s.View.Nodes.Name[t.Node],
				Reason:    "reclaim",
				Preemptor: taker,
				Message: fmt.Sprintf("queue %s takes back room for %s: queue %s holds more than it deserves",
					j.In.Name, j.Key(), u.from.Name),
				PreemptorMessage: fmt.Sprintf("%s of queue %s is evicted to make room for %s", t.Key(), u.from.Name, j.Key()),
			})
			s.Evicted(u.gang)
		}
	}
	s.Forget()
	s.Round(j, nil, session.Share)
	if len(chosen) > 0 {
		v := j.Verdict
		v.Code = reason.WaitingForVictims
		for _, i := range chosen {
			v.Blocker = append(v.Blocker, p.units[i].gang.Key())
		}
		v.Blocker = slices.Compact(v.Blocker)
		s.Verdict(j, v)
	}
}
