// Package preempt makes room for a gang inside its queue: out of gangs that
// policies let go for it (by default those of lower priority), and then out of its
// own tasks of lower priority. As few as do it, and nobody unless it does.
package preempt

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Action is the action preempt.
type Action struct{}

// Name is preempt.
func (Action) Name() string { return "preempt" }

// Run goes through the starving gangs, in the order of queues and gangs.
func (Action) Run(s *session.Session) {
	evict.Run(s, evict.Case{Kind: session.Preempt}, evict.Case{Kind: session.Preempt, Own: true})
}

// Reads names the arguments that are understood.
func (Action) Reads() []string { return manual.Reads().Arguments }

// Configured says which arguments change nothing: all of them.
func (a Action) Configured(arguments config.Arguments, warn func(string)) session.Action {
	for _, o := range manual.Arguments {
		if _, given := arguments[o.Key]; given {
			warn(o.Key + " changes nothing: " + o.Text)
		}
	}
	return a
}
