package model

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model/podshape"
	"github.com/vc-batch/vc/internal/model/resource"
)

// NodeSet adds or replaces a node.
type NodeSet struct {
	Name          string
	Labels        map[string]string
	Taints        []corev1.Taint
	Unschedulable bool
	Allocatable   []resource.Amount
	Images        map[string]int64  // name → bytes
	Annotations   map[string]string // annotations that policies may read
	Devices       []resource.Amount // capacity of shared devices, including unhealthy ones
}

// NodeGone removes a node. Its tasks remain and are counted again if the node reappears.
type NodeGone struct{ Name string }

// TaskSet adds or replaces a pod.
type TaskSet struct {
	UID       types.UID
	Namespace string
	Name      string
	Created   time.Time
	Labels    map[string]string
	Ours      bool   // the pod names one of this process's schedulers
	Group     string // name of the PodGroup in the same namespace; "" if unset
	Queue     string // queue named by the pod, used if its PodGroup does not exist; "" if unset
	// NamedQueue is the queue that a plain pod requests for its PodGroup; "" if unset.
	NamedQueue string
	Node       string // "" if not bound
	Status     Status
	Role       string
	Index      int // the pod's number within its role; -1 if unset
	Priority   int32
	// PriorityClass is the name of the pod's priority class; "" if unset.
	PriorityClass string
	// Gates holds the names of the pod's scheduling gates. Gated is true if the pod has any.
	Gates []string
	Gated bool
	// QueueGated is true if the gate set for its queue is the pod's only scheduling gate.
	QueueGated bool
	// Preemptable is false if the pod is protected from eviction.
	Preemptable bool
	// Critical is true for pods that are never evicted: pods of system priority classes and pods in kube-system.
	Critical bool
	// Never is true if preemptionPolicy is Never, so that the pod must not cause evictions.
	Never bool
	Shape podshape.Spec
	// Annotations holds the annotations that policies may read.
	Annotations map[string]string
	Started     time.Time // when the kubelet started the pod; zero if it has not started yet
	Expected    RunTime
	// Condition is the PodScheduled condition as last read.
	Condition PodCondition
	// Ready is the pod's Ready condition. BoundAt is the time when PodScheduled became true; zero if unknown.
	Ready   bool
	BoundAt time.Time
	// Nominated is the node in the pod's status on which resources are being freed for the pod; "" if none exists.
	Nominated string
	// Killed is true if the pod did not end by itself but was stopped.
	Killed bool
	// LeavesBy is the deadline of a pod that is being deleted; zero if it is not being deleted.
	LeavesBy time.Time
}

// PodCondition is the part of PodScheduled that the scheduler may write.
type PodCondition struct {
	Reason  string
	Message string
}

// TaskGone removes a pod. If UID is empty, it removes the pod with the given name, whatever UID that pod has.
type TaskGone struct {
	Namespace, Name string
	UID             types.UID
}

// GangSet adds or replaces a PodGroup.
type GangSet struct {
	UID             types.UID
	Namespace, Name string
	Job             string // Job that owns the PodGroup; "" if none
	Created         time.Time
	ResourceVersion string
	Queue           string // "" means the default queue
	MinMember       int
	MinTaskMember   map[string]int
	MinResources    []resource.Amount
	// User is the user who submitted the gang, as given by an annotation; "" if unknown.
	User string
	// Account is the account for which the gang was submitted, as given by a label; "" if none.
	Account string
	// QOS is the quality of service with which the gang was submitted, as given by a label; "" if none.
	QOS string
	// QuotaResources holds the part of minResources whose names are used only by quotas, such as requests.cpu and
	// limits.memory.
	QuotaResources  []resource.Amount
	HasMinResources bool
	// TaskRequests holds the request of one pod of each of the job's tasks; nil if unknown.
	TaskRequests map[string][]resource.Amount
	// TaskPlacements holds the constraints on where the pods of the job's tasks may run, without requests. It omits
	// tasks that may run anywhere; nil if the constraints are unknown.
	TaskPlacements map[string]podshape.Spec
	PriorityClass  string
	Annotations    map[string]string
	// Preemptable is the text of the preemptable annotation or, if it is missing, of the label; "" if both are
	// missing.
	Preemptable string
	Estimate    time.Duration // expected run time of the gang's pods; 0 if unknown
	// TimeLimit is the longest time limit of the gang's pods, including pods that do not exist yet; 0 if it is unknown or
	// a pod has none.
	TimeLimit time.Duration
	Status    schedulingv1beta1.PodGroupStatus
	// Topology limits the distance between the gang's pods; nil if they may run anywhere.
	Topology  *TopologySpec
	SubGroups []SubGroupPolicy
}

// GangGone removes a PodGroup. If UID is empty, it removes the PodGroup with the given name, whatever UID that
// PodGroup has.
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
	Capability  []resource.Amount
	Guarantee   []resource.Amount
	Deserved    []resource.Amount
	Annotations map[string]string // annotations that policies may read
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

// BindFailed reverts an assumed binding, so that the pod is Pending again. After a conflict, the delta should be
// applied at once; in other cases, the outbox delays it.
type BindFailed struct {
	UID types.UID
	Err string
}

// EvictFailed reverts an assumed eviction.
type EvictFailed struct {
	UID types.UID
	Err string
}

// GangStatusFailed reports that a PodGroup's status was not written. The next cycle writes it again.
type GangStatusFailed struct{ UID types.UID }

// QueueStatusFailed reports that a queue's status was not written.
type QueueStatusFailed struct{ Name string }

// PodConditionFailed reports that a pod's PodScheduled condition was not written.
type PodConditionFailed struct{ UID types.UID }
