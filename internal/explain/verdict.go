// Package explain converts the results of filters to text and numbers: why a gang is waiting, in which queue, which
// resources are short and by how much, and which changes would help.
//
//	In:   Verdict, filled in during decisions
//	Out:  schedulingv1beta1.Explanation, the message of the condition, the event
//
// # Invariants
//
//   - Functions are pure: equal verdicts result in equal texts.
//   - MeaningKey returns equal keys for explanations with the same meaning, although numbers may differ.
package explain

import (
	"cmp"
	"slices"
	"time"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

// Verdict describes why a gang is waiting. If Code is "", the gang is not waiting.
type Verdict struct {
	Code    reason.Code
	Members Members
	// Extra is true if the gang has its minimum of pods and only additional pods are waiting.
	Extra bool
	// Task is the pod that was evaluated. Tally is its result for all nodes.
	Task  *model.Task
	Tally Tally
	// Limit is the limit that is the reason, or nil if the reason is not a limit.
	Limit *Limit
	// More holds the limits of other resources that the request also exceeds.
	More []Limit
	// OfTask is true if Limit applies to a pod of a task that does not have pods yet.
	OfTask bool
	// Asked is the total request of the members that must start together.
	Asked resource.Vec
	// Blocker names other causes, for example queues that are not reclaimable.
	Blocker []string
	// Ahead lists the gangs with reserved resources, if their reservations are the reason.
	Ahead []*model.Gang
	// Until is the time when the cause starts or stops applying, if that time is known.
	Until time.Time
	// Full is true if the reserved resources are also currently in use.
	Full bool
	// Gated is the number of pods that are waiting for scheduling gates; Gates lists the names of these gates.
	Gated int
	Gates []string
	// Queue is the queue in which Blocker is ahead of this gang, or to which the gang is not admitted.
	Queue string
	// Role is the task that has too few pods.
	Role string
	// RoleMin is the minimum number of pods for that task; RoleMissing is how many of these pods do not exist.
	RoleMin, RoleMissing int
	// HyperNode is the part of the cluster that was searched, or "" for the whole cluster. SubGroup is the sub-group
	// that does not fit.
	HyperNode, SubGroup string
	// Topology describes an error in the network topology of the gang or in a HyperNode.
	Topology string
	// Detail is an additional text for users, for example about an unsupported feature.
	Detail string
	// Near is a node's label that is similar to a requested label that no node has; "" if none exists.
	Near string
	// Spared holds the reasons why no pods are evicted for the gang, sorted by number of pods. It is nil if evictions
	// were not considered.
	Spared []Spared
	// EvictedBy names the gang for which this gang's pods were evicted, and the reason. It is "" if no pods were
	// evicted.
	EvictedBy string
}

// nodeLimits returns the limits that concern the largest node, and otherLimits returns the others.
func (v *Verdict) nodeLimits() []Limit {
	return slices.DeleteFunc(v.limitAndMore(), func(l Limit) bool { return !l.Node })
}

func (v *Verdict) otherLimits() []Limit {
	return slices.DeleteFunc(v.limitAndMore(), func(l Limit) bool { return l.Node })
}

// limitAndMore returns Limit and More.
func (v *Verdict) limitAndMore() []Limit {
	if v.Limit == nil {
		return nil
	}
	return append([]Limit{*v.Limit}, v.More...)
}

// ReasonCode returns the reason code to show to users.
func (v *Verdict) ReasonCode() reason.Code {
	if v.Extra && v.Code != "" {
		return reason.ExtraPodsWait
	}
	return v.Code
}

// IsError reports whether the gang could not be evaluated because of an error of an extender, for the whole gang or for
// a node. With the answer of the extender, the gang might have fit.
func (v *Verdict) IsError() bool {
	failed := func(c Count) bool { return c.Reason == reason.ExtenderFailed }
	return v.Code == reason.ExtenderFailed || slices.ContainsFunc(v.Tally.Counts, failed)
}

// IsNeverPossible reports whether waiting does not help because the whole request exceeds the limit.
func (v *Verdict) IsNeverPossible() bool {
	if v.Extra {
		return false
	}
	switch reason.Get(v.Code).Never {
	case reason.BySize:
		return true
	case reason.ByLimit:
		return v.Limit != nil && v.Limit.IsBelowRequest()
	case reason.ByCluster:
		return v.Limit != nil && v.Limit.Cluster && v.Limit.IsBelowRequest()
	}
	return false
}

// Members holds the numbers of a gang's pods. Completed and Failed pods have ended.
type Members struct {
	Min, Exist, Total, Held, Fit, Pending, Completed, Failed int
}

// Limit describes a limit of a queue, a quota, an account, a QOS, the cluster or the largest node that the gang would exceed.
type Limit struct {
	Queue    string
	Quota    string // the ResourceQuota that sets the limit; "" if it is not a quota
	Account  string // the account that sets the limit; "" if it is not an account
	QOS      string // the QOS that sets the limit; "" if it is not a QOS. Account or User is then set if the limit applies to each.
	User     string // the user of the account to whom the limit applies; "" if it applies to the whole account
	Resource string
	Asked    float64 // request of this gang
	Least    float64 // request of the smallest sufficient set of members; 0 means Asked
	Held     float64 // amount held by the queue's pods
	// Ending is the part of Held that belongs to pods that are being deleted but have not ended.
	Ending float64
	// Promised is the amount reserved for admitted gangs in the queue that have no nodes yet. Spare is the part of
	// Held that exceeds the minimums of the queue's gangs.
	Promised, Spare float64
	// Promisees lists the first gangs for which Promised is reserved; MorePromisees is the number of other such
	// gangs.
	Promisees     []string
	MorePromisees int
	Limit         float64
	// Kept is the part of the parent's limit that is reserved for the guarantees of other queues.
	Kept float64
	// Cluster is true if the limit is the capacity of the cluster minus guarantees, and not a limit of the queue.
	Cluster bool
	// Node is true if the limit is the capacity of the largest node that the pod may use.
	Node bool
	// Total is the capacity of the cluster. Sharers lists the queues among which it is divided, including this one,
	// in descending order of their shares. Both are set only if the limit is a share.
	Total   float64
	Sharers []Sharer
	// Budget is set if the limit is the budget of an account. The amounts are then multiplied by minutes, and Held is the
	// sum of the amount that pods have used and the amount that they reserve until their time limits.
	Budget *BudgetLimit
}

// BudgetLimit describes the budget of an account.
type BudgetLimit struct {
	Period accountv1alpha1.BudgetPeriod
	// RenewedAt is the next time at which the whole budget is available; zero if there is no such time.
	RenewedAt time.Time
	// TimeLimit is the time limit of the gang's pods.
	TimeLimit time.Duration
	// HeldWithoutLimit is true if a running pod without a time limit reserves the whole budget.
	HeldWithoutLimit bool
	// NeedsTimeLimit is true if the gang is held back because its pods have no time limit.
	NeedsTimeLimit bool
}

// isHeldWithoutLimit reports whether a running pod without a time limit reserves the whole budget, so that amounts have no
// meaning.
func (l *Limit) isHeldWithoutLimit() bool { return l.Budget != nil && l.Budget.HeldWithoutLimit }

// InUnits converts an amount of the limit's resource to the unit of the limit. For a budget, it multiplies the amount by
// the time limit in minutes.
func (l *Limit) InUnits(amount float64) float64 {
	if l.Budget != nil {
		return amount * l.Budget.TimeLimit.Minutes()
	}
	return amount
}

// IsBelowRequest reports whether a request exceeds the whole limit.
func (l *Limit) IsBelowRequest() bool { return cmp.Or(l.Least, l.Asked) > l.Limit+0.1 }

// Sharer is a queue and its share of a resource.
type Sharer struct {
	Queue  string
	Weight int32
	Share  float64
}
