package session

import (
	"cmp"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Vote is a policy's say about letting a gang in.
type Vote int

// The votes: a Reject ends it, a Permit ends it at the end of its tier, an
// Abstain leaves it to the others.
const (
	Reject  Vote = -1
	Abstain Vote = 0
	Permit  Vote = 1
)

// Rules are what policies registered, in the order of tiers and policies. Orders:
// the first that is not 0 decides. Checks: all must agree; a verdict with a
// Code is a no.
type Rules struct {
	// Tier is the tier of the policy that registers now. What votes tier by tier notes it.
	Tier int

	JobOrder   []func(a, b *Job) int
	QueueOrder []func(a, b *queue.Queue) int
	TaskOrder  []func(a, b *model.Task) int
	// VictimQueueOrder says which of two queues loses first to a taker.
	VictimQueueOrder []func(taker, a, b *queue.Queue) int
	// ShareMoves says that what one queue gets changes the order of others, as in a tree.
	ShareMoves bool
	// OrderMoves says that the order of gangs or queues changes as time passes.
	OrderMoves bool

	JobValid []func(*Job) explain.Verdict
	// Ready says why a gang that fits may not start all the same.
	Ready       []func(*Job) explain.Verdict
	Overused    []func(*queue.Queue) explain.Verdict
	Allocatable []func(*queue.Queue, model.Request) explain.Verdict
	// Startable says whether a queue that may hold so much more may hold it already, beside pods that have not
	// ended yet. If not, room is promised, and binding waits.
	Startable   []func(*queue.Queue, model.Request) explain.Verdict
	Enqueueable []Voter
	Enqueued    []func(*Job)
	// Creatable says why the pods of a gang's minimum could not even be created. No Permit overrides it.
	Creatable []func(*Job) explain.Verdict
	// Admitted count a gang whose pods are about to be created.
	Admitted []func(*Job)

	// Preemptive says whether a queue may take so much from others.
	Preemptive []func(*queue.Queue, model.Request) explain.Verdict
	// Deadlines say until when a gang may have to wait; zero: no matter how long. Room
	// is kept for one that waited longer.
	Deadlines []func(*Job) time.Time
	// KeepLost is how long the room of pods that a running gang lost is kept for it.
	KeepLost time.Duration
	// Gang says that minimums count: gangs are placed whole.
	Gang bool

	// Groups says that sub-groups are placed whole; GroupOrder is in which order those of a policy are.
	Groups     bool
	GroupOrder []func(a, b *Group) int
	// WideOnly: gangs are not kept in narrower domains than they ask for.
	WideOnly bool
	// Remarks say what of a gang's annotations, or of its pods', a policy cannot read; each is told once.
	Remarks []func(*Job) []string
	// HyperNodeOrder are the points of a domain for a gang that asks for so much there.
	HyperNodeOrder []func(j *Job, d *model.Domain, asked model.Request) float64
	// MaxDomains is how many domains evictions are tried in, whatever an action says; 0: that is the action's to say.
	MaxDomains int

	// Nodes are what policies say of single nodes beyond the judge's filters and weights.
	Nodes []NodeRule
	// Guards and Entitlements judge evictions: see Attack.
	Guards       []func(*Attack) Guard
	Entitlements []Entitlement
	// Starving says for whom others may be evicted: see Starves.
	Starving []Starve
	// Outranks says that a gang may preempt another of its queue.
	Outranks []func(taker, victim *Job) bool
	// Movers are who names victims for action shuffle, Releases for action allocate, when it has placed what it can.
	Movers, Releases []Mover
}

// Voter is a policy's vote on letting a gang in.
type Voter struct {
	Tier int
	Vote func(*Job) (Vote, explain.Verdict)
}

// Vote registers a vote on letting a gang in.
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
	return compareJobs(a, b)
}

// OrderJobs is CompareJobs where policies have an order; else 0.
func (r *Rules) OrderJobs(a, b *Job) int {
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

// CompareVictimQueues orders the queues that a taker takes from: who loses first.
func (r *Rules) CompareVictimQueues(taker, a, b *queue.Queue) int {
	for _, f := range r.VictimQueueOrder {
		if c := f(taker, a, b); c != 0 {
			return c
		}
	}
	return r.CompareQueues(b, a)
}

// compareTasks orders the tasks of a gang.
func (r *Rules) compareTasks(a, b *model.Task) int {
	for _, f := range r.TaskOrder {
		if c := f(a, b); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(a.Index, b.Index), a.Created.Compare(b.Created), strings.Compare(a.Name, b.Name))
}

// CompareTasks orders the tasks of a gang.
func (r *Rules) CompareTasks(a, b *model.Task) int { return r.compareTasks(a, b) }

// Valid says why a gang cannot be tried at all; Code "" when it can.
func (r *Rules) Valid(j *Job) explain.Verdict { return first(r.JobValid, j) }

// MayStart says why a gang that fits may not start all the same.
func (r *Rules) MayStart(j *Job) explain.Verdict { return first(r.Ready, j) }

// IsOverused says why a queue gets nothing more.
func (r *Rules) IsOverused(q *queue.Queue) explain.Verdict { return first(r.Overused, q) }

func first[T any](checks []func(T) explain.Verdict, subject T) explain.Verdict {
	for _, f := range checks {
		if v := f(subject); v.Code != "" {
			return v
		}
	}
	return explain.Verdict{}
}

// MayAllocate says why a queue may not hold so much more.
func (r *Rules) MayAllocate(q *queue.Queue, asked model.Request) explain.Verdict {
	for _, f := range r.Allocatable {
		if v := f(q, asked); v.Code != "" {
			return v
		}
	}
	return explain.Verdict{}
}

// MustWait says why a queue that may hold so much more may not hold it yet.
func (r *Rules) MustWait(q *queue.Queue, asked model.Request) explain.Verdict {
	for _, f := range r.Startable {
		if v := f(q, asked); v.Code != "" {
			return v
		}
	}
	return explain.Verdict{}
}

// MayCreate returns why the pods of a gang's minimum could not be created; Code "" when they could.
func (r *Rules) MayCreate(j *Job) explain.Verdict { return first(r.Creatable, j) }

// Admit counts a gang whose pods are about to be created.
func (r *Rules) Admit(j *Job) {
	for _, admitted := range r.Admitted {
		admitted(j)
	}
}

// MayEnqueue says why a gang may not enter its queue: any Reject is a no; a
// Permit in a tier is a yes that later tiers are not asked about.
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

// MayTake says why a queue may not take room from others for so much.
func (r *Rules) MayTake(q *queue.Queue, asked model.Request) explain.Verdict {
	for _, f := range r.Preemptive {
		if v := f(q, asked); v.Code != "" {
			return v
		}
	}
	return explain.Verdict{}
}
