package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HyperNode is a set of nodes that are near each other: those behind one switch, or the sets behind one spine. The
// scheduler keeps gangs with a networkTopology inside one.
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

// HyperNodeSpec says how near, and who.
type HyperNodeSpec struct {
	// Tier is how far apart the members are: the less the nearer.
	//
	// +kubebuilder:validation:Minimum=0
	// +required
	Tier int `json:"tier,omitempty"`
	// TierName is what people call the tier.
	//
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TierName string `json:"tierName,omitempty"`
	// Members are nodes, and hyperNodes of lower tiers.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10000
	// +optional
	Members []MemberSpec `json:"members,omitempty"`
}

// MemberType is a kind of member.
//
// +kubebuilder:validation:Enum=Node;HyperNode
type MemberType string

// The kinds of member.
const (
	MemberTypeNode      MemberType = "Node"
	MemberTypeHyperNode MemberType = "HyperNode"
)

// MemberSpec is one member, or all that match.
type MemberSpec struct {
	// +required
	Type MemberType `json:"type,omitempty"`
	// Selector says which. HyperNodes can be selected by exactMatch only.
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

// ExactMatch selects one by its name.
type ExactMatch struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +required
	Name string `json:"name"`
}

// RegexMatch selects nodes whose names match.
type RegexMatch struct {
	// Pattern is a regular expression in the syntax RE2; it matches anywhere in the name unless it has ^ and $.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Pattern string `json:"pattern"`
}

// HyperNodeStatus is what the scheduler made of it.
type HyperNodeStatus struct {
	// Conditions: Ready is False when the scheduler cannot use the hyperNode, and its message says why.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// NodeCount is how many nodes are in it.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	NodeCount int64 `json:"nodeCount,omitempty"`
}

// The conditions of a HyperNode and their reasons.
const (
	HyperNodeReady = "Ready"

	HyperNodeInTreeReason      = "InTree"      // in use
	HyperNodeIncompleteReason  = "Incomplete"  // in use without some of its members
	HyperNodeTwoParentsReason  = "TwoParents"  // another HyperNode contains one of its members, too
	HyperNodeCycleReason       = "Cycle"       // it contains itself, through others
	HyperNodeBadSelectorReason = "BadSelector" // a member's selector is invalid

)
