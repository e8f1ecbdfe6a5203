package evict

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
)

// plan is a search for victims. During the search, units marked in out count as evicted in the overlay and in the
// ledger.
type plan struct {
	s      *cycle.Cycle
	attack *framework.Attack
	c      Case
	trial  placement.Trial
	units  []unit
	may    []framework.Guard // the guards, and the entitlements of one tier
	grants []framework.Guard // only the entitlements among may
	tier   int
	bound  *bound
	out    []bool
	times  map[*model.Task]int // number of evicted units that contain the task
}

// findMinimalSet finds a minimal set of units to evict: if any of them were spared, the gang would not fit. If it
// returns true, these units are marked as evicted; otherwise none is.
func (p *plan) findMinimalSet(order []int) ([]int, bool) {
	var out []int
	for _, strict := range p.searchPasses() {
		for _, i := range order {
			if p.out[i] || (strict && !p.keepsShare(i)) {
				continue
			}
			if !p.mayEvict(i) {
				continue
			}
			p.evictUnit(i)
			out = append(out, i)
			if p.c.Own && p.gangFits() { // evicting more of the gang's own tasks would increase what it needs
				return p.spareUnneeded(out), true
			}
		}
		if len(out) > 0 && p.gangFits() {
			return p.shrinkVictims(out), true
		}
	}
	p.spareUnits(out)
	return nil, false
}

// searchPasses returns the passes of the search; true stands for a strict pass. Between queues, a strict pass first
// evicts only units whose queue keeps what it deserves, and a second pass evicts other units if needed.
func (p *plan) searchPasses() []bool {
	if p.attack.Kind == framework.Reclaim || p.attack.Kind == framework.GangReclaim {
		return []bool{true, false}
	}
	return []bool{false}
}

func (p *plan) gangFits() bool {
	return !p.bound.cannotFit() && p.s.FitsInTrial(p.attack.Taker, p.trial)
}

// mayEvict reports whether the guards and entitlements allow evicting the unit in the current state.
func (p *plan) mayEvict(i int) bool {
	tasks := p.notYetEvicted(p.units[i].tasks)
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
	lost := framework.SumRequests(p.notYetEvicted(u.tasks))
	for _, t := range p.attack.Asked {
		k := int(t.Index)
		if k != resource.Pods && lost.Get(k) > 0 && u.from.Allocated[k]-float64(lost.Get(k)) < u.from.Deserved[k]-0.1 {
			return false
		}
	}
	return true
}

// notYetEvicted returns the tasks that have not been evicted yet.
func (p *plan) notYetEvicted(tasks []*model.Task) []*model.Task {
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

// shrinkVictims spares units without which the gang still fits. It finds the shortest sufficient prefix by bisection,
// and then tries to spare single units, starting with the last and most costly one.
func (p *plan) shrinkVictims(order []int) []int {
	low, high := 1, len(order)
	for low < high { // search for the shortest sufficient prefix
		middle := (low + high) / 2
		p.spareUnits(order[middle:high])
		if p.gangFits() {
			high = middle
			continue
		}
		for _, i := range order[middle:high] {
			p.evictUnit(i)
		}
		low = middle + 1
	}
	return p.spareUnneeded(order[:high])
}

// spareUnneeded spares each unit without which the gang still fits, starting with the last one.
func (p *plan) spareUnneeded(chosen []int) []int {
	var kept []int
	for k := len(chosen) - 1; k >= 0; k-- {
		p.spareUnit(chosen[k])
		if p.gangFits() {
			continue
		}
		p.evictUnit(chosen[k])
		kept = append(kept, chosen[k])
	}
	slices.Sort(kept)
	return kept
}

func (p *plan) spareUnits(units []int) {
	for _, i := range units {
		p.spareUnit(i)
	}
}

// evictUnit marks a unit as evicted. A surplus task is also part of its gang's whole unit, so it stays evicted as long
// as any unit that contains it is evicted.
func (p *plan) evictUnit(i int) {
	u := &p.units[i]
	p.out[i] = true
	for _, t := range u.tasks {
		if p.times[t]++; p.times[t] == 1 {
			p.bound.countNode(t.Node, -1)
			p.s.CountEvicted(t, u.from, 1)
			p.bound.countNode(t.Node, 1)
			p.notifyGuards(t, 1)
		}
	}
}

func (p *plan) spareUnit(i int) {
	u := &p.units[i]
	p.out[i] = false
	for _, t := range u.tasks {
		if p.times[t]--; p.times[t] == 0 {
			p.bound.countNode(t.Node, -1)
			p.s.CountEvicted(t, u.from, -1)
			p.bound.countNode(t.Node, 1)
			p.notifyGuards(t, -1)
		}
	}
}

func (p *plan) notifyGuards(t *model.Task, sign int) {
	for k := range p.may {
		if p.may[k].Out != nil {
			p.may[k].Out([]*model.Task{t}, sign)
		}
	}
}
