// Package preempt makes room for a gang inside its queue: out of gangs that
// policies let go for it (by default those of lower priority), and then out of its
// own tasks of lower priority. As few as do it, and nobody unless it does.
package preempt

import (
	"slices"

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

// needless are Volcano's arguments that have nothing to steer here, and why.
var needless = map[string]string{
	"predicateErrorCacheEnable":     "every shape is judged once anyway",
	"enableTopologyAwarePreemption": "what pods say of each other is judged with the victims gone, always",
	"topologyAwarePreemptWorkerNum": "deciding takes one core",
	"minCandidateNodesPercentage":   "every node is looked at",
	"minCandidateNodesAbsolute":     "every node is looked at",
	"maxCandidateNodesAbsolute":     "every node is looked at",
}

// Reads names the arguments that are understood.
func (Action) Reads() []string {
	var keys []string
	for key := range needless {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Configured says which arguments change nothing.
func (a Action) Configured(arguments config.Arguments, warn func(string)) session.Action {
	for _, key := range a.Reads() {
		if _, given := arguments[key]; given {
			warn(key + " changes nothing: " + needless[key])
		}
	}
	return a
}
