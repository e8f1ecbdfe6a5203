// Package decision defines the result of a cycle as data. It has no effects: the outbox carries the decisions out,
// and Assume updates the model in advance.
package decision

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
)

// Object identifies an API object.
type Object struct {
	Namespace string
	Name      string
	UID       types.UID
}

// Key returns namespace/name, or the name if there is no namespace.
func (o Object) Key() string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// Bind binds a pod to a node. Binds of one gang follow each other.
type Bind struct {
	Pod  Object
	Node string
	Gang Object // zero UID if the pod has no gang
	// GangRemaining is the number of later binds of the same gang in the same Decisions: the outbox finishes nearly
	// complete gangs first.
	GangRemaining int
	// Annotations are written to the pod with its binding.
	Annotations map[string]string
	// Attach lists what must happen before the bind; nil for nothing.
	Attach *Attach
	// Check holds what must still be true of the gang's PodGroup when the bind is written; nil for no check.
	Check *GangCheck
}

// GangCheck holds the minimums of a PodGroup that a decision relies on. They must not have been raised since. Binds
// of one gang in one Decisions share it.
type GangCheck struct {
	MinMember     int
	MinTaskMember map[string]int
}

// Evict evicts a pod.
type Evict struct {
	Pod    Object
	Gang   Object
	Node   string
	Reason string // one word: reclaim, preempt
	// Message is the message for the evicted gang: which gang and queue needed the resources, and why.
	Message   string
	Preemptor Object // the gang that gets the resources
	// Gave is set if an order of shares granted the eviction: see model.Gave.
	Gave model.Gave
	// PreemptorMessage is the message for the gang that gets the resources: what is evicted and why. It is set on
	// the first pod of each victim gang and "" on the others.
	PreemptorMessage string
}

// Nomination reserves resources that are being released for a pod. An empty Node cancels the reservation.
type Nomination struct {
	Pod  Object
	Node string
	// Publish is set if status.nominatedNodeName must be written, after an eviction.
	Publish bool
}

// GangStatus is the complete new status of a PodGroup. It is written when its meaning changed.
type GangStatus struct {
	Gang   Object
	Status schedulingv1beta1.PodGroupStatus
	// HyperNode is the HyperNode that the gang is placed in, to be written as an annotation; nil if unchanged.
	// Annotated reports whether the PodGroup already has annotations.
	HyperNode *string
	Annotated bool
}

// HyperNodeStatus is the status of a HyperNode. It is set only on change.
type HyperNodeStatus struct {
	HyperNode string
	NodeCount int
	Ready     metav1.Condition
}

// QueueStatus is the scheduler's part of a queue's status. It is set only on change.
type QueueStatus struct {
	Queue                            string
	Allocated, Deserved, Terminating corev1.ResourceList
	// SharePercent is the largest used part of the deserved resources. Waiting is the number of gangs that wait for
	// their minimum.
	SharePercent, Waiting int32
	// Invalid describes the error in the queue's spec; nil if the queue is valid.
	Invalid *metav1.Condition
}

// PodCondition is PodScheduled=False for a waiting pod. It is set only on change.
type PodCondition struct {
	Pod     Object
	Reason  string
	Message string
}

// Event is an event on a PodGroup or a queue. It is recorded only when its meaning changed.
type Event struct {
	Gang    Object
	Queue   Object // the queue that the event is about, instead of a gang
	Type    string // Normal | Warning
	Reason  string
	Message string
}

// Stats holds figures of the cycle for metrics. They do not influence decisions.
type Stats struct {
	GangsTried  int
	GangsPlaced int
	GangsParked int
	TasksPlaced int
	Victims     int
	Queues      []QueueFigures // queues with changes
	QueuesGone  []string       // deleted queues with earlier figures
	Gangs       []GangFigures  // gangs with changes
	GangsGone   []Object       // deleted gangs with earlier figures
	Devices     []NodeDevices  // nodes with changes
	Starts      []Start        // gangs that reached their minimum
}

// Start describes a gang that reached its minimum, compared with the forecast of its start.
type Start struct {
	Gang  Object
	Queue string
	// Created is the creation time of the gang.
	Created time.Time
	// Waited is true if a reason for waiting was reported for the gang.
	Waited bool
	// Foretold is true if a start time was forecast. Late is the delay of the start after the first forecast;
	// negative if the gang started earlier.
	Foretold bool
	Late     time.Duration
}

// QueueFigures holds the figures of a queue.
type QueueFigures struct {
	Queue               string
	Allocated, Deserved corev1.ResourceList
	// Request is what the queue's gangs use and request, and Inqueue the reservations for admitted gangs. Capacity is
	// the capability in the queue's spec. RealCapacity is the amount that it can use besides the guarantees of other
	// queues. Capacity and RealCapacity contain only limited resources.
	Request, Inqueue, Capacity, RealCapacity corev1.ResourceList
	// Terminating is the amount that terminating pods still use.
	Terminating corev1.ResourceList
	Weight      int32
	// Share is the greatest used fraction of a deserved resource; 0 if the queue has no share.
	Share float64
	// Overused is true if the queue currently gets nothing more or holds more than it deserves.
	Overused bool
}

// GangFigures holds the figures of a gang.
type GangFigures struct {
	Gang Object
	// Unready is how many pods are still needed to reach the minimum; Tries is the number of scheduling attempts since
	// the last figures.
	Unready, Tries int
	// Share is the gang's largest part of any resource of the cluster.
	Share float64
}

// Decisions holds the decisions of one cycle. Slices are in the order of the decisions.
type Decisions struct {
	// Now is the time of the cycle.
	Now         time.Time
	Binds       []Bind
	Shuffles    []string // policies that moved pods
	Evicts      []Evict
	Nominations []Nomination
	Gangs       []GangStatus
	Queues      []QueueStatus
	HyperNodes  []HyperNodeStatus
	// Ungates lists pods whose queue has room for them. Their queue's gate is to be removed.
	Ungates       []Object
	PodConditions []PodCondition
	// Lingering lists pods that should have ended by now but still exist. Their resources no longer count as about
	// to be freed.
	Lingering []Object
	// Usage holds the use of accounts whose holdings changed. It must be stored to survive restarts.
	Usage  []model.UsageEntry
	Events []Event
	// Again requests another cycle at once, after Assume, because the decisions may enable other gangs.
	Again bool
	// WakeAt requests a cycle at that time even if nothing changes; zero for none.
	WakeAt time.Time
	Stats  Stats
}

// Empty reports whether there is nothing to carry out.
func (d *Decisions) Empty() bool {
	return len(d.Binds)+len(d.Evicts)+len(d.Ungates)+len(d.Nominations)+len(d.Gangs)+len(d.Queues)+len(d.HyperNodes)+len(d.PodConditions)+len(d.Events)+len(d.Lingering) == 0
}
