// Package decision defines the result of a scheduling cycle as data. The package itself has no effects: the outbox
// carries out the decisions, and Assume applies them to the model in advance.
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

// Bind binds a pod to a node. The binds of one gang are adjacent.
type Bind struct {
	Pod  Object
	Node string
	Gang Object // zero UID if the pod has no gang
	// GangRemaining is the number of later binds of the same gang in the same Decisions. The outbox uses it to finish
	// nearly complete gangs first.
	GangRemaining int
	// Annotations are written to the pod together with its binding.
	Annotations map[string]string
	// Attach lists what must happen before the bind. It is nil if there is nothing to do.
	Attach *Attach
	// Check holds the conditions that the gang's PodGroup must still meet when the bind is written; nil means no check.
	Check *GangCheck
}

// GangCheck holds the minimums of a PodGroup that a decision relies on. The decision is valid only if they have not
// been raised since. All binds of a gang in the same Decisions point to the same GangCheck.
type GangCheck struct {
	MinMember     int
	MinTaskMember map[string]int
}

// Evict evicts a pod.
type Evict struct {
	Pod    Object
	Gang   Object
	Node   string
	Reason string // a single word, such as reclaim or preempt
	// Message is the message to report on the evicted gang: which gang and queue needed the resources, and why.
	Message   string
	Preemptor Object // the gang that gets the resources
	// Queue is the queue of the evicted gang. PreemptorQueue is the queue of the gang that gets the resources, or "" if
	// there is no such gang.
	Queue, PreemptorQueue string
	// ShareLoss is set if the eviction was granted because of the gangs' shares: see model.ShareLoss.
	ShareLoss model.ShareLoss
	// PreemptorMessage is the message to report on the gang that gets the resources: what is evicted and why. It is
	// set only on the first evicted pod of each victim gang.
	PreemptorMessage string
}

// Nomination reserves resources for a pod while other pods release them. An empty Node cancels the reservation.
type Nomination struct {
	Pod  Object
	Node string
	// Publish is true if status.nominatedNodeName must be written, for example after an eviction.
	Publish bool
}

// GangStatus is the complete new status of a PodGroup. It is set only if the meaning of the status changed.
type GangStatus struct {
	Gang   Object
	Status schedulingv1beta1.PodGroupStatus
	// HyperNode is the HyperNode that the gang is placed in, to be written as an annotation. It is nil if the HyperNode
	// is unchanged. Annotated reports whether the PodGroup already has annotations.
	HyperNode *string
	Annotated bool
}

// HyperNodeStatus is the new status of a HyperNode. It is set only if the status changed.
type HyperNodeStatus struct {
	HyperNode string
	NodeCount int
	Ready     metav1.Condition
}

// QueueStatus is the scheduler's part of a queue's status. It is set only if that part changed.
type QueueStatus struct {
	Queue                            string
	Allocated, Deserved, Terminating corev1.ResourceList
	// SharePercent is the largest used percentage of any of the deserved resources. Waiting is the number of gangs that
	// are waiting for their minimum.
	SharePercent, Waiting int32
	// Invalid describes the error in the queue's spec. It is nil if the queue is valid.
	Invalid *metav1.Condition
}

// Published returns the status in the form that the model stores; at is the time of the decision.
func (q *QueueStatus) Published(at time.Time) model.QueuePublished {
	return model.QueuePublished{
		Allocated: q.Allocated, Deserved: q.Deserved, Terminating: q.Terminating, SharePercent: q.SharePercent, Waiting: q.Waiting, Invalid: q.Invalid, At: at,
	}
}

// PodCondition is the PodScheduled=False condition of a waiting pod. It is set only if the condition changed.
type PodCondition struct {
	Pod     Object
	Reason  string
	Message string
}

// Event is an event about a PodGroup or a queue. It is recorded only if its meaning changed.
type Event struct {
	Gang    Object
	Queue   Object // the queue that the event is about, instead of a gang
	Type    string // Normal | Warning
	Reason  string
	Message string
}

