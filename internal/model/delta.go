package model

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Delta is one change to the cluster's state. The …From converters create deltas; Cluster.Apply applies them.
type Delta interface{ apply(c *Cluster) }

// NodeSet adds or replaces a node.
type NodeSet struct {
	Name          string
	Labels        map[string]string
	Taints        []corev1.Taint
	Unschedulable bool
	Allocatable   []Amount
	Images        map[string]int64  // name → bytes
	Annotations   map[string]string // that policies may read
	Devices       []Amount          // capacity of shared devices, unhealthy ones included
}

// NodeGone removes a node. Its tasks stay and are counted again when the node comes back.
type NodeGone struct{ Name string }

// TaskSet adds or replaces a pod.
type TaskSet struct {
	UID       types.UID
	Namespace string
	Name      string
	Created   time.Time
	Labels    map[string]string
	Ours      bool   // names one of our schedulers
	Group     string // PodGroup name in the same namespace; "" if unset
	Queue     string // queue that the pod names, used if its PodGroup does not exist; "" if unset
	// NamedQueue is the queue that a plain pod requests for its PodGroup; "" if unset.
	NamedQueue string
	Node       string // "" if not bound
	Status     Status
	Role       string
	Index      int // the pod's number in its role; -1 if unset
	Priority   int32
	// PriorityClass is the name of the pod's priority class; "" if unset.
	PriorityClass string
	// Gates are the names of the pod's scheduling gates; Gated says that it has some.
	Gates []string
	Gated bool
	// QueueGated is true if the queue's gate is the only scheduling gate.
	QueueGated bool
	// Preemptable is false if the pod is protected from eviction.
	Preemptable bool
	// Critical is true for pods that are never evicted: system classes and kube-system.
	Critical bool
	// Never is true for preemptionPolicy Never: the pod must not cause evictions.
	Never bool
	Shape ShapeSpec
	// Annotations holds the annotations that policies may read.
	Annotations map[string]string
	Started     time.Time // when the kubelet started the pod; zero if it did not yet
	Expected    RunTime
	// Condition is the PodScheduled condition as last read.
	Condition PodCondition
	// Ready is the pod's Ready condition, BoundAt when PodScheduled became true; zero if unknown.
	Ready   bool
	BoundAt time.Time
	// Nominated is the node that the API names as the one where room is being freed for the pod; "" if there is
	// none.
	Nominated string
	// Killed is true if the pod ended because it was stopped.
	Killed bool
	// LeavesBy is the deadline of a pod that is being deleted; zero if it is not being deleted.
	LeavesBy time.Time
}

// PodCondition is the part of PodScheduled that the scheduler may write.
type PodCondition struct {
	Reason  string
	Message string
}

// TaskGone removes a pod. If UID is empty, it removes the pod with the name, whatever its UID.
type TaskGone struct {
	Namespace, Name string
	UID             types.UID
}

// GangSet adds or replaces a PodGroup.
type GangSet struct {
	UID             types.UID
	Namespace, Name string
	Job             string // Job that owns the PodGroup; "" if unset
	Created         time.Time
	ResourceVersion string
	Queue           string // "" for the default queue
	MinMember       int
	MinTaskMember   map[string]int
	MinResources    []Amount
	// User is the user who submitted the gang, from its annotation or label; "" if unknown.
	User string
	// QuotaResources holds the part of minResources whose names only quotas use, such as requests.cpu and
	// limits.memory.
	QuotaResources  []Amount
	HasMinResources bool
	// TaskRequests holds the request of one pod of each of the job's tasks; nil if unknown.
	TaskRequests map[string][]Amount
	// TaskPlacements holds the constraints on where the pods of the job's tasks may run, without requests. Tasks
	// that may run anywhere are omitted. nil if unknown.
	TaskPlacements map[string]ShapeSpec
	PriorityClass  string
	Annotations    map[string]string
	// Preemptable is the text of the preemptable annotation or, without it, of the label; "" if neither is set.
	Preemptable string
	Estimate    time.Duration // expected run time of its pods; 0 if unknown
	Status      schedulingv1beta1.PodGroupStatus
	// Topology limits the distance between the gang's pods; nil if they may run anywhere.
	Topology  *TopologySpec
	SubGroups []SubGroupPolicy
}

// GangGone removes a PodGroup. If UID is empty, it removes the PodGroup with the name, whatever its UID.
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
	Annotations map[string]string // that policies may read
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

// BindFailed reverts an assumed binding: the pod is Pending again. Applying it at once is right for a conflict; in
// other cases the outbox delays the delta.
type BindFailed struct {
	UID types.UID
	Err string
}

// EvictFailed reverts an assumed eviction.
type EvictFailed struct {
	UID types.UID
	Err string
}

// GangStatusFailed reports that a PodGroup status was not written, so the next cycle writes it again.
type GangStatusFailed struct{ UID types.UID }

// QueueStatusFailed reports that a queue status was not written.
type QueueStatusFailed struct{ Name string }

// PodConditionFailed reports that a pod's condition was not written.
type PodConditionFailed struct{ UID types.UID }
