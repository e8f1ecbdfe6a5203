package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodGroup is a gang, which is a set of pods that start together or not at all.
//
// Like in Volcano, it has no status subresource: the status is written together with the rest of the object.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=podgroups,scope=Namespaced,shortName=pg;podgroup-v1beta1
// +kubebuilder:printcolumn:name="STATUS",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="minMember",type=integer,JSONPath=`.spec.minMember`
// +kubebuilder:printcolumn:name="RUNNINGS",type=integer,JSONPath=`.status.running`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="QUEUE",type=string,priority=1,JSONPath=`.spec.queue`
type PodGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec PodGroupSpec `json:"spec,omitempty"`
	// +optional
	Status PodGroupStatus `json:"status,omitempty"`
}

// PodGroupList is a list of PodGroups.
//
// +kubebuilder:object:root=true
type PodGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PodGroup `json:"items"`
}

// PodGroupSpec describes what the gang needs.
type PodGroupSpec struct {
	// MinMember is the minimum number of pods that must be able to start together.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinMember int32 `json:"minMember,omitempty"`
	// MinTaskMember is the minimum number of pods for each task.
	// +optional
	// +kubebuilder:validation:MaxProperties=500
	// +kubebuilder:validation:XValidation:rule="self.all(t, self[t] >= 0)",message="a task's minimum must not be negative"
	MinTaskMember map[string]int32 `json:"minTaskMember,omitempty"`
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Queue string `json:"queue,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// MinResources is the total request of minMember pods. A gang is admitted when its queue has enough free capacity
	// for it.
	// +optional
	MinResources *corev1.ResourceList `json:"minResources,omitempty"`
	// +optional
	NetworkTopology *NetworkTopologySpec `json:"networkTopology,omitempty"`
	// SubGroupPolicy divides the gang into smaller gangs.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	SubGroupPolicy []SubGroupPolicySpec `json:"subGroupPolicy,omitempty"`
}

// SubGroupPolicySpec determines which pods of the gang form groups, and the sizes of the groups.
type SubGroupPolicySpec struct {
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// +optional
	NetworkTopology *NetworkTopologySpec `json:"networkTopology,omitempty"`
	// SubGroupSize is the number of pods in each group.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	SubGroupSize *int32 `json:"subGroupSize,omitempty"`
	// MinSubGroups is the minimum number of groups that must start together.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	MinSubGroups *int32 `json:"minSubGroups,omitempty"`
	// +optional
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	// MatchLabelKeys lists the labels that distinguish the groups: pods with the same values belong to the same
	// group.
	// +optional
	// +listType=atomic
	MatchLabelKeys []string `json:"matchLabelKeys,omitempty"`
}

// NetworkTopologyMode determines whether the topology constraint is required or only preferred.
//
// +kubebuilder:validation:Enum=hard;soft
type NetworkTopologyMode string

// The network topology modes.
const (
	HardNetworkTopologyMode NetworkTopologyMode = "hard"
	SoftNetworkTopologyMode NetworkTopologyMode = "soft"
)

// NetworkTopologySpec limits how far apart pods may be placed, in tiers of HyperNodes.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.highestTierAllowed) && has(self.highestTierName) && size(self.highestTierName) > 0)",message="must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously"
type NetworkTopologySpec struct {
	// +optional
	// +kubebuilder:default=hard
	Mode NetworkTopologyMode `json:"mode,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	HighestTierAllowed *int `json:"highestTierAllowed,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	HighestTierName string `json:"highestTierName,omitempty"`
}

// PodGroupPhase is the phase of a gang in its life cycle.
//
// +kubebuilder:validation:Enum=Pending;Running;Unknown;Inqueue;Completed
type PodGroupPhase string

// The phases of a gang.
const (
	PodGroupPending   PodGroupPhase = "Pending"   // not yet admitted to its queue
	PodGroupInqueue   PodGroupPhase = "Inqueue"   // admitted: its pods may be created and wait for nodes
	PodGroupRunning   PodGroupPhase = "Running"   // at least minMember pods have a node
	PodGroupUnknown   PodGroupPhase = "Unknown"   // some pods run, but fewer than minMember
	PodGroupCompleted PodGroupPhase = "Completed" // all of its pods have ended
)

// PodGroupConditionType is the type of a condition.
type PodGroupConditionType string

// The condition types. At most one of the conditions is True.
const (
	PodGroupUnschedulableType PodGroupConditionType = "Unschedulable"
	PodGroupScheduledType     PodGroupConditionType = "Scheduled"
)

// Reasons of conditions on which scripts rely.
const (
	PodFailedReason           = "PodFailed"
	PodDeletedReason          = "PodDeleted"
	NotEnoughResourcesReason  = "NotEnoughResources"
	NotEnoughPodsReason       = "NotEnoughTasks"
	NotEnoughPodsOfTaskReason = "NotEnoughPodsOfTask"
	// PodGroupReadyReason is the reason of a True Scheduled condition.
	PodGroupReadyReason = "tasks in gang are ready to be scheduled"
)

// PodGroupCondition is an observation about a gang.
type PodGroupCondition struct {
	// +optional
	Type PodGroupConditionType `json:"type,omitempty"`
	// +optional
	Status corev1.ConditionStatus `json:"status,omitempty"`
	// TransitionID identifies the scheduling session that set the condition.
	// +optional
	TransitionID string `json:"transitionID,omitempty"`
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// PodGroupStatus is the state of a gang as observed by the scheduler.
type PodGroupStatus struct {
	// +optional
	Phase PodGroupPhase `json:"phase,omitempty"`
	// +optional
	Conditions []PodGroupCondition `json:"conditions,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Running int32 `json:"running,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Succeeded int32 `json:"succeeded,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Failed int32 `json:"failed,omitempty"`
	// Explanation describes why the gang waits. It is unset if the gang does not wait. This field does not exist in
	// Volcano, whose clients ignore it.
	// +optional
	Explanation *Explanation `json:"explanation,omitempty"`
}
