package framework

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

// AttackKind identifies the action that evicts pods.
type AttackKind string

// The kinds of attacks. Their names are the names of Volcano's actions.
const (
	Preempt     AttackKind = "preempt"     // within a queue
	Reclaim     AttackKind = "reclaim"     // between queues
	GangPreempt AttackKind = "gangpreempt" // within a queue, gang by gang, with network topology
	GangReclaim AttackKind = "gangreclaim" // between queues, gang by gang, with network topology
	Shuffle     AttackKind = "shuffle"     // without a gang that needs the resources, to move running pods
)

// Attack is an attempt to free resources for a gang by evicting pods. Policies decide on it in two ways:
//
//   - A Guard protects pods. If the guard of any tier rejects an eviction, the rejection is final. Examples are
//     guards for system pods, disruption budgets, cooldowns, and a queue's guarantee.
//   - An Entitlement permits evicting victims. All entitlements of a tier must permit it. The first tier whose
//     entitlements permit enough victims decides; later tiers are used only if it does not suffice. Without any
//     entitlement, nothing is evicted. Examples are a higher priority, a lower dominant share, and a queue that
//     exceeds its deserved amount.
type Attack struct {
	Kind  AttackKind
	Taker *Job // nil for Shuffle
	// Tasks are the tasks of the taker that are to be placed. Asked is their total request.
	Tasks []*model.Task
	Asked resource.Request
}

// Guard decides on victims. It is created for a single attack and keeps track of the tasks that are counted out,
// which means that they are chosen as victims. It is called for individual tasks before any task is counted out, and
// again when they are about to be evicted. In the second call, it must not permit what it rejected in the first.
type Guard struct {
	// May reports whether tasks of one gang may be evicted together, in addition to those already counted out. why
	// describes for users what protects the tasks; it may be empty if Code is sufficient.
	May func(victims []*model.Task) (ok bool, why string)
	// Code is the reason code of the guard's rejections; it defaults to ByPolicy.
	Code reason.Code
	// Gang is an optional quick check of all tasks of a gang, made before any task is chosen as a victim. If it returns
	// false, all of the gang's tasks are rejected.
	Gang func(g *model.Gang) bool
	// Static is true if the decisions depend only on the victims and on the taker's queue and priority, so that they
	// also apply to other gangs with the same queue and priority.
	Static bool
	// Moves is true if an entitlement is based on an order of shares, which changes when the allocations of gangs
	// change.
	Moves bool
	// Because returns the reason why an entitlement permits the eviction, for the messages to both gangs. It may be
	// nil.
	Because func(victims []*model.Task) string
	// Out is called when tasks are counted out (sign 1) or are spared again (sign -1). It may be nil.
	Out func(victims []*model.Task, sign int)
}

// Entitlement is a policy's permission to evict victims, for the kinds of attacks that it applies to. It belongs to a
// tier.
type Entitlement struct {
	Tier int
	// For reports whether the entitlement applies to an attack.
	For   func(*Attack) bool
	Grant func(*Attack) Guard
}

// Starve is a policy's rule that determines for which jobs other pods may be evicted.
type Starve struct {
	Tier   int
	Starve func(*Job) bool
}

// Mover selects tasks that should leave their nodes although no gang needs the resources. It belongs to a tier.
type Mover struct {
	Tier int
	Name string
	// Victims returns the tasks and the reason to mention in messages.
	Victims func() (tasks []*model.Task, why string)
	// Most returns the maximum number of a gang's tasks that may be evicted at the same time, regardless of its
	// minimum. If negative, the gang's surplus may be evicted or, failing that, all of its tasks.
	Most func(*model.Gang) int
}

// NeedsGuard reports whether a policy with these settings guards against an attack. Within a queue, it does so if
// enablePreemptable is set; between queues, if enableReclaimable is set; and against a shuffle, if either of them is
// set.
func (a *Attack) NeedsGuard(preemptable, reclaimable bool) bool {
	switch a.Kind {
	case Preempt, GangPreempt:
		return preemptable
	case Reclaim, GangReclaim:
		return reclaimable
	}
	return preemptable || reclaimable
}
