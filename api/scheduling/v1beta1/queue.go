package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Queue is a share of the cluster for the jobs that are submitted to it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=queues,scope=Cluster,shortName=q;queue-v1beta1
// +kubebuilder:printcolumn:name="PARENT",type=string,JSONPath=`.spec.parent`
// +kubebuilder:printcolumn:name="STATE",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="WEIGHT",type=integer,JSONPath=`.spec.weight`
// +kubebuilder:printcolumn:name="PENDING",type=integer,JSONPath=`.status.pending`
// +kubebuilder:printcolumn:name="INQUEUE",type=integer,JSONPath=`.status.inqueue`
// +kubebuilder:printcolumn:name="RUNNING",type=integer,JSONPath=`.status.running`
// +kubebuilder:printcolumn:name="COMPLETED",type=integer,priority=1,JSONPath=`.status.completed`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(self.spec.parent) || self.spec.parent != self.metadata.name",fieldPath=".spec.parent",message="a queue cannot use itself as parent",messageExpression="'queue ' + self.metadata.name + ' cannot use itself as parent'"
type Queue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec QueueSpec `json:"spec,omitempty"`
	// +optional
	Status QueueStatus `json:"status,omitempty"`
}

// QueueList is a list of Queues.
//
// +kubebuilder:object:root=true
type QueueList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Queue `json:"items"`
}

