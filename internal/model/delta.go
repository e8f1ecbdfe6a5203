package model

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Delta is one change of what is known. Deltas are made by the …From
// converters or written by hand; Cluster.Apply carries them out.
type Delta interface{ apply(c *Cluster) }

// NodeSet adds or replaces a node.
type NodeSet struct {
	Name          string
	Labels        map[string]string
	Taints        []corev1.Taint
	Unschedulable bool
	Allocatable   []Amount
	Images        map[string]int64  // name → bytes
	Annotations   map[string]string // those that policies may read
	Devices       []Amount          // capacity of devices that pods share, unhealthy ones included
}

// NodeGone removes a node. Its tasks stay known and are counted again when the
// node comes back.
type NodeGone struct{ Name string }

// TaskSet adds or replaces a pod.
type TaskSet struct {
	UID       types.UID
	Namespace string
	Name      string
	Created   time.Time
	Labels    map[string]string
	Ours      bool   // names one of our schedulers
	Group     string // PodGroup name in the same namespace; "" = none
	Queue     string // the queue that the pod names, where its PodGroup does not exist; "" = none
	// NamedQueue is the queue that a plain pod asks its PodGroup to be in; "" = none.
	NamedQueue string
	Node       string // "" = not bound
	Status     Status
	Role       string
	Index      int // pod's number inside its role, -1 = none
	Priority   int32
	// PriorityClass is the pod's, "" for none.
	PriorityClass string
	Gated         bool
	// QueueGated: the only gate is that of its queue.
	QueueGated bool
	// Preemptable false protects the pod from eviction.
	Preemptable bool
	// Critical pods (system classes, kube-system) are never evicted.
	Critical bool
	// Never is preemptionPolicy Never: the pod may not cause evictions.
	Never bool
	Shape ShapeSpec
	// Annotations are those that policies may read.
	Annotations map[string]string
	Started     time.Time // taken up by the kubelet; zero: not yet
	Expected    RunTime
	// Condition is the PodScheduled condition as last seen.
	Condition PodCondition
	// Ready is the pod's condition, BoundAt when PodScheduled became true; zero: unknown.
	Ready   bool
	BoundAt time.Time
	// Nominated is the node that the API says room is being made on, "" for none.
	Nominated string
	// Killed: it has ended because it was told to go.
	Killed bool
	// LeavesBy is when a pod that is being deleted is to be gone; zero: it is not.
	LeavesBy time.Time
}

// PodCondition is the part of PodScheduled that we may write.
type PodCondition struct {
	Reason  string
	Message string
}

// TaskGone removes a pod. UID "" removes whichever pod has the name.
type TaskGone struct {
	Namespace, Name string
	UID             types.UID
}

// GangSet adds or replaces a PodGroup.
type GangSet struct {
	UID             types.UID
	Namespace, Name string
	Job             string // that owns the PodGroup; "" = none
	Created         time.Time
	ResourceVersion string
	Queue           string // "" = default queue
	MinMember       int
	MinTaskMember   map[string]int
	MinResources    []Amount
	// User is who submitted it, as its annotation or label says; "" = unknown.
	User string
	// QuotaResources are minResources under names that only quotas use: requests.cpu, limits.memory.
	QuotaResources  []Amount
	HasMinResources bool
	// TaskRequests are what a pod of each of its job's tasks requests; nil: unknown.
	TaskRequests map[string][]Amount
	// TaskPlacements say where the pods of its job's tasks may run, without requests; tasks that may run anywhere are left out. nil: unknown.
	TaskPlacements map[string]ShapeSpec
	PriorityClass  string
	Annotations    map[string]string
	// Preemptable is what its annotation, else its label, says of preemption; "" = nothing.
	Preemptable string
	Estimate    time.Duration // expected run time of its pods; 0: unknown
	Status      schedulingv1beta1.PodGroupStatus
	// Topology says how near the pods have to be to each other; nil: anywhere.
	Topology  *TopologySpec
	SubGroups []SubGroupPolicy
}

// GangGone removes a PodGroup. UID "" removes whichever has the name.
type GangGone struct {
	Namespace, Name string
	UID             types.UID
}

// QueueSet adds or replaces a queue.
type QueueSet struct {
	Name        string
	UID         types.UID
	Created     time.Time
	Weight      int32
	Priority    int32
	Reclaimable bool
	Open        bool
	State       string
	Parent      string
	Fifo        bool
	Capability  []Amount
	Guarantee   []Amount
	Deserved    []Amount
	Annotations map[string]string // those that policies may read
	Affinity    *schedulingv1beta1.Affinity
	Status      schedulingv1beta1.QueueStatus
}

// QueueGone removes a queue.
type QueueGone struct{ Name string }

// PriorityClassSet adds or replaces a PriorityClass.
type PriorityClassSet struct {
	Name          string
	Value         int32
	GlobalDefault bool
}

// PriorityClassGone removes a PriorityClass.
type PriorityClassGone struct{ Name string }

// BindFailed takes an assumed binding back: the pod is Pending again.
// Retry at once is right for a conflict; the outbox delays the delta otherwise.
type BindFailed struct {
	UID types.UID
	Err string
}

// EvictFailed takes an assumed eviction back.
type EvictFailed struct {
	UID types.UID
	Err string
}

// GangStatusFailed says that a PodGroup status was not written, so the next
// cycle writes it again.
type GangStatusFailed struct{ UID types.UID }

// QueueStatusFailed says that a queue status was not written.
type QueueStatusFailed struct{ Name string }

// PodConditionFailed says that a pod's condition was not written.
type PodConditionFailed struct{ UID types.UID }
