package evict

import (
	"cmp"
	"slices"
	"time"
)

// maxAlone limits how many gangs are tried as the only victim, instead of evicting several gangs.
const maxAlone = 32

// cost measures a set of victims, so that it can be compared with other sets; lower is better.
type cost struct {
	broken []int32 // priorities of the gangs that fall below their minimum, highest first
	pods   int
	lost   time.Duration
}

func (c cost) compare(o cost) int {
	return cmp.Or(slices.Compare(c.broken, o.broken), cmp.Compare(c.pods, o.pods), cmp.Compare(c.lost, o.lost))
}

// findBestVictims finds a set of victims by going through the units in their default order, and then checks whether
// another order breaks fewer gangs. If it returns true, the chosen units are marked as evicted.
func (p *plan) findBestVictims() ([]int, bool) {
	order := make([]int, len(p.units))
	for i := range order {
		order[i] = i
	}
	chosen, ok := p.findMinimalSet(order)
	if !ok {
		return nil, false
	}
	least := p.measureCost(chosen)
	for _, other := range p.alternativeOrders(chosen) {
		p.spareUnits(chosen)
		alternative, ok := p.findMinimalSet(other)
		if ok {
			if c := p.measureCost(alternative); c.compare(least) < 0 {
				chosen, least = alternative, c
				continue
			}
			p.spareUnits(alternative)
		}
		for _, i := range chosen {
			p.evictUnit(i)
		}
	}
	return chosen, true
}

func (p *plan) measureCost(chosen []int) cost {
	var c cost
	for _, i := range chosen {
		u := &p.units[i]
		if u.whole {
			c.broken = append(c.broken, u.gang.Priority)
		}
		c.pods += len(u.tasks)
		c.lost += u.lost
	}
	slices.SortFunc(c.broken, func(a, b int32) int { return cmp.Compare(b, a) })
	return c
}

// alternativeOrders returns other orders that are worth trying if evicting the chosen units would break gangs by
// leaving them below their minimum. Within the last class in which gangs would be broken, each gang is tried as the
// only victim. If several gangs would be broken, one more order puts the most useful gangs first within each queue
// and priority.
func (p *plan) alternativeOrders(chosen []int) [][]int {
	var broken []int
	for _, i := range chosen {
		if p.units[i].whole {
			broken = append(broken, i)
		}
	}
	if len(broken) == 0 {
		return nil
	}
	last := p.units[broken[len(broken)-1]].orderClass()
	var orders [][]int
	if len(broken) <= maxAlone {
		orders = p.singleGangOrders(last)
	}
	if len(broken) == 1 {
		return orders
	}
	if byUse := p.orderByUse(); byUse != nil {
		orders = append(orders, byUse)
	}
	return orders
}

// orderByUse returns the order of units that puts the most useful gangs of each class first. It returns nil if this
// is the default order.
func (p *plan) orderByUse() []int {
	order := make([]int, len(p.units))
	for i := range order {
		order[i] = i
	}
	for i := 0; i < len(order); {
		k := i + 1
		for k < len(order) && p.units[i].mayTradePlaces(&p.units[k]) {
			k++
		}
		slices.SortStableFunc(order[i:k], func(a, b int) int { return cmp.Compare(p.units[b].use, p.units[a].use) })
		i = k
	}
	if slices.IsSorted(order) {
		return nil
	}
	return order
}

// singleGangOrders returns orders that consist of the surplus units before a class, followed by a single gang of the
// class. If the class has many gangs, only the most useful ones are tried.
func (p *plan) singleGangOrders(class [2]any) [][]int {
	var before, of []int
	for i := range p.units {
		switch u := &p.units[i]; {
		case u.whole && u.orderClass() == class:
			of = append(of, i)
		case len(of) == 0 && !u.whole:
			before = append(before, i)
		}
	}
	if len(of) > maxAlone {
		slices.SortStableFunc(of, func(a, b int) int { return cmp.Compare(p.units[b].use, p.units[a].use) })
		of = of[:maxAlone]
	}
	orders := make([][]int, 0, len(of))
	for _, i := range of {
		orders = append(orders, append(slices.Clone(before), i))
	}
	return orders
}
