package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Queue shares the cluster between those who submit to it.
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

// QueueSpec is what a queue may have and owes.
//
// +kubebuilder:validation:XValidation:rule="!has(self.guarantee) || !has(self.guarantee.resource) || self.guarantee.resource.all(r, has(self.deserved) && r in self.deserved && quantity(string(self.deserved[r])).compareTo(quantity(string(self.guarantee.resource[r]))) >= 0)",fieldPath=".deserved",message="deserved[r] must be >= guarantee[r], for each resource r that is guaranteed"
// +kubebuilder:validation:XValidation:rule="!has(self.deserved) || !has(self.capability) || self.deserved.all(r, !(r in self.capability) || quantity(string(self.deserved[r])).compareTo(quantity(string(self.capability[r]))) <= 0)",fieldPath=".deserved",message="deserved[r] must be <= capability[r], for each resource r with both"
type QueueSpec struct {
	// Weight is the queue's part of what it shares with its siblings.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Weight int32 `json:"weight,omitempty"`
	// Capability is the most that the queue's gangs may hold together.
	// +optional
	Capability corev1.ResourceList `json:"capability,omitempty"`
	// Reclaimable says whether others may take back what the queue holds beyond what it deserves. Unset: yes.
	// +optional
	Reclaimable *bool `json:"reclaimable,omitempty"`
	// ExtendClusters are clusters that the queue extends to; kept for compatibility.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	ExtendClusters []Cluster `json:"extendClusters,omitempty"`
	// Guarantee is kept free for this queue.
	// +optional
	Guarantee Guarantee `json:"guarantee,omitempty"`
	// +optional
	Affinity *Affinity `json:"affinity,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Type string `json:"type,omitempty"`
	// Parent queue; root when unset.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	Parent string `json:"parent,omitempty"`
	// Deserved is what the queue may hold without giving back.
	// +optional
	Deserved corev1.ResourceList `json:"deserved,omitempty"`
	// Priority of the queue among its siblings; higher first.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Priority int32 `json:"priority,omitempty"`
	// DequeueStrategy says whether a gang that cannot start holds up those behind it.
	// +optional
	// +kubebuilder:default=traverse
	DequeueStrategy DequeueStrategy `json:"dequeueStrategy,omitempty"`
}

// DequeueStrategy is the order in which gangs leave a queue.
//
// +kubebuilder:validation:Enum=fifo;traverse
type DequeueStrategy string

// The strategies.
const (
	DequeueStrategyFIFO     DequeueStrategy = "fifo"     // strictly in order: the first gang blocks all others
	DequeueStrategyTraverse DequeueStrategy = "traverse" // gangs behind a gang that cannot start may overtake it
)

// Guarantee is kept free for a queue.
type Guarantee struct {
	// +optional
	Resource corev1.ResourceList `json:"resource,omitempty"`
}

// Cluster is another cluster that a queue extends to; kept for compatibility.
type Cluster struct {
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Weight int32 `json:"weight,omitempty"`
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
}

// Affinity binds a queue to groups of nodes.
type Affinity struct {
	// +optional
	NodeGroupAffinity *NodeGroupAffinity `json:"nodeGroupAffinity,omitempty"`
	// +optional
	NodeGroupAntiAffinity *NodeGroupAntiAffinity `json:"nodeGroupAntiAffinity,omitempty"`
}

// NodeGroupAffinity names node groups to use.
type NodeGroupAffinity struct {
	// +optional
	RequiredDuringSchedulingIgnoredDuringExecution []string `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
	// +optional
	PreferredDuringSchedulingIgnoredDuringExecution []string `json:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

// NodeGroupAntiAffinity names node groups to avoid.
type NodeGroupAntiAffinity struct {
	// +optional
	RequiredDuringSchedulingIgnoredDuringExecution []string `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
	// +optional
	PreferredDuringSchedulingIgnoredDuringExecution []string `json:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

// QueueState says whether a queue takes jobs.
//
// +kubebuilder:validation:Enum="";Open;Closed;Closing;Unknown
type QueueState string

// The states. An empty state means Open: the queue is new.
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

// QueueStatus is what was seen of a queue. The queue controller writes the state and the counts, the scheduler what is allocated.
type QueueStatus struct {
	// +optional
	State QueueState `json:"state,omitempty"`
	// Unknown, Pending, Running, Inqueue and Completed count PodGroups by phase.
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
	// Allocated is what the queue's pods hold, children included.
	// +optional
	// +nullable
	Allocated corev1.ResourceList `json:"allocated"`
	// Terminating is what pods of the queue hold that are being deleted, or whose end is unknown, and that have not
	// ended, children included. It is not part of allocated, and counts against the capability.
	// +optional
	// +nullable
	Terminating corev1.ResourceList `json:"terminating,omitempty"`
	// Deserved is what the queue may hold now without giving back, by its weight, its guarantee and what others ask for.
	// +optional
	// +nullable
	Deserved corev1.ResourceList `json:"deserved,omitempty"`
	// Share is the greatest part used of what is deserved, in percent, at most 1000.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Share int32 `json:"sharePercent,omitempty"`
	// Waiting counts the PodGroups that want more than they have.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Waiting int32 `json:"waiting,omitempty"`
	// Conditions has one of type Valid, False, while something is wrong with what the queue says.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// QueueValid is the type of the condition that reports whether a queue is valid.
const QueueValid = "Valid"

// Invalid returns the condition with the error of the queue, or nil if the queue is valid.
func (q *Queue) Invalid() *metav1.Condition {
	for i := range q.Status.Conditions {
		if c := &q.Status.Conditions[i]; c.Type == QueueValid && c.Status == metav1.ConditionFalse {
			return c
		}
	}
	return nil
}