// Stats holds statistics of the cycle for metrics. They do not influence decisions.
type Stats struct {
	GangsTried, GangsPlaced, GangsParked int
	// GangsFailed is the number of tried gangs about which the scheduler could not decide because of an error, such as
	// that of an extender. They are not among GangsPlaced.
	GangsFailed int
	// PreemptionAttempts is the number of pods for which an action searched for pods to evict.
	PreemptionAttempts int
	TasksPlaced        int
	// TaskWaits holds the time since the creation of each pod that got a node, in the order of Binds.
	TaskWaits  []time.Duration
	Victims    int
	Queues     []QueueFigures // queues whose figures changed
	QueuesGone []string       // deleted queues that had figures
	Gangs      []GangFigures  // gangs whose figures changed
	GangsGone  []Object       // deleted gangs that had figures
	Devices    []NodeDevices  // nodes whose figures changed
	Starts     []Start        // gangs that reached their minimum
}

// Start describes a gang that reached its minimum, and compares its start with the forecast.
type Start struct {
	Gang  Object
	Queue string
	// Created is the creation time of the gang.
	Created time.Time
	// Waited is true if the scheduler reported a reason why the gang was waiting.
	Waited bool
	// Foretold is true if a start time was forecast. Late is the delay of the start relative to the first forecast;
	// it is negative if the gang started earlier.
	Foretold bool
	Late     time.Duration
}

// QueueFigures holds the metrics of a queue.
type QueueFigures struct {
	Queue               string
	Allocated, Deserved corev1.ResourceList
	// Request is the amount that the queue's gangs use and request, and Inqueue the amount reserved for admitted gangs.
	// Capacity is the capability in the queue's spec. RealCapacity is the amount that the queue can use without using
	// the guarantees of other queues. Capacity and RealCapacity contain only limited resources.
	Request, Inqueue, Capacity, RealCapacity corev1.ResourceList
	// Terminating is the amount that terminating pods still use.
	Terminating corev1.ResourceList
	Weight      int32
	// Share is the largest used fraction of any deserved resource, or 0 if the queue has no share.
	Share float64
	// Overused is true if the queue cannot get more resources at present or holds more than it deserves.
	Overused bool
}

// GangFigures holds the metrics of a gang.
type GangFigures struct {
	Gang Object
	// Unready is the number of pods still needed to reach the minimum. Tries is the number of scheduling attempts
	// since the previous figures.
	Unready, Tries int
	// Share is the gang's largest fraction of any of the cluster's resources.
	Share float64
}

// Decisions holds the decisions of one cycle. Each slice is in the order in which the decisions were made.
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
	// Ungates lists pods that now fit into their queue, so that their scheduling gate is to be removed.
	Ungates       []Object
	PodConditions []PodCondition
	// Lingering lists pods that should have terminated by now but still exist. Their resources no longer count as
	// about to be freed.
	Lingering []Object
	// Usage holds the new usage of each account whose running pods changed. It must be stored to survive restarts.
	Usage []model.UsageEntry
	// BudgetUsage holds the new usage of each budget whose pods changed. It must be stored to survive restarts.
	BudgetUsage []model.BudgetUsageEntry
	Events      []Event
	// Again requests another cycle at once, after Assume, because the decisions may allow other gangs to start.
	Again bool
	// WakeAt requests a cycle at the given time even if nothing changes; the zero time requests none.
	WakeAt time.Time
	Stats  Stats
}

// IsEmpty reports whether there are no decisions to carry out.
func (d *Decisions) IsEmpty() bool {
	return len(d.Binds)+len(d.Evicts)+len(d.Ungates)+len(d.Nominations)+len(d.Gangs)+len(d.Queues)+len(d.HyperNodes)+len(d.PodConditions)+len(d.Events)+len(d.Lingering) == 0
}
