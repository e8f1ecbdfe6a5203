// Package explain converts the counts of the filters into text and numbers: why a gang waits, in which queue, which
// resources are short and by how much, and which changes would help.
//
//	In:   Verdict, filled in during decisions
//	Out:  schedulingv1beta1.Explanation, the message of the condition, the event
//
// # Invariants
//
//   - Pure: equal verdicts give equal texts.
//   - Meaning is equal for explanations with the same meaning, although numbers may differ.
package explain

import (
	"cmp"
	"slices"
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// Verdict is the reason why a gang waits. If Code is "", the gang does not wait.
type Verdict struct {
	Code    reason.Code
	Members Members
	// Extra reports that the gang has its minimum, and only additional pods wait.
	Extra bool
	// Task is the pod that was evaluated, Tally the result for all nodes.
	Task  *model.Task
	Tally Tally
	// Limit is set if a limit is the reason.
	Limit *Limit
	// More are further limits like Limit, of other resources.
	More []Limit
	// OfTask reports that Limit applies to a pod of a task that has no pods yet.
	OfTask bool
	// Asked is the sum of requests of the members that must start together.
	Asked model.Vec
	// Blocker names other causes, such as queues that are not reclaimable.
	Blocker []string
	// Ahead are the gangs with reserved resources, if the reservation is the reason.
	Ahead []*model.Gang
	// Until is when the cause begins or ends, if that is known.
	Until time.Time
	// Full reports that the reserved resources are also in use at the moment.
	Full bool
	// Gated is the number of pods that wait for scheduling gates, Gates lists the names of these gates.
	Gated int
	Gates []string
	// Queue is the queue in which Blocker is ahead of this gang, or to which the gang is not admitted.
	Queue string
	// Role is the task that has too few pods.
	Role string
	// RoleMin is the minimum of that task, and RoleMissing is how many of these pods do not exist.
	RoleMin, RoleMissing int
	// HyperNode is the part of the cluster that was searched, "" for all; SubGroup is the sub-group that does not fit.
	HyperNode, SubGroup string
	// Topology describes an error in the network topology of the gang or in the HyperNode.
	Topology string
	// Detail is additional text for users, for example about an unsupported feature.
	Detail string
	// Near is a label of a node that is similar to a label that no node has; "" for none.
	Near string
	// Spared holds the reasons why no pod is evicted for the gang, by number of pods; nil if no eviction was
	// considered.
	Spared []Spared
	// EvictedBy names the gang for which this gang's pods were evicted, and the reason; "" if they were not.
	EvictedBy string
}

// nodeLimits returns the limits about the largest node, otherLimits the others.
func (v *Verdict) nodeLimits() []Limit {
	return slices.DeleteFunc(v.limits(), func(l Limit) bool { return !l.Node })
}

func (v *Verdict) otherLimits() []Limit {
	return slices.DeleteFunc(v.limits(), func(l Limit) bool { return l.Node })
}

// limits returns Limit and More.
func (v *Verdict) limits() []Limit {
	if v.Limit == nil {
		return nil
	}
	return append([]Limit{*v.Limit}, v.More...)
}

// Reason returns the reason code shown to users.
func (v *Verdict) Reason() reason.Code {
	if v.Extra && v.Code != "" {
		return reason.ExtraPodsWait
	}
	return v.Code
}

// Never reports that waiting does not help, because the request exceeds the limit as a whole.
func (v *Verdict) Never() bool {
	if v.Extra {
		return false
	}
	switch reason.Get(v.Code).Never {
	case reason.BySize:
		return true
	case reason.ByLimit:
		return v.Limit != nil && v.Limit.tooLow()
	case reason.ByCluster:
		return v.Limit != nil && v.Limit.Cluster && v.Limit.tooLow()
	}
	return false
}

// Members counts the pods of a gang. Completed and Failed ones have ended.
type Members struct {
	Min, Exist, Total, Held, Fit, Pending, Completed, Failed int
}

// Limit is a limit that the gang would exceed: of a queue, a quota, the cluster or the largest node.
type Limit struct {
	Queue    string
	Quota    string // the ResourceQuota of the gang's namespace that sets the limit; "" if it is not a quota
	Resource string
	Asked    float64 // requested by this gang
	Least    float64 // requested by the smallest sufficient set of members; 0 means Asked
	Held     float64 // used by the queue's pods
	// Ending is the part of Held used by pods that are being deleted and have not ended.
	Ending float64
	// Promised is reserved for admitted gangs of the queue that have no nodes yet. Spare is the part of Held beyond the
	// minimums of the queue's gangs.
	Promised, Spare float64
	// Promisees are the first gangs that Promised is reserved for; MorePromisees counts the others.
	Promisees     []string
	MorePromisees int
	Limit         float64
	// Kept is the part of the parent's limit reserved for the guarantees of other queues.
	Kept float64
	// Cluster reports that the limit is the capacity of the cluster, minus guarantees, and not a limit of the queue.
	Cluster bool
	// Node reports that the limit is the capacity of the largest node that the pod may use.
	Node bool
	// Total is the capacity of the cluster, and Sharers are the queues that share it, including this one, by share in
	// descending order; only if the limit is a share.
	Total   float64
	Sharers []Sharer
}

// tooLow reports whether a request exceeds the whole limit.
func (l *Limit) tooLow() bool { return cmp.Or(l.Least, l.Asked) > l.Limit+0.1 }

// Sharer is a queue with its share of a resource.
type Sharer struct {
	Queue  string
	Weight int32
	Share  float64
}
