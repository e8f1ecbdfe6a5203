package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HyperNode is a set of nodes that are near each other, for example the nodes connected to a switch, or the sets of
// nodes below a spine switch. The scheduler places gangs that have a networkTopology within a single HyperNode.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=hypernodes,shortName=hn,scope=Cluster
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Tier",type=string,JSONPath=`.spec.tier`
// +kubebuilder:printcolumn:name="TierName",type=string,JSONPath=`.spec.tierName`
// +kubebuilder:printcolumn:name="NodeCount",type=integer,JSONPath=`.status.nodeCount`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type HyperNode struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec HyperNodeSpec `json:"spec"`
	// +optional
	Status HyperNodeStatus `json:"status,omitempty"`
}

// HyperNodeList is a list of HyperNodes.
//
// +kubebuilder:object:root=true
type HyperNodeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []HyperNode `json:"items"`
}

// HyperNodeSpec describes the members of a HyperNode and how near they are to each other.
type HyperNodeSpec struct {
	// Tier describes how far apart the members are: the lower the tier, the nearer they are.
	//
	// +kubebuilder:validation:Minimum=0
	// +required
	Tier int `json:"tier,omitempty"`
	// TierName is the human-readable name of the tier.
	//
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TierName string `json:"tierName,omitempty"`
	// Members lists nodes, and HyperNodes of lower tiers.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10000
	// +optional
	Members []MemberSpec `json:"members,omitempty"`
}

// MemberType is the type of a member.
//
// +kubebuilder:validation:Enum=Node;HyperNode
type MemberType string

// The types of members.
const (
	MemberTypeNode      MemberType = "Node"
	MemberTypeHyperNode MemberType = "HyperNode"
)

// MemberSpec specifies a single member, or all members that match a selector.
type MemberSpec struct {
	// +required
	Type MemberType `json:"type,omitempty"`
	// Selector selects the members. HyperNodes can be selected only by exactMatch.
	// +optional
	Selector MemberSelector `json:"selector,omitempty"`
}

// MemberSelector selects members in one of three ways.
//
// +kubebuilder:validation:XValidation:rule="has(self.exactMatch) || has(self.regexMatch) || has(self.labelMatch)",message="Either ExactMatch or RegexMatch or LabelMatch must be specified"
// +kubebuilder:validation:XValidation:rule="(has(self.exactMatch) ? 1 : 0) + (has(self.regexMatch) ? 1 : 0) + (has(self.labelMatch) ? 1 : 0) <= 1",message="Only one of ExactMatch, RegexMatch, or LabelMatch can be specified"
type MemberSelector struct {
	// +optional
	ExactMatch *ExactMatch `json:"exactMatch,omitempty"`
	// +optional
	RegexMatch *RegexMatch `json:"regexMatch,omitempty"`
	// LabelMatch selects nodes by their labels.
	// +optional
	LabelMatch *metav1.LabelSelector `json:"labelMatch,omitempty"`
}

// ExactMatch selects a single member by name.
type ExactMatch struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +required
	Name string `json:"name"`
}

// RegexMatch selects nodes by matching their names.
type RegexMatch struct {
	// Pattern is a regular expression in RE2 syntax. It may match any part of the name unless it contains ^ and $.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Pattern string `json:"pattern"`
}

// HyperNodeStatus is the state of a HyperNode as observed by the scheduler.
type HyperNodeStatus struct {
	// Conditions contains the condition Ready. If it is False, the scheduler cannot use the HyperNode, and the
	// message describes the reason.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// NodeCount is the number of nodes in the HyperNode.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	NodeCount int64 `json:"nodeCount,omitempty"`
}

// The condition types of a HyperNode and their reasons.
const (
	HyperNodeReady = "Ready"

	HyperNodeInTreeReason      = "InTree"      // in use
	HyperNodeIncompleteReason  = "Incomplete"  // in use, but without some of its members
	HyperNodeTwoParentsReason  = "TwoParents"  // another HyperNode also contains one of its members
	HyperNodeCycleReason       = "Cycle"       // it contains itself, possibly through other HyperNodes
	HyperNodeBadSelectorReason = "BadSelector" // a member's selector is invalid

)
