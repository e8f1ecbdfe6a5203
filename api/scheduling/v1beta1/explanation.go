package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Explanation says why a gang waits, in words and in numbers. It is written once, and again only when its
// meaning changes.
type Explanation struct {
	// Reason is a code of the table in api/reason, for example InsufficientResources.
	Reason string `json:"reason"`
	// Message is the whole answer in one or two sentences.
	// +optional
	Message string `json:"message,omitempty"`
	// Hint says what would help.
	// +optional
	Hint string `json:"hint,omitempty"`
	// Never says that no waiting helps: as it is the gang can not start on this cluster, or in this queue.
	// +optional
	Never bool `json:"never,omitempty"`
	// Since is when the gang began to wait for this reason.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// Members counts the gang's pods.
	// +optional
	Members *ExplainedMembers `json:"members,omitempty"`
	// NodeCount is the number of nodes that were looked at.
	// +optional
	NodeCount int32 `json:"nodeCount,omitempty"`
	// Nodes tallies, per first failing reason, the nodes that could not take a pod of this gang; most first.
	// +optional
	// +listType=atomic
	Nodes []ExplainedNodes `json:"nodes,omitempty"`
	// Short lists what is missing and by how much.
	// +optional
	// +listType=atomic
	Short []Shortage `json:"short,omitempty"`
	// Spared says why nobody is evicted for the gang: pods by what protects them, most first. Unset: nobody was looked at.
	// +optional
	// +listType=atomic
	Spared []ExplainedSpared `json:"spared,omitempty"`
	// EvictedBy says who took the gang's room and why, when its pods were evicted.
	// +optional
	EvictedBy string `json:"evictedBy,omitempty"`
	// Queue is how the gang's queue stands.
	// +optional
	Queue *ExplainedQueue `json:"queue,omitempty"`
	// Helps are the smallest changes that were tried and with which the gang would start; smallest first.
	// +optional
	// +listType=atomic
	Helps []Help `json:"helps,omitempty"`
	// EstimatedStart is when the gang starts at the latest, if what runs keeps its time limits and nothing is submitted that goes before it. Unset: unknown, see Estimate.
	// +optional
	EstimatedStart *metav1.Time `json:"estimatedStart,omitempty"`
	// Estimate says what the estimated start rests on, or why it is unknown.
	// +optional
	Estimate string `json:"estimate,omitempty"`
	// Attempts is how often the scheduler tried to place the gang since it waits for this reason, until LastAttempt: they are written when
	// something else is, too.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
	// LastAttempt is when the last of Attempts was made.
	// +optional
	LastAttempt *metav1.Time `json:"lastAttempt,omitempty"`
}

// Help is one change with which a gang would start now; it was tried on the scheduler's model.
type Help struct {
	// Kind is FewerMembers, SmallerPods, DropSelector, AddToleration, RaiseCapability, OtherQueue, CreateQueue, OpenQueue, HigherPriority,
	// ShorterRun, CreateClaim or Wait.
	Kind string `json:"kind"`
	// Subject is what is changed: a resource, a label, a taint, a queue, volume claims, a field.
	// +optional
	Subject string `json:"subject,omitempty"`
	// From and To are the values before and after.
	// +optional
	From string `json:"from,omitempty"`
	// +optional
	To string `json:"to,omitempty"`
	// Text is the same for people.
	Text string `json:"text"`
}

// The kinds of Help.
const (
	HelpFewerMembers    = "FewerMembers"    // minAvailable To; of task Subject if set, and as many fewer for the job
	HelpSmallerPods     = "SmallerPods"     // resource Subject: To instead of From per pod
	HelpDropSelector    = "DropSelector"    // without the node selector Subject=From
	HelpAddToleration   = "AddToleration"   // with a toleration for the taint Subject
	HelpRaiseCapability = "RaiseCapability" // capability of queue Subject, resource=amount in From and To
	HelpOtherQueue      = "OtherQueue"      // in queue To
	HelpCreateQueue     = "CreateQueue"     // queue Subject, without limits of its own
	HelpOpenQueue       = "OpenQueue"       // queue Subject
	HelpHigherPriority  = "HigherPriority"  // priority To instead of From
	HelpShorterRun      = "ShorterRun"      // Subject, a field for the run time, at most To instead of From
	HelpCreateClaim     = "CreateClaim"     // persistentvolumeclaims Subject, bound to volumes that the nodes reach
	HelpWait            = "Wait"            // until To
)

// The fields that limit or estimate the run time of pods, as Subject of ShorterRun.
const (
	RunTimeEstimate = "runningEstimate"
	RunTimeLimit    = "activeDeadlineSeconds"
)

// ExplainedMembers counts the pods of a waiting gang.
type ExplainedMembers struct {
	// Min is how many must start together.
	Min int32 `json:"min"`
	// Exist is how many pods there are.
	Exist int32 `json:"exist"`
	// Running is how many have a node already.
	// +optional
	Running int32 `json:"running,omitempty"`
	// Fit is how many could be placed now, those that run included.
	Fit int32 `json:"fit"`
}

// ExplainedNodes counts the nodes that failed for one reason.
type ExplainedNodes struct {
	// Reason is a code of the table in api/reason, for example InsufficientResources or UntoleratedTaint.
	Reason string `json:"reason"`
	// Detail is what of the reason: the resource, the taint, the selector.
	// +optional
	Detail string `json:"detail,omitempty"`
	// Count of nodes.
	Count int32 `json:"count"`
	// ShortBy is how much the nearest of these nodes lacks, when the reason is an amount.
	// +optional
	ShortBy string `json:"shortBy,omitempty"`
}

// ExplainedSpared counts pods that are not evicted for a gang, for one reason.
type ExplainedSpared struct {
	// Reason is a code of the table in api/reason, for example BudgetExhausted or NotLower.
	Reason string `json:"reason"`
	// Detail is who protects them: the budget, the queue.
	// +optional
	Detail string `json:"detail,omitempty"`
	// Pods is how many; 0 when the reason is about the gang itself.
	// +optional
	Pods int32 `json:"pods,omitempty"`
}

// Shortage is a resource that is missing for the whole gang.
type Shortage struct {
	// Resource name.
	Resource corev1.ResourceName `json:"resource"`
	// Scope is where it is missing: nodes, queue, quota or cluster.
	Scope string `json:"scope"`
	// Of is whose limit it is: the name of the queue, which may be one above the gang's, or of the ResourceQuota.
	// +optional
	Of string `json:"of,omitempty"`
	// Asked, Available and ShortBy are quantities.
	Asked string `json:"asked"`
	// +optional
	Available string `json:"available,omitempty"`
	ShortBy   string `json:"shortBy"`
}

// ExplainedQueue is how the queue of a waiting gang stands.
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
	// Position of the gang among those that wait in its queue, from 1.
	// +optional
	Position int32 `json:"position,omitempty"`
	// Waiting is how many wait in the queue.
	// +optional
	Waiting int32 `json:"waiting,omitempty"`
	// Path are the queues above this one, from the root down.
	// +optional
	// +listType=atomic
	Path []ExplainedLevel `json:"path,omitempty"`
}

// ExplainedLevel is how a queue above that of a waiting gang stands.
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
