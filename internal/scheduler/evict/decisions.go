package evict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// commitEvictions makes the evictions final and promises the freed resources to the gang.
func (p *plan) commitEvictions(chosen []int) {
	s, j := p.s, p.attack.Taker
	var blockers []string
	first := len(s.Out.Evicts)
	for _, i := range chosen {
		u := &p.units[i]
		why := p.grantReasons(u)
		recorded := 0
		for _, t := range u.tasks {
			if p.times[t] == 0 { // already recorded
				continue
			}
			p.times[t] = 0
			recorded++
			s.Out.Evicts = append(s.Out.Evicts, p.newEviction(u, t, why))
		}
		s.RecordEvicted(u.gang, recorded)
		blockers = append(blockers, u.gang.Title())
	}
	p.setTakerMessages(s.Out.Evicts[first:])
	s.PlaceAfterEvictions(j, p.trial)
	if len(j.Promised) == 0 { // the nodes had free resources, but a limit of the queue blocked the gang
		return
	}
	v := j.Verdict
	v.Code, v.Blocker = reason.WaitingForVictims, slices.Compact(blockers)
	s.SetVerdict(j, v)
}

func (p *plan) newEviction(u *unit, t *model.Task, why string) decision.Evict {
	j := p.attack.Taker
	e := decision.Evict{
		Pod:       decision.Object{Namespace: t.Namespace, Name: t.Name, UID: t.UID},
		Gang:      decision.Object{Namespace: u.gang.Namespace, Name: u.gang.Name, UID: u.gang.UID},
		Node:      p.s.View.Nodes.Name[t.Node],
		Reason:    string(p.attack.Kind),
		Preemptor: decision.Object{Namespace: j.Namespace, Name: j.Gang.Name, UID: j.UID},
		Queue:     u.from.Name, PreemptorQueue: j.In.Name,
	}
	if slices.ContainsFunc(p.grants, func(g framework.Guard) bool { return g.Moves }) {
		e.ShareLoss = model.ShareLoss{Tier: p.tier + 1, Between: p.isBetweenQueues()}
	}
	switch {
	case p.isBetweenQueues():
		e.Message = fmt.Sprintf("queue %s reclaims resources for %s: %s", j.In.Name, j.Title(), cmp.Or(why, "queue "+u.from.Name+" uses more than its deserved share"))
	case p.c.Own:
		e.Message = fmt.Sprintf("%s needs the resources for %s: %s", j.Title(), p.attack.Tasks[0].Key(), cmp.Or(why, "the other pod has precedence"))
	default:
		e.Message = fmt.Sprintf("%s in the same queue %s needs the resources: %s", j.Title(), u.from.Name, cmp.Or(why, "it has precedence"))
	}
	return e
}

// setTakerMessages sets the messages for the gang that gets the resources: one message per victim gang, attached to the
// gang's first eviction.
func (p *plan) setTakerMessages(evicts []decision.Evict) {
	lost := map[types.UID]int{}
	for i := range evicts {
		lost[evicts[i].Gang.UID]++
	}
	for i := range evicts {
		e := &evicts[i]
		n := lost[e.Gang.UID]
		lost[e.Gang.UID] = 0
		switch {
		case n == 0:
			continue // already reported
		case n == 1 || e.Gang.UID == p.attack.Taker.UID:
			e.PreemptorMessage = fmt.Sprintf("%s evicted: %s", describePods(n, e.Pod), e.Message)
		default:
			e.PreemptorMessage = fmt.Sprintf("%s of %s evicted: %s", describePods(n, e.Pod), p.gangTitle(e.Gang), e.Message)
		}
	}
}

// gangTitle returns the name by which users know a gang.
func (p *plan) gangTitle(gang decision.Object) string {
	if g := p.s.Cluster.Gangs[gang.Key()]; g != nil {
		return g.Title()
	}
	return gang.Key()
}

func describePods(n int, one decision.Object) string {
	if n == 1 {
		return "pod " + one.Key()
	}
	return fmt.Sprintf("%d pods", n)
}

func (p *plan) isBetweenQueues() bool {
	return p.attack.Kind == framework.Reclaim || p.attack.Kind == framework.GangReclaim
}

// grantReasons returns the reasons why the entitlements grant the eviction of a unit.
func (p *plan) grantReasons(u *unit) string {
	var parts []string
	for k := range p.grants {
		if f := p.grants[k].Because; f != nil {
			if text := f(u.tasks); text != "" {
				parts = append(parts, text)
			}
		}
	}
	return strings.Join(parts, ", and ")
}