// QueueSpec describes the resources of a queue and how it shares them.
//
// +kubebuilder:validation:XValidation:rule="!has(self.guarantee) || !has(self.guarantee.resource) || self.guarantee.resource.all(r, has(self.deserved) && r in self.deserved && quantity(string(self.deserved[r])).compareTo(quantity(string(self.guarantee.resource[r]))) >= 0)",fieldPath=".deserved",message="deserved[r] must be >= guarantee[r], for each resource r that is guaranteed"
// +kubebuilder:validation:XValidation:rule="!has(self.deserved) || !has(self.capability) || self.deserved.all(r, !(r in self.capability) || quantity(string(self.deserved[r])).compareTo(quantity(string(self.capability[r]))) <= 0)",fieldPath=".deserved",message="deserved[r] must be <= capability[r], for each resource r with both"
type QueueSpec struct {
	// Weight determines the queue's share of the resources that it shares with its siblings.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Weight int32 `json:"weight,omitempty"`
	// Capability is the maximum amount of resources that the queue's gangs may use in total.
	// +optional
	Capability corev1.ResourceList `json:"capability,omitempty"`
	// Reclaimable determines whether other queues may reclaim the resources that the queue uses beyond its deserved
	// amount. Defaults to true.
	// +optional
	Reclaimable *bool `json:"reclaimable,omitempty"`
	// ExtendClusters lists other clusters to which the queue extends. It is kept for compatibility.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	ExtendClusters []Cluster `json:"extendClusters,omitempty"`
	// Guarantee is the amount of resources that is reserved for this queue.
	// +optional
	Guarantee Guarantee `json:"guarantee,omitempty"`
	// +optional
	Affinity *Affinity `json:"affinity,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Type string `json:"type,omitempty"`
	// Parent is the name of the parent queue. Defaults to root.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	Parent string `json:"parent,omitempty"`
	// Deserved is the amount of resources that the queue may use without having to give them back.
	// +optional
	Deserved corev1.ResourceList `json:"deserved,omitempty"`
	// Priority determines the order among sibling queues: queues with a higher priority come first.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Priority int32 `json:"priority,omitempty"`
	// DequeueStrategy determines whether a gang that cannot start blocks the gangs behind it.
	// +optional
	// +kubebuilder:default=traverse
	DequeueStrategy DequeueStrategy `json:"dequeueStrategy,omitempty"`
	// JobLimits limits each job of this queue and of the queues below it. Volcano does not have this field.
	// +optional
	JobLimits *JobLimits `json:"jobLimits,omitempty"`
}

// JobLimits limits the run time and the size of a job. If several queues on the path to root have a limit, the
// strictest one applies.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxRunTime) || !has(self.defaultRunTime) || duration(self.defaultRunTime) <= duration(self.maxRunTime)",fieldPath=".defaultRunTime",message="must not be longer than maxRunTime"
type JobLimits struct {
	// MaxRunTime is the longest time limit that a job may have. A job's time limit is the activeDeadlineSeconds of
	// its pods.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('2147483647s')",message="must be between 1s and 596523h14m7s"
	MaxRunTime *metav1.Duration `json:"maxRunTime,omitempty"`
	// DefaultRunTime is the time limit of jobs that do not specify one. Defaults to maxRunTime.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('2147483647s')",message="must be between 1s and 596523h14m7s"
	DefaultRunTime *metav1.Duration `json:"defaultRunTime,omitempty"`
	// MaxNodes is the largest number of separate nodes that a job may request, in an array each element. A job
	// requests separate nodes with required anti-affinity between its pods, or with host ports.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxNodes *int32 `json:"maxNodes,omitempty"`
	// MaxPods is the largest number of pods that a job may have, in all tasks and array elements together.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxPods *int32 `json:"maxPods,omitempty"`
}

// DequeueStrategy determines the order in which gangs leave a queue.
//
// +kubebuilder:validation:Enum=fifo;traverse
type DequeueStrategy string

// The dequeue strategies.
const (
	DequeueStrategyFIFO     DequeueStrategy = "fifo"     // strictly in order: the first gang blocks all others
	DequeueStrategyTraverse DequeueStrategy = "traverse" // gangs behind a gang that cannot start may overtake it
)

// Guarantee is the amount of resources that is reserved for a queue.
type Guarantee struct {
	// +optional
	Resource corev1.ResourceList `json:"resource,omitempty"`
}

// Cluster is another cluster to which a queue extends. It is kept for compatibility.
type Cluster struct {
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Weight int32 `json:"weight,omitempty"`
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
}

// Affinity restricts a queue to groups of nodes.
type Affinity struct {
	// +optional
	NodeGroupAffinity *NodeGroupAffinity `json:"nodeGroupAffinity,omitempty"`
	// +optional
	NodeGroupAntiAffinity *NodeGroupAntiAffinity `json:"nodeGroupAntiAffinity,omitempty"`
}

// NodeGroupAffinity lists the node groups to use.
type NodeGroupAffinity struct {
	// +optional
	RequiredDuringSchedulingIgnoredDuringExecution []string `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
	// +optional
	PreferredDuringSchedulingIgnoredDuringExecution []string `json:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

// NodeGroupAntiAffinity lists the node groups to avoid.
type NodeGroupAntiAffinity struct {
	// +optional
	RequiredDuringSchedulingIgnoredDuringExecution []string `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
	// +optional
	PreferredDuringSchedulingIgnoredDuringExecution []string `json:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

// QueueState determines whether a queue accepts jobs.
//
// +kubebuilder:validation:Enum="";Open;Closed;Closing;Unknown
type QueueState string

// The states of a queue. An empty state, which new queues have, means Open.
const (
	QueueStateOpen    QueueState = "Open"
	QueueStateClosed  QueueState = "Closed"
	QueueStateClosing QueueState = "Closing"
	QueueStateUnknown QueueState = "Unknown"
)

// Reservation is kept for compatibility.
type Reservation struct {
	// +optional
	Nodes []string `json:"nodes,omitempty"`
	// +optional
	Resource corev1.ResourceList `json:"resource,omitempty"`
}

// QueueStatus is the observed state of a queue. The queue controller writes the state and the numbers of PodGroups,
// and the scheduler writes the resources in use.
type QueueStatus struct {
	// +optional
	State QueueState `json:"state,omitempty"`
	// Unknown, Pending, Running, Inqueue and Completed are the numbers of PodGroups in each phase.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Unknown int32 `json:"unknown,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Pending int32 `json:"pending,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Running int32 `json:"running,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Inqueue int32 `json:"inqueue,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Completed int32 `json:"completed,omitempty"`
	// +optional
	Reservation Reservation `json:"reservation,omitempty"`
	// Allocated is the amount of resources that the pods of the queue and its descendants hold.
	// +optional
	// +nullable
	Allocated corev1.ResourceList `json:"allocated"`
	// Terminating is the amount of resources held by pods of the queue and its descendants that have not ended but
	// are being deleted, or of which it is unknown whether they have ended. It is not part of allocated, but counts
	// against the capability.
	// +optional
	// +nullable
	Terminating corev1.ResourceList `json:"terminating,omitempty"`
	// Deserved is the amount of resources that the queue may currently use without having to give them back. It
	// depends on the queue's weight and guarantee and on the requests of other queues.
	// +optional
	// +nullable
	Deserved corev1.ResourceList `json:"deserved,omitempty"`
	// Share is the percentage of the deserved amount that is in use, for the resource with the highest percentage. It
	// is at most 1000.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Share int32 `json:"sharePercent,omitempty"`
	// Waiting is the number of PodGroups that request more than they have.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Waiting int32 `json:"waiting,omitempty"`
	// Conditions contains a condition with the type Valid and the status False while the queue is invalid.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// QueueValid is the type of the condition that reports whether a queue is valid.
const QueueValid = "Valid"

// Invalid returns the condition that describes why the queue is invalid, or nil if it is valid.
func (q *Queue) Invalid() *metav1.Condition {
	for i := range q.Status.Conditions {
		if c := &q.Status.Conditions[i]; c.Type == QueueValid && c.Status == metav1.ConditionFalse {
			return c
		}
	}
	return nil
}
