package framework

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Vote is a policy's vote on the admission of a gang.
type Vote int

// The votes. Reject decides immediately, Permit decides at the end of its tier, and Abstain leaves the decision to
// other policies.
const (
	Reject  Vote = -1
	Abstain Vote = 0
	Permit  Vote = 1
)

// Rules holds the rules that policies registered, in the order of the tiers and of the policies within each tier. For
// orders, the first nonzero result decides. For checks, all policies must agree; a verdict with a Code is a
// rejection.
type Rules struct {
	// Tier is the tier of the policy that is currently registering rules. It is stored in rules that are evaluated
	// tier by tier.
	Tier int
	// Gang is true if minimums apply, so that gangs are placed as a whole.
	Gang bool

	OrderRules
	QueueRules
	EvictionRules
	GroupRules
	GangLimits

	JobValid []func(*Job) explain.Verdict
	// Ready returns the reason why a gang that fits may not start yet.
	Ready []func(*Job) explain.Verdict
	// Nodes holds the policies' rules for individual nodes in addition to the judge's filters and weights.
	Nodes []NodeRule
	// Deadlines return the time until which a gang may have to wait, or zero if there is no limit. Once that time has
	// passed, resources are reserved for the gang.
	Deadlines []func(*Job) time.Time
	// KeepLost is the time for which the resources of lost pods are held for a running gang.
	KeepLost time.Duration
	// Remarks return warnings about invalid annotations of a gang or its pods. Each warning is recorded once.
	Remarks []func(*Job) []string
}

// OrderRules compares gangs, queues and tasks.
type OrderRules struct {
	JobOrder   []func(a, b *Job) int
	QueueOrder []func(a, b *queue.Queue) int
	TaskOrder  []func(a, b *model.Task) int
	// VictimQueueOrder determines which of two queues loses resources to a taker first.
	VictimQueueOrder []func(taker, a, b *queue.Queue) int
	// ShareMoves is true if an allocation in one queue can change the order of other queues, as in a queue tree.
	ShareMoves bool
	// OrderMoves is true if the order of gangs or queues changes as time passes.
	OrderMoves bool
}

// QueueRules limits what queues admit and hold.
type QueueRules struct {
	Overused    []func(*queue.Queue) explain.Verdict
	Allocatable []func(*queue.Queue, resource.Request) explain.Verdict
	// Startable returns a verdict if a queue whose limits permit more resources must still wait, because some of its
	// pods have not ended yet. In this case, the resources are promised, and the pods are bound later.
	Startable   []func(*queue.Queue, resource.Request) explain.Verdict
	Enqueueable []Voter
	Enqueued    []func(*Job)
	// Creatable returns the reason why the pods of a gang's minimum could not be created. A Permit vote does not
	// override it.
	Creatable []func(*Job) explain.Verdict
	// Admitted is called for a gang whose pods are about to be created.
	Admitted []func(*Job)
	// Divisions holds the ways in which policies divide the cluster among queues; see usable.Capacity.
	Divisions []Division
	// Preemptive returns the reason why a queue may not take an amount of resources from other queues.
	Preemptive []func(*queue.Queue, resource.Request) explain.Verdict
}

// EvictionRules decides which pods are evicted, and for which gangs.
type EvictionRules struct {
	// Guards and Entitlements decide on evictions; see Attack.
	Guards       []func(*Attack) Guard
	Entitlements []Entitlement
	// Starving determines for which gangs other pods may be evicted; see MayEvictFor.
	Starving []Starve
	// Outranks reports whether a gang may preempt another gang in its queue.
	Outranks []func(taker, victim *Job) bool
	// Movers select victims for the action shuffle. Releases select victims for the action allocate after it has
	// placed all tasks that it can.
	Movers, Releases []Mover
}

// GangLimits holds the rules that limit the total resources of several gangs, regardless of their queues. A gang that such
// a limit holds back gets no reservation, and other gangs pass it even in a strict queue. The reasons have the trait
// reason.LimitOfAccount.
type GangLimits struct {
	// Admissible returns the reason why a gang may not be admitted to its queue. Unlike Creatable, it also applies to
	// gangs without minResources.
	Admissible []func(*Job) explain.Verdict
	// Admits is called for each gang that is admitted to its queue in this cycle.
	Admits []func(*Job)
	// Holdable returns the reason why a gang may not hold a request in addition to what it holds.
	Holdable []func(*Job, resource.Request) explain.Verdict
	// Relaxed reports whether a limit of a gang may permit more than when it held back the gang.
	Relaxed []func(*Job) bool
	// Forecasts starts a forecast of the limits, beginning with the current state of the cycle. The given gangs got nodes
	// in this cycle.
	Forecasts []func(bound []*Job) LimitForecast
}

// GroupRules determines how sub-groups are placed, and how gangs are placed in HyperNodes.
type GroupRules struct {
	// Groups is true if sub-groups are placed as a whole. GroupOrder determines the order among groups of the same
	// policy.
	Groups     bool
	GroupOrder []func(a, b *Group) int
	// WideOnly is true if gangs are not placed in narrower domains than requested.
	WideOnly bool
	// HyperNodeOrder returns the points of a domain for a gang with the given total request.
	HyperNodeOrder []func(j *Job, d *model.Domain, asked resource.Request) float64
	// MaxDomains is the maximum number of domains in which evictions are tried, for all actions. If it is 0, the
	// action decides.
	MaxDomains int
}

// Voter is a policy's vote on the admission of gangs.
type Voter struct {
	Tier int
	Vote func(*Job) (Vote, explain.Verdict)
}

