// Package evictions implements the actions that evict pods: preempt, reclaim, gangpreempt, gangreclaim and shuffle.
// Except for shuffle, they differ in the cases that package evict tries for each starving gang, and they evict only as
// many pods as the gang needs to start, or none.
package evictions

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// The actions, with Volcano's names.
var (
	// Preempt evicts pods of other gangs in the same queue, then pods of the starving gang itself.
	Preempt = preempt{action{"preempt", preemptManual, []evict.Case{{Kind: framework.Preempt}, {Kind: framework.Preempt, Own: true}}}}
	// Reclaim takes resources back for a queue that has less than it deserves from queues that have more.
	Reclaim = action{"reclaim", reclaimManual, []evict.Case{{Kind: framework.Reclaim}}}
	// GangPreempt evicts gang by gang in the same queue, within one domain of the network topology if the starving gang
	// must run within one.
	GangPreempt = byGang{action{"gangpreempt", gangPreemptManual, []evict.Case{{Kind: framework.GangPreempt}}}}
	// GangReclaim is like GangPreempt, but evicts gangs in queues that use more than they deserve.
	GangReclaim = byGang{action{"gangreclaim", gangReclaimManual, []evict.Case{{Kind: framework.GangReclaim}}}}
	// Shuffle evicts running pods although no gang is waiting for their resources. Policies select the pods, and the
	// guards of all policies may protect them.
	Shuffle = shuffle{action{name: "shuffle", manual: shuffleManual}}
)

// action evicts pods for starving gangs.
type action struct {
	name   string
	manual config.Manual
	cases  []evict.Case
}

func (a action) Name() string { return a.name }

func (a action) Manual() config.Manual { return a.manual }

// Run tries to free resources for each starving gang, in the order of queues and gangs.
func (a action) Run(s *cycle.Cycle) { evict.Run(s, a.cases...) }

// preempt is an action with arguments that have no effect.
type preempt struct{ action }

func (p preempt) Reads() []string { return p.manual.Reads().Arguments }

// Configured warns about each argument that is given.
func (p preempt) Configured(arguments config.Arguments, warn func(string)) cycle.Action {
	for _, o := range p.manual.Arguments {
		if _, given := arguments[o.Key]; given {
			warn(o.Key + " changes nothing: " + o.Text)
		}
	}
	return p
}

// byGang is an action whose arguments limit the domains and the victims.
type byGang struct{ action }

func (g byGang) Reads() []string { return g.manual.Reads().Arguments }

func (g byGang) Configured(arguments config.Arguments, warn func(string)) cycle.Action {
	c := g.cases[0]
	c.Domains, c.Surplus = evict.ParseBundles(arguments, warn)
	g.cases = []evict.Case{c}
	return g
}

type shuffle struct{ action }

// Run evicts the pods selected by the first tier that selects any pods.
func (shuffle) Run(s *cycle.Cycle) { evict.Shuffle(s) }
