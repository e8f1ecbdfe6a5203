package placement

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Constraints limits what a round may place, in addition to the nodes and the limits of queues. It protects resources
// that are reserved for other gangs, held for lost pods, or promised to pods that have passed their queue's gate.
type Constraints interface {
	// MayAllocate returns why a gang's queue may not hold a request in addition to what it holds.
	MayAllocate(j *framework.Job, request resource.Request) explain.Verdict
	// CheckReserved returns why a task of a gang may not be placed now, on any node.
	CheckReserved(j *framework.Job, t *model.Task) explain.Verdict
	// FreeReservations returns the reservations that leave at least one of a gang's tasks unrestricted, or all of
	// them if anyTask is false, as a bit set.
	FreeReservations(j *framework.Job, anyTask bool) uint32
	// FindLentNode returns a node whose reserved resources a task may use before all others.
	FindLentNode(j *framework.Job, t *model.Task) (model.NodeID, bool)
	// UseHeldResources releases what is held for a gang until the returned function is called.
	UseHeldResources(j *framework.Job) (done func())
	// FirstOverdue returns the gang for which free resources are reserved bit by bit; nil if none exists.
	FirstOverdue() *framework.Job
	// ExplainReserved names the reservations in the verdict of a gang that does not fit because of them.
	ExplainReserved(j *framework.Job, v explain.Verdict) explain.Verdict
	// ExplainHeld adds to the verdict of a gang which resources are held for others or used by lingering pods, if the
	// gang would fit with these resources.
	ExplainHeld(j *framework.Job, v explain.Verdict, limits Limits) explain.Verdict
}

// Preference finds nodes with resources that a round uses before all others.
type Preference interface {
	// FindNode returns a node for a task and counts its resources as used.
	FindNode(j *framework.Job, t *model.Task) (model.NodeID, bool)
	// Reset drops the counts of used resources.
	Reset()
}

// Limits selects which limits of the queue apply in a round.
type Limits int

// Share applies all limits; Capability applies the queue's capability but not its share.
const (
	Share Limits = iota
	Capability
)

// appliesTo reports whether a verdict is about a limit that applies.
func (l Limits) appliesTo(v explain.Verdict) bool {
	return v.Code != "" && (l == Share || v.Code != reason.OverDeserved)
}