// Vote registers a vote on the admission of gangs.
func (r *Rules) Vote(f func(*Job) (Vote, explain.Verdict)) {
	r.Enqueueable = append(r.Enqueueable, Voter{r.Tier, f})
}

// CompareJobs orders the gangs of a queue.
func (r *Rules) CompareJobs(a, b *Job) int {
	for _, f := range r.JobOrder {
		if c := f(a, b); c != 0 {
			return c
		}
	}
	return CompareByAge(a, b)
}

// CompareJobsByPolicy is like CompareJobs, but without the default order: it returns 0 if the policies do not order the
// gangs.
func (r *Rules) CompareJobsByPolicy(a, b *Job) int {
	for _, f := range r.JobOrder {
		if c := f(a, b); c != 0 {
			return c
		}
	}
	return 0
}

// CompareQueues orders the queues.
func (r *Rules) CompareQueues(a, b *queue.Queue) int {
	for _, f := range r.QueueOrder {
		if c := f(a, b); c != 0 {
			return c
		}
	}
	return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Name, b.Name))
}

// CompareVictimQueues orders the queues from which a taker takes resources. The first queue loses resources first.
func (r *Rules) CompareVictimQueues(taker, a, b *queue.Queue) int {
	for _, f := range r.VictimQueueOrder {
		if c := f(taker, a, b); c != 0 {
			return c
		}
	}
	return r.CompareQueues(b, a)
}

// CompareTasks orders the tasks of a gang.
func (r *Rules) CompareTasks(a, b *model.Task) int {
	for _, f := range r.TaskOrder {
		if c := f(a, b); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(a.Index, b.Index), a.Created.Compare(b.Created), strings.Compare(a.Name, b.Name))
}

// CheckValid returns the reason why a gang cannot be tried at all. If it can, Code is "".
func (r *Rules) CheckValid(j *Job) explain.Verdict { return firstRejection(r.JobValid, j) }

// MayStart returns the reason why a gang that fits may not start.
func (r *Rules) MayStart(j *Job) explain.Verdict { return firstRejection(r.Ready, j) }

// CheckOverused returns the reason why a queue may not get more resources.
func (r *Rules) CheckOverused(q *queue.Queue) explain.Verdict { return firstRejection(r.Overused, q) }

func firstRejection[T any](checks []func(T) explain.Verdict, subject T) explain.Verdict {
	for _, f := range checks {
		if v := f(subject); v.Code != "" {
			return v
		}
	}
	return explain.Verdict{}
}

// MayAllocate returns the reason why a queue may not hold the requested amount in addition to what it holds.
func (r *Rules) MayAllocate(q *queue.Queue, asked resource.Request) explain.Verdict {
	for _, f := range r.Allocatable {
		if v := f(q, asked); v.Code != "" {
			return v
		}
	}
	return explain.Verdict{}
}

// MustWait returns the reason why a queue must wait before it takes a request, although its limits permit it.
func (r *Rules) MustWait(q *queue.Queue, asked resource.Request) explain.Verdict {
	for _, f := range r.Startable {
		if v := f(q, asked); v.Code != "" {
			return v
		}
	}
	return explain.Verdict{}
}

// MayCreate returns the reason why the pods of a gang's minimum could not be created. If they could, Code is "".
func (r *Rules) MayCreate(j *Job) explain.Verdict { return firstRejection(r.Creatable, j) }

// CheckAdmissible returns the reason why the limits of a gang's account do not permit its admission.
func (l *GangLimits) CheckAdmissible(j *Job) explain.Verdict {
	return firstRejection(l.Admissible, j)
}

// CheckHoldable returns the reason why the limits of a gang's account do not permit a request in addition to what the
// gang holds.
func (l *GangLimits) CheckHoldable(j *Job, asked resource.Request) explain.Verdict {
	for _, f := range l.Holdable {
		if v := f(j, asked); v.Code != "" {
			return v
		}
	}
	return explain.Verdict{}
}

// MayBeRelaxed reports whether a limit of a gang's account may permit more than when it held back the gang.
func (l *GangLimits) MayBeRelaxed(j *Job) bool {
	return slices.ContainsFunc(l.Relaxed, func(f func(*Job) bool) bool { return f(j) })
}

// NotifyAdmitted informs the policies about a gang that is admitted to its queue.
func (r *Rules) NotifyAdmitted(j *Job) {
	for _, admits := range r.Admits {
		admits(j)
	}
	if !j.HasMinResources {
		return
	}
	for _, admitted := range r.Admitted {
		admitted(j)
	}
}

// MayEnqueue returns the reason why a gang must not be admitted to its queue. A Reject from any policy rejects the
// gang. A Permit admits it regardless of the votes of later tiers.
func (r *Rules) MayEnqueue(j *Job) explain.Verdict {
	if v := r.MayCreate(j); v.Code != "" {
		return v
	}
	permitted := false
	for i, voter := range r.Enqueueable {
		if permitted && voter.Tier != r.Enqueueable[i-1].Tier {
			break
		}
		switch vote, v := voter.Vote(j); vote {
		case Reject:
			return v
		case Permit:
			permitted = true
		}
	}
	return explain.Verdict{}
}

// MayTake returns the reason why a queue may not take the requested amount from other queues.
func (r *Rules) MayTake(q *queue.Queue, asked resource.Request) explain.Verdict {
	for _, f := range r.Preemptive {
		if v := f(q, asked); v.Code != "" {
			return v
		}
	}
	return explain.Verdict{}
}

// Division is a policy's way of dividing the cluster among queues.
type Division struct {
	// Divide divides the cluster again. Pods of the shapes in more also count as waiting in queues.
	Divide func(more []*model.Shape)
}
