package evict

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Case describes the victims that an action may choose.
type Case struct {
	Kind framework.AttackKind
	// Own is true if the victims are lower-priority tasks of the same gang that needs the resources.
	Own bool
	// Surplus is true if gangs may lose only pods beyond their minimum.
	Surplus bool
	// Domains is the number of domains to try for a gang with a network topology.
	Domains int
	// Within limits the victims to some nodes; nil means all nodes. It is set while a domain is being tried.
	Within func(model.NodeID) bool
}

// Failure describes why no pod was evicted for a gang.
type Failure struct {
	// Code is NotReclaimable if the queues in Blockers have resources that may not be reclaimed; otherwise "".
	Code     reason.Code
	Blockers []string
	Spared   []explain.Spared
	// NoVictims is true if no gang of the same queue and priority could find a victim either.
	NoVictims bool
}

// isBetweenQueues reports whether a kind of attack evicts pods of other queues.
func isBetweenQueues(kind framework.AttackKind) bool {
	return kind == framework.Reclaim || kind == framework.GangReclaim
}

// combineWith combines two failures.
func (f Failure) combineWith(o Failure) Failure {
	f.NoVictims = f.NoVictims && o.NoVictims
	if o.Code != "" {
		f.Code, f.Blockers = o.Code, o.Blockers
	}
	for _, s := range o.Spared {
		f.Spared = explain.AddSpared(slices.Clip(f.Spared), s.Code, s.Detail, s.Pods)
	}
	return f
}
