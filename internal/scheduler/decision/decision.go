// Package decision is the result of a cycle, as data. Nothing here does
// anything: the outbox carries it out, and Assume tells the model that it will.
package decision

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
)

// Object names an API object.
type Object struct {
	Namespace string
	Name      string
	UID       types.UID
}

// Key is namespace/name.
func (o Object) Key() string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// Bind says that a pod shall run on a node. Binds of one gang follow each other.
type Bind struct {
	Pod  Object
	Node string
	Gang Object // zero UID: the pod has no gang
	// GangRemaining is how many binds of the same gang follow this one in the
	// same Decisions: the outbox finishes gangs that are nearly complete first.
	GangRemaining int
	// Annotations are written to the pod along with its binding.
	Annotations map[string]string
	// Attach is what comes before the bind; nil: nothing.
	Attach *Attach
	// Check is what the gang's PodGroup has to say still when the bind is written; nil: it is not looked at again.
	Check *GangCheck
}

// GangCheck is what of a PodGroup a decision rests on: minimums that have not been raised since. Binds of one gang
// in one Decisions share it.
type GangCheck struct {
	MinMember     int
	MinTaskMember map[string]int
}

// Evict says that a pod must leave.
type Evict struct {
	Pod    Object
	Gang   Object
	Node   string
	Reason string // one word: reclaim, preempt
	// Message tells the evicted side who wanted the room, whose queue, and why.
	Message   string
	Preemptor Object // the gang that gets the room
	// Gave is set when an order of shares granted it: see model.Gave.
	Gave model.Gave
	// PreemptorMessage tells the other side what goes and why: with the first pod of each gang that loses some, "" with the others.
	PreemptorMessage string
}

// Nomination reserves room that is being released for a pod. Node "" gives the
// reservation up.
type Nomination struct {
	Pod  Object
	Node string
	// Publish is set when status.nominatedNodeName should say so (after an eviction).
	Publish bool
}

// GangStatus is the complete new status of a PodGroup, to be written because
// its meaning changed.
type GangStatus struct {
	Gang   Object
	Status schedulingv1beta1.PodGroupStatus
	// HyperNode is where the gang is kept, to be written as an annotation; nil: unchanged. Annotated says whether
	// the PodGroup has annotations already.
	HyperNode *string
	Annotated bool
}

// HyperNodeStatus is the status of a HyperNode; only on change.
type HyperNodeStatus struct {
	HyperNode string
	NodeCount int
	Ready     metav1.Condition
}

// QueueStatus is the part of a queue's status that is the scheduler's; only on change.
type QueueStatus struct {
	Queue                            string
	Allocated, Deserved, Terminating corev1.ResourceList
	// SharePercent is the greatest part used of what is deserved; Waiting counts the gangs that wait for their minimum.
	SharePercent, Waiting int32
	// Invalid says what is wrong with the queue; nil: nothing.
	Invalid *metav1.Condition
}

// PodCondition is PodScheduled=False for a pod that waits; only on change.
type PodCondition struct {
	Pod     Object
	Reason  string
	Message string
}

// Event is an event to record on a PodGroup or a queue, only when its meaning changed.
type Event struct {
	Gang    Object
	Queue   Object // what it is about, instead of a gang
	Type    string // Normal | Warning
	Reason  string
	Message string
}

// Stats are the cycle's figures for metrics; they influence nothing.
type Stats struct {
	GangsTried  int
	GangsPlaced int
	GangsParked int
	TasksPlaced int
	Victims     int
	Queues      []QueueFigures // those that changed
	QueuesGone  []string       // told before, and deleted
	Gangs       []GangFigures  // those that changed
	GangsGone   []Object       // told before, and deleted
	Devices     []NodeDevices  // of nodes that changed
	Starts      []Start        // of gangs that got their minimum
}

// Start is a gang that got its minimum, and compares that with what was foretold.
type Start struct {
	Gang  Object
	Queue string
	// Created is when the gang came.
	Created time.Time
	// Waited says that it had been told why it waits.
	Waited bool
	// Foretold says that a time was told; Late is by how much the gang started after the first such time, negative: before.
	Foretold bool
	Late     time.Duration
}

// QueueFigures are how a queue stands.
type QueueFigures struct {
	Queue               string
	Allocated, Deserved corev1.ResourceList
	// Request is what its gangs hold and ask for, Inqueue what is reserved for those that are let in, Capacity what it says it may hold,
	// RealCapacity what it can hold beside the guarantees of others. Of the last two only what is limited is named.
	Request, Inqueue, Capacity, RealCapacity corev1.ResourceList
	// Terminating is what pods hold that are being deleted and have not ended.
	Terminating corev1.ResourceList
	Weight      int32
	// Share is the greatest part used of what the queue deserves, 0 when it has no share.
	Share float64
	// Overused: it gets nothing more for now, or holds more than it deserves.
	Overused bool
}

// GangFigures are how a gang stands.
type GangFigures struct {
	Gang Object
	// Unready is how many of its minimum have no node, Tries how often it was tried since it was last told.
	Unready, Tries int
	// Share is the greatest part of any resource of the cluster that it holds.
	Share float64
}

// Decisions is what one cycle decided. Slices are in the order decided.
type Decisions struct {
	// Now is the time the cycle was given.
	Now         time.Time
	Binds       []Bind
	Shuffles    []string // policies that moved pods
	Evicts      []Evict
	Nominations []Nomination
	Gangs       []GangStatus
	Queues      []QueueStatus
	HyperNodes  []HyperNodeStatus
	// Ungates are pods whose queue has room for them: the queue's gate is to be taken away.
	Ungates       []Object
	PodConditions []PodCondition
	// Lingering are pods that should have ended by now and have not: their room no longer counts as coming.
	Lingering []Object
	// Usage is what accounts have used, where what they hold changed. To be kept over restarts.
	Usage  []model.UsageEntry
	Events []Event
	// Again asks for another cycle at once (after Assume), because what was
	// decided may let others go on.
	Again bool
	// WakeAt asks for a cycle at that time although nothing changed; zero: none.
	WakeAt time.Time
	Stats  Stats
}

// Empty says whether there is nothing to carry out.
func (d *Decisions) Empty() bool {
	return len(d.Binds)+len(d.Evicts)+len(d.Ungates)+len(d.Nominations)+len(d.Gangs)+len(d.Queues)+len(d.HyperNodes)+len(d.PodConditions)+len(d.Events)+len(d.Lingering) == 0
}
