package placement

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Constraints limits what a round may place, in addition to the nodes and the limits of queues: resources that are
// reserved for other gangs, held for lost pods, or promised to pods that passed their queue's gate.
type Constraints interface {
	// MayAllocate returns why a gang's queue may not hold a request more.
	MayAllocate(j *framework.Job, request resource.Request) explain.Verdict
	// CheckReserved returns why a task of a gang may not be placed now, on any node.
	CheckReserved(j *framework.Job, t *model.Task) explain.Verdict
	// FreeReservations returns the reservations that do not restrict any, or all, of a gang's tasks, as a bit set.
	FreeReservations(j *framework.Job, anyTask bool) uint32
	// FindLentNode returns a node whose reserved resources a task may use before all others.
	FindLentNode(j *framework.Job, t *model.Task) (model.NodeID, bool)
	// UseHeldResources releases what is held for a gang until the returned function is called.
	UseHeldResources(j *framework.Job) (done func())
	// FirstOverdue returns the gang for which free resources are reserved bit by bit; nil for none.
	FirstOverdue() *framework.Job
	// ExplainReserved names the reservations in the verdict of a gang that does not fit because of them.
	ExplainReserved(j *framework.Job, v explain.Verdict) explain.Verdict
	// ExplainHeld names what is held for others, or lingers, in the verdict of a gang that would fit with it.
	ExplainHeld(j *framework.Job, v explain.Verdict, limits Limits) explain.Verdict
}

// Preference finds nodes with resources that a round uses before all others.
type Preference interface {
	// FindNode returns a node for a task and counts its resources as used.
	FindNode(j *framework.Job, t *model.Task) (model.NodeID, bool)
	// Reset forgets what was used.
	Reset()
}

// Limits selects which limits of the queue count in a round.
type Limits int

// Share counts all limits; Capability counts the queue's capability but not its share.
const (
	Share Limits = iota
	Capability
)

// appliesTo reports whether a verdict is about a limit that counts.
func (l Limits) appliesTo(v explain.Verdict) bool {
	return v.Code != "" && (l == Share || v.Code != reason.OverDeserved)
}
