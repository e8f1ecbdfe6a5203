package evict

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// plan is a search for victims. During the search, units marked in out count as evicted in the overlay and in the
// ledger.
type plan struct {
	s      *session.Session
	attack *framework.Attack
	c      Case
	trial  session.Trial
	units  []unit
	may    []framework.Guard // the guards, and the entitlements of one tier
	grants []framework.Guard // only the entitlements among may
	tier   int
	bound  *bound
	out    []bool
	times  map[*model.Task]int // number of evicted units that contain the task
}

// solve finds a minimal set of units to evict: if any of them were spared, the gang would not fit. If it returns
// true, these units are marked as evicted; otherwise none is.
func (p *plan) solve(order []int) ([]int, bool) {
	var out []int
	for _, strict := range p.passes() {
		for _, i := range order {
			if !p.out[i] && (!strict || p.keepsShare(i)) && p.mayGo(i) {
				p.evict(i)
				out = append(out, i)
				if p.c.Own && p.fits() { // evicting more of the gang's own tasks would increase what it needs
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

// passes returns the passes of the search; true stands for a strict pass. Between queues, a strict pass first evicts
// only units whose queue keeps what it deserves, and a second pass evicts other units if needed.
func (p *plan) passes() []bool {
	if p.attack.Kind == framework.Reclaim || p.attack.Kind == framework.GangReclaim {
		return []bool{true, false}
	}
	return []bool{false}
}

func (p *plan) fits() bool { return !p.bound.no() && p.s.Fits(p.attack.Taker, p.trial) }

// mayGo reports whether the guards and entitlements allow evicting the unit in the current state.
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

// keepsShare reports whether the unit's queue would still hold what it deserves of the requested resources if the
// unit were evicted.
func (p *plan) keepsShare(i int) bool {
	u := &p.units[i]
	lost := framework.Sum(p.still(u.tasks))
	for _, t := range p.attack.Asked {
		k := int(t.Index)
		if k != model.Pods && lost.Get(k) > 0 && u.from.Allocated[k]-float64(lost.Get(k)) < u.from.Deserved[k]-0.1 {
			return false
		}
	}
	return true
}

// still returns the tasks that have not been evicted yet.
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

// shrink spares units without which the gang still fits. It finds the shortest sufficient prefix by bisection, and
// then tries to spare single units, starting with the last and most costly one.
func (p *plan) shrink(order []int) []int {
	low, high := 1, len(order)
	for low < high { // search for the shortest sufficient prefix
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

// thin spares each unit without which the gang still fits, starting with the last one.
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

// evict marks a unit as evicted. A surplus task is also part of its gang's whole unit, so it stays evicted as long as
// any unit that contains it is evicted.
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
