package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Explanation describes why a gang waits, in words and in numbers. It is updated only when its meaning changes.
type Explanation struct {
	// Reason is a code from the table in api/reason, for example InsufficientResources.
	Reason string `json:"reason"`
	// Message is the complete explanation in one or two sentences.
	// +optional
	Message string `json:"message,omitempty"`
	// Hint describes what would help.
	// +optional
	Hint string `json:"hint,omitempty"`
	// Never is true if waiting does not help: in its present form, the gang cannot start in this cluster or in this
	// queue.
	// +optional
	Never bool `json:"never,omitempty"`
	// Since is the time when the gang began to wait for this reason.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// Members counts the gang's pods.
	// +optional
	Members *ExplainedMembers `json:"members,omitempty"`
	// NodeCount is the number of nodes that were examined.
	// +optional
	NodeCount int32 `json:"nodeCount,omitempty"`
	// Nodes counts the nodes that cannot run a pod of this gang, grouped by the first reason for which they cannot.
	// The most frequent reason comes first.
	// +optional
	// +listType=atomic
	Nodes []ExplainedNodes `json:"nodes,omitempty"`
	// Short lists the resources that are missing, and how much.
	// +optional
	// +listType=atomic
	Short []Shortage `json:"short,omitempty"`
	// Spared describes why no pods are evicted for the gang: it counts pods by what protects them, with the most
	// frequent reason first. It is unset if no pods were considered for eviction.
	// +optional
	// +listType=atomic
	Spared []ExplainedSpared `json:"spared,omitempty"`
	// EvictedBy describes, after an eviction of the gang's pods, which gang or queue got their resources, and why.
	// +optional
	EvictedBy string `json:"evictedBy,omitempty"`
	// Queue is the state of the gang's queue.
	// +optional
	Queue *ExplainedQueue `json:"queue,omitempty"`
	// Helps lists the smallest changes that would let the gang start, smallest first. Each was verified by a
	// simulation.
	// +optional
	// +listType=atomic
	Helps []Help `json:"helps,omitempty"`
	// EstimatedStart is the latest time at which the gang starts, provided that running pods observe their time
	// limits and nothing with precedence is submitted. It is unset if the time is unknown; see estimate.
	// +optional
	EstimatedStart *metav1.Time `json:"estimatedStart,omitempty"`
	// Estimate describes what the estimated start is based on, or why the start is unknown.
	// +optional
	Estimate string `json:"estimate,omitempty"`
	// Attempts is the number of times that the scheduler tried to place the gang up to lastAttempt, since the gang
	// began to wait for this reason. Both fields are updated only together with other fields.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
	// LastAttempt is the time of the last of these attempts.
	// +optional
	LastAttempt *metav1.Time `json:"lastAttempt,omitempty"`
}

// Help is a change that would let a gang start now. It was verified by a simulation on the scheduler's model.
type Help struct {
	// Kind is one of FewerMembers, SmallerPods, DropSelector, AddToleration, RaiseCapability, OtherQueue,
	// CreateQueue, OpenQueue, HigherPriority, ShorterRun, CreateClaim and Wait.
	Kind string `json:"kind"`
	// Subject is the object of the change: a resource, a label, a taint, a queue, volume claims or a field.
	// +optional
	Subject string `json:"subject,omitempty"`
	// From and To are the values before and after the change.
	// +optional
	From string `json:"from,omitempty"`
	// +optional
	To string `json:"to,omitempty"`
	// Text is a human-readable description of the change.
	Text string `json:"text"`
}

// The kinds of Help. The comments explain the other fields.
const (
	HelpFewerMembers    = "FewerMembers"    // reduce minAvailable to To; with Subject, that of this task, and the job's by as much
	HelpSmallerPods     = "SmallerPods"     // reduce the request for resource Subject from From to To per pod
	HelpDropSelector    = "DropSelector"    // remove the node selector Subject=From
	HelpAddToleration   = "AddToleration"   // add a toleration for the taint Subject
	HelpRaiseCapability = "RaiseCapability" // capability of queue Subject, resource=amount in From and To
	HelpOtherQueue      = "OtherQueue"      // submit to queue To
	HelpCreateQueue     = "CreateQueue"     // create queue Subject, without limits of its own
	HelpOpenQueue       = "OpenQueue"       // open queue Subject
	HelpHigherPriority  = "HigherPriority"  // raise the priority from From to To
	HelpShorterRun      = "ShorterRun"      // reduce the run time in field Subject from From to at most To
	HelpCreateClaim     = "CreateClaim"     // create persistentvolumeclaims Subject, bound to accessible volumes
	HelpWait            = "Wait"            // wait until To
)

