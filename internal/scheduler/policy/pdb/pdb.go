// Package pdb ensures that evictions respect PodDisruptionBudgets.
//
//	In:   the budgets as reported by the disruption controller, the pods that are ready
//	Out:  a guard for all kinds of eviction
//
// The count in a budget's status lags behind: it may still include pods that this scheduler has just evicted.
// Therefore, the number of disruptions that a budget allows is the smaller of two numbers: the number in its status,
// and the number of ready pods that are not leaving, minus the budget's minimum.
package pdb

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy implements the pdb policy.
type Policy struct{ conf config.Plugin }

// New returns the policy.
func New(conf config.Plugin) *Policy { return &Policy{conf} }

// Name returns "pdb".
func (*Policy) Name() string { return "pdb" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the guard.
func (p *Policy) Open(s *session.Session) {
	if len(s.Cluster.Budgets) == 0 {
		return
	}
	l := &ledger{cluster: s.Cluster, covering: map[*model.Task][]*account{}}
	s.Rules.Guard(func(a *framework.Attack) framework.Guard {
		on := a.NeedsGuard(p.conf.Enabled("enablePreemptable"), p.conf.Enabled("enableReclaimable"))
		if a.Kind == framework.Shuffle {
			on = p.conf.Enabled("enabledVictim")
		}
		if !on {
			return framework.Guard{}
		}
		return framework.Guard{Code: reason.BudgetExhausted, Static: true, May: l.mayEvictAll, Out: l.countVictims}
	})
}

// account tracks a budget during a cycle.
type account struct {
	*model.Budget
	left    int
	counted bool
}

// ledger holds all budgets of a cycle.
type ledger struct {
	cluster  *model.Cluster
	accounts map[string][]*account // by namespace
	covering map[*model.Task][]*account
}

// mayEvictAll reports whether all budgets allow the eviction of the victims.
func (l *ledger) mayEvictAll(victims []*model.Task) (bool, string) {
	if len(victims) == 1 {
		for _, a := range l.budgetsOfTask(victims[0]) {
			if a.left < 1 {
				return false, a.Key()
			}
		}
		return true, ""
	}
	need := map[*account]int{}
	for _, t := range victims {
		for _, a := range l.budgetsOfTask(t) {
			if need[a]++; need[a] > a.left {
				return false, a.Key()
			}
		}
	}
	return true, ""
}

func (l *ledger) countVictims(victims []*model.Task, sign int) {
	for _, t := range victims {
		for _, a := range l.budgetsOfTask(t) {
			a.left -= sign
		}
	}
}

// budgetsOfTask returns the budgets that cover a task.
func (l *ledger) budgetsOfTask(t *model.Task) []*account {
	list, known := l.covering[t]
	if known {
		return list
	}
	if l.accounts == nil {
		l.accounts = map[string][]*account{}
		for _, b := range l.cluster.SortedBudgets() {
			l.accounts[b.Namespace] = append(l.accounts[b.Namespace], &account{Budget: b})
		}
	}
	for _, a := range l.accounts[t.Namespace] {
		if a.Covers(t) {
			l.countAllowed(a)
			list = append(list, a)
		}
	}
	l.covering[t] = list
	return list
}

// countAllowed computes how many more of the pods that a budget covers may be evicted.
func (l *ledger) countAllowed(a *account) {
	if a.counted {
		return
	}
	a.counted = true
	ready := 0
	for _, tasks := range l.cluster.Nodes.Tasks {
		for _, t := range tasks {
			if t.Status == model.Running && t.Ready && a.Covers(t) {
				ready++
			}
		}
	}
	a.left = max(min(a.Allowed, ready-a.Desired), 0)
}
