// Package preempt makes room for a gang inside its queue. It evicts pods of the gangs that policies allow as victims,
// by default gangs of lower priority. If that is not possible, it evicts lower-priority tasks of the gang itself. It
// evicts as few pods as possible, and none unless the gang can then start.
package preempt

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Action implements the preempt action.
type Action struct{}

// Name returns "preempt".
func (Action) Name() string { return "preempt" }

// Run tries to make room for each starving gang, in the order of queues and gangs.
func (Action) Run(s *cycle.Cycle) {
	evict.Run(s, evict.Case{Kind: framework.Preempt}, evict.Case{Kind: framework.Preempt, Own: true})
}

// Reads returns the arguments that are accepted.
func (Action) Reads() []string { return manual.Reads().Arguments }

// Configured warns about every given argument, because the action accepts arguments but none of them has an effect.
func (a Action) Configured(arguments config.Arguments, warn func(string)) cycle.Action {
	for _, o := range manual.Arguments {
		if _, given := arguments[o.Key]; given {
			warn(o.Key + " changes nothing: " + o.Text)
		}
	}
	return a
}