// The fields that limit or estimate the run time of pods. The Subject of ShorterRun is one of them.
const (
	RunTimeEstimate = "runningEstimate"
	RunTimeLimit    = "activeDeadlineSeconds"
)

// ExplainedMembers counts the pods of a waiting gang.
type ExplainedMembers struct {
	// Min is the minimum number of pods that must start together.
	Min int32 `json:"min"`
	// Exist is the number of existing pods.
	Exist int32 `json:"exist"`
	// Running is the number of pods that already have a node.
	// +optional
	Running int32 `json:"running,omitempty"`
	// Fit is the number of pods that could be placed now, including those that are running.
	Fit int32 `json:"fit"`
}

// ExplainedNodes counts the nodes that cannot run the gang's pods for the same reason.
type ExplainedNodes struct {
	// Reason is a code from the table in api/reason, for example InsufficientResources or UntoleratedTaint.
	Reason string `json:"reason"`
	// Detail is the subject of the reason, such as the resource, the taint or the selector.
	// +optional
	Detail string `json:"detail,omitempty"`
	// Count is the number of nodes.
	Count int32 `json:"count"`
	// ShortBy is the amount that is missing on the node that comes closest, if the reason concerns an amount.
	// +optional
	ShortBy string `json:"shortBy,omitempty"`
}

// ExplainedSpared counts the pods that are not evicted for a gang for the same reason.
type ExplainedSpared struct {
	// Reason is a code from the table in api/reason, for example BudgetExhausted or NotLower.
	Reason string `json:"reason"`
	// Detail is what protects the pods, such as the budget or the queue.
	// +optional
	Detail string `json:"detail,omitempty"`
	// Pods is the number of pods. It is 0 if the reason concerns the gang itself.
	// +optional
	Pods int32 `json:"pods,omitempty"`
}

// Shortage describes a resource of which there is not enough for the whole gang.
type Shortage struct {
	// Resource is the name of the resource.
	Resource corev1.ResourceName `json:"resource"`
	// Scope is where the resource is missing: nodes, queue, quota, account, user or cluster.
	Scope string `json:"scope"`
	// Of is the name of the queue, which may be an ancestor of the gang's queue, of the ResourceQuota, or of the account
	// or user whose limit applies.
	// +optional
	Of string `json:"of,omitempty"`
	// Asked, Available and ShortBy are the requested, available and missing quantities.
	Asked string `json:"asked"`
	// +optional
	Available string `json:"available,omitempty"`
	ShortBy   string `json:"shortBy"`
}

// ExplainedQueue is the state of a waiting gang's queue.
type ExplainedQueue struct {
	Name string `json:"name"`
	// +optional
	Allocated corev1.ResourceList `json:"allocated,omitempty"`
	// +optional
	Deserved corev1.ResourceList `json:"deserved,omitempty"`
	// +optional
	Guarantee corev1.ResourceList `json:"guarantee,omitempty"`
	// +optional
	Capability corev1.ResourceList `json:"capability,omitempty"`
	// Position is the position of the gang among those that wait in its queue, starting at 1.
	// +optional
	Position int32 `json:"position,omitempty"`
	// Waiting is the number of gangs that wait in the queue.
	// +optional
	Waiting int32 `json:"waiting,omitempty"`
	// Path lists the ancestors of the queue, starting at the root.
	// +optional
	// +listType=atomic
	Path []ExplainedLevel `json:"path,omitempty"`
}

// ExplainedLevel is the state of an ancestor of a waiting gang's queue.
type ExplainedLevel struct {
	Name string `json:"name"`
	// +optional
	Allocated corev1.ResourceList `json:"allocated,omitempty"`
	// +optional
	Deserved corev1.ResourceList `json:"deserved,omitempty"`
	// +optional
	Guarantee corev1.ResourceList `json:"guarantee,omitempty"`
	// +optional
	Capability corev1.ResourceList `json:"capability,omitempty"`
}
