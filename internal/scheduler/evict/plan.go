package evict

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// plan is one search for victims. While it searches the overlay and the ledger
// have the units evicted that are marked out.
type plan struct {
	s      *session.Session
	attack *session.Attack
	c      Case
	trial  session.Trial
	units  []unit
	may    []session.Guard // guards, and the entitlements of a tier
	grants []session.Guard // the entitlements among them
	tier   int
	bound  *bound
	out    []bool
	times  map[*model.Task]int // in how many units a task is out
}

// solve finds a set of units without any of which the gang would not fit. They
// are out when it returns true; else all are in.
func (p *plan) solve(order []int) ([]int, bool) {
	var out []int
	for _, strict := range p.passes() {
		for _, i := range order {
			if !p.out[i] && (!strict || p.keepsShare(i)) && p.mayGo(i) {
				p.evict(i)
				out = append(out, i)
				if p.c.Own && p.fits() { // with more of its own gone it would need more
					return p.thin(out), true
				}
			}
		}
		if len(out) > 0 && p.fits() {
			return p.shrink(out), true
		}
	}
	p.restore(out)
	return nil, false
}

// passes: between queues those units go first that leave their queue what it
// deserves; others only when those do not suffice.
func (p *plan) passes() []bool {
	if p.attack.Kind == session.Reclaim || p.attack.Kind == session.GangReclaim {
		return []bool{true, false}
	}
	return []bool{false}
}

func (p *plan) fits() bool { return !p.bound.no() && p.s.Fits(p.attack.Taker, p.trial) }

// mayGo asks guards and entitlements, as things stand.
func (p *plan) mayGo(i int) bool {
	tasks := p.still(p.units[i].tasks)
	if len(tasks) == 0 {
		return true
	}
	for k := range p.may {
		if ok, _ := p.may[k].May(tasks); !ok {
			return false
		}
	}
	return true
}

// keepsShare says whether a unit's queue still holds what it deserves of what is
// asked, without the unit.
func (p *plan) keepsShare(i int) bool {
	u := &p.units[i]
	lost := session.Sum(p.still(u.tasks))
	for _, t := range p.attack.Asked {
		k := int(t.Index)
		if k != model.Pods && lost.Get(k) > 0 && u.from.Allocated[k]-float64(lost.Get(k)) < u.from.GetsBack()[k]-0.1 {
			return false
		}
	}
	return true
}

// still are the tasks that are not out.
func (p *plan) still(tasks []*model.Task) []*model.Task {
	for k, t := range tasks {
		if p.times[t] == 0 {
			continue
		}
		in := slices.Clone(tasks[:k])
		for _, t := range tasks[k:] {
			if p.times[t] == 0 {
				in = append(in, t)
			}
		}
		return in
	}
	return tasks
}

// shrink puts units back, dearest first, as long as the gang fits without them:
// first by halves of the whole list, then one by one.
func (p *plan) shrink(order []int) []int {
	low, high := 1, len(order)
	for low < high { // the shortest prefix that suffices
		middle := (low + high) / 2
		p.restore(order[middle:high])
		if p.fits() {
			high = middle
			continue
		}
		for _, i := range order[middle:high] {
			p.evict(i)
		}
		low = middle + 1
	}
	return p.thin(order[:high])
}

// thin puts units back one by one, the last first, where the gang fits without.
func (p *plan) thin(chosen []int) []int {
	var kept []int
	for k := len(chosen) - 1; k >= 0; k-- {
		p.spare(chosen[k])
		if p.fits() {
			continue
		}
		p.evict(chosen[k])
		kept = append(kept, chosen[k])
	}
	slices.Sort(kept)
	return kept
}

func (p *plan) restore(units []int) {
	for _, i := range units {
		p.spare(i)
	}
}

// evict marks a unit out. A surplus task is part of its gang's whole as well: it
// is out while any of its units is.
func (p *plan) evict(i int) {
	u := &p.units[i]
	p.out[i] = true
	for _, t := range u.tasks {
		if p.times[t]++; p.times[t] == 1 {
			p.bound.count(t.Node, -1)
			p.s.CountOut(t, u.from, 1)
			p.bound.count(t.Node, 1)
			p.follow(t, 1)
		}
	}
}

func (p *plan) spare(i int) {
	u := &p.units[i]
	p.out[i] = false
	for _, t := range u.tasks {
		if p.times[t]--; p.times[t] == 0 {
			p.bound.count(t.Node, -1)
			p.s.CountOut(t, u.from, -1)
			p.bound.count(t.Node, 1)
			p.follow(t, -1)
		}
	}
}

func (p *plan) follow(t *model.Task, sign int) {
	for k := range p.may {
		if p.may[k].Out != nil {
			p.may[k].Out([]*model.Task{t}, sign)
		}
	}
}
