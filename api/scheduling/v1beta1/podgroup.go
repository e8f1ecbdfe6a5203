package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodGroup is a gang: pods that start together or not at all.
//
// It has no status subresource, as Volcano's has none: status is written with the object.
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

// PodGroupSpec is what the gang needs.
type PodGroupSpec struct {
	// MinMember is the least number of pods that must be able to start together.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinMember int32 `json:"minMember,omitempty"`
	// MinTaskMember is the same per task.
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
	// MinResources is what minMember pods ask for; a gang is let in when its queue has room for it.
	// +optional
	MinResources *corev1.ResourceList `json:"minResources,omitempty"`
	// +optional
	NetworkTopology *NetworkTopologySpec `json:"networkTopology,omitempty"`
	// SubGroupPolicy cuts the gang into gangs of its own.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	SubGroupPolicy []SubGroupPolicySpec `json:"subGroupPolicy,omitempty"`
}

// SubGroupPolicySpec says which pods of the gang form groups and how large these are.
type SubGroupPolicySpec struct {
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// +optional
	NetworkTopology *NetworkTopologySpec `json:"networkTopology,omitempty"`
	// SubGroupSize is the number of pods in a group.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	SubGroupSize *int32 `json:"subGroupSize,omitempty"`
	// MinSubGroups is the least number of groups that must start together.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	MinSubGroups *int32 `json:"minSubGroups,omitempty"`
	// +optional
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	// MatchLabelKeys are labels whose values tell the groups apart.
	// +optional
	// +listType=atomic
	MatchLabelKeys []string `json:"matchLabelKeys,omitempty"`
}

// NetworkTopologyMode says whether the topology must be kept or only preferred.
//
// +kubebuilder:validation:Enum=hard;soft
type NetworkTopologyMode string

// The network topology modes.
const (
	HardNetworkTopologyMode NetworkTopologyMode = "hard"
	SoftNetworkTopologyMode NetworkTopologyMode = "soft"
)

// NetworkTopologySpec bounds how far apart pods may be placed, in tiers of HyperNodes.
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

// PodGroupPhase is where a gang is in its life.
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

// PodGroupConditionType names a condition.
type PodGroupConditionType string

// The conditions. At most one of them is True.
const (
	PodGroupUnschedulableType PodGroupConditionType = "Unschedulable"
	PodGroupScheduledType     PodGroupConditionType = "Scheduled"
)

// The reasons of conditions that scripts rely on.
const (
	PodFailedReason           = "PodFailed"
	PodDeletedReason          = "PodDeleted"
	NotEnoughResourcesReason  = "NotEnoughResources"
	NotEnoughPodsReason       = "NotEnoughTasks"
	NotEnoughPodsOfTaskReason = "NotEnoughPodsOfTask"
	// PodGroupReadyReason is the reason of a True Scheduled condition.
	PodGroupReadyReason = "tasks in gang are ready to be scheduled"
)

// PodGroupCondition is one observation of a gang.
type PodGroupCondition struct {
	// +optional
	Type PodGroupConditionType `json:"type,omitempty"`
	// +optional
	Status corev1.ConditionStatus `json:"status,omitempty"`
	// TransitionID names the scheduler's session that made the condition.
	// +optional
	TransitionID string `json:"transitionID,omitempty"`
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// PodGroupStatus is what the scheduler says of a gang.
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
	// Explanation says why the gang waits. Ours: clients of Volcano ignore it. Absent when nothing waits.
	// +optional
	Explanation *Explanation `json:"explanation,omitempty"`
}
