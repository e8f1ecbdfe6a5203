// Package explain turns what the filters counted into words and numbers: why a
// gang waits, in which queue, what is short and by how much, what would help.
//
//	In:   Verdict, filled while deciding
//	Out:  schedulingv1beta1.Explanation, the message of the condition, the event
//
// # Invariants
//
//   - Pure: equal verdicts give equal words.
//   - Key is equal for verdicts that mean the same, though numbers may differ.
package explain

import (
	"cmp"
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// Verdict is why a gang waits. Code "" means that it does not.
type Verdict struct {
	Code    reason.Code
	Members Members
	// Extra: the gang has its minimum, and only pods beyond it wait.
	Extra bool
	// Task is the one that was judged, with the tally of nodes.
	Task  *model.Task
	Tally Tally
	// Limit is set when a queue's limit is the reason.
	Limit *Limit
	// More are other limits that are in the way like Limit: resources of which no node has enough.
	More []Limit
	// OfTask: Limit is about a pod of a task that has no pods yet.
	OfTask bool
	// Asked is what the members that have to start together ask for.
	Asked model.Vec
	// Blocker is what else is in the way, by name: queues that do not give back.
	Blocker []string
	// Ahead are the gangs for which room is reserved, where that is the reason.
	Ahead []*model.Gang
	// Until is when what is in the way begins or ends, where that is known.
	Until time.Time
	// Full says that what is kept for others is in use as well just now.
	Full bool
	// Role is the task whose pods are too few.
	Role string
	// HyperNode is where nodes were looked at, "" = everywhere; SubGroup is the sub-group that is short.
	HyperNode, SubGroup string
	// Topology says what is wrong with the wish for nearness, or with the HyperNode.
	Topology string
	// Detail is more text for people, for example what is not supported.
	Detail string
	// Near is the label of a node that is written much like the one that no node has; "" = there is none.
	Near string
	// Spared says why nobody is evicted for the gang, most pods first; nil: nobody was looked at.
	Spared []Spared
	// EvictedBy says who took the gang's room, and why; "" when nobody did.
	EvictedBy string
}

// limits are Limit and More.
func (v *Verdict) limits() []Limit {
	if v.Limit == nil {
		return nil
	}
	return append([]Limit{*v.Limit}, v.More...)
}

// Reason is the code that people read.
func (v *Verdict) Reason() reason.Code {
	if v.Extra && v.Code != "" {
		return reason.ExtraPodsWait
	}
	return v.Code
}

// Never says that no waiting helps: more is asked for than there is at all.
func (v *Verdict) Never() bool {
	if v.Extra {
		return false
	}
	switch v.Code {
	case reason.TooLarge:
		return true
	case reason.OverCapability, reason.OverQuota, reason.Overcommitted:
	case reason.GangDoesNotFit, reason.NotEnqueued:
		if v.Limit == nil || !v.Limit.Cluster {
			return false
		}
	default:
		return false
	}
	return v.Limit != nil && cmp.Or(v.Limit.Least, v.Limit.Asked) > v.Limit.Limit+0.1
}

// Members counts the pods of a gang.
type Members struct {
	Min, Exist, Total, Held, Fit, Pending int
}

// Limit is a limit of a queue that is in the way.
type Limit struct {
	Queue    string
	Quota    string // the ResourceQuota of the gang's namespace that the limit is of; "" for a queue's
	Resource string
	Asked    float64 // by this gang
	Least    float64 // asked by the smallest members that would do; 0: Asked
	Held     float64 // by the queue's pods
	// Ending is the part of Held that pods hold which are being deleted and have not ended.
	Ending float64
	// Promised is reserved for gangs of the queue that are let in and have no nodes
	// yet; Spare is what of Held the queue can do without.
	Promised, Spare float64
	// Promisees are the gangs that Promised is reserved for, the first of their turn; MorePromisees counts the others.
	Promisees     []string
	MorePromisees int
	Limit         float64
	// Kept is what of the limit above it is kept for the guarantees of other queues.
	Kept float64
	// Cluster: it is what the cluster has (minus guarantees), not what the queue may have.
	Cluster bool
	// Node: it is what the largest node has that the pod may use; no queue's.
	Node bool
	// Total is what the cluster has and Sharers are the queues that share it, this
	// one included, greatest share first; where the limit is a share.
	Total   float64
	Sharers []Sharer
}

// Sharer is a queue with its share of a resource.
type Sharer struct {
	Queue  string
	Weight int32
	Share  float64
}
