package model

import (
	"maps"
	"slices"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model/resource"
)

// BudgetUsage is the usage of an account's budget by the account and the accounts below it. All amounts are in
// resource-seconds, by the name of the resource; see resource.TimeUnits.
type BudgetUsage struct {
	// Since is the time from which the usage counts.
	Since time.Time
	// Ended is the usage of pods that have ended.
	Ended map[string]int64 `json:",omitempty"`
	// At is the time of the last change. Pods that were on nodes at that time use Rate per second, and they reserve
	// Reserved, which includes their usage: Rate times the seconds since Since, minus Offset.
	At                     time.Time
	Rate, Offset, Reserved map[string]int64 `json:",omitempty"`
	// Stored is true if the usage was read from storage. Pods may have ended since then.
	Stored bool `json:"-"`
}

// OpenAt returns the usage of the pods that were on nodes at the last change, up to the time now.
func (u *BudgetUsage) OpenAt(name string, now time.Time) int64 {
	used := resource.MultiplyTime(u.Rate[name], SecondsBetween(u.Since, now)) - u.Offset[name]
	return min(max(used, 0), u.Reserved[name])
}

// UsedAt returns the usage of all pods up to the time now.
func (u *BudgetUsage) UsedAt(name string, now time.Time) int64 {
	return resource.AddTime(u.Ended[name], u.OpenAt(name, now))
}

// ReservedAt returns the amount that pods on nodes may still use until their time limits.
func (u *BudgetUsage) ReservedAt(name string, now time.Time) int64 {
	return u.Reserved[name] - u.OpenAt(name, now)
}

// EqualAmounts reports whether two usages agree except for the time of the last change.
func (u *BudgetUsage) EqualAmounts(o *BudgetUsage) bool {
	sameEnded := u.Since.Equal(o.Since) && maps.Equal(u.Ended, o.Ended)
	sameOpen := maps.Equal(u.Rate, o.Rate) && maps.Equal(u.Offset, o.Offset) && maps.Equal(u.Reserved, o.Reserved)
	return sameEnded && sameOpen
}

// SecondsBetween returns the seconds between two times, rounded up. It is 0 if to is not after from.
func SecondsBetween(from, to time.Time) int64 {
	d := to.Sub(from)
	if d <= 0 {
		return 0
	}
	return int64((d + time.Second - 1) / time.Second)
}

// BudgetUsageEntry is the usage of the budget of one account. A nil usage deletes it.
type BudgetUsageEntry struct {
	Account string
	Usage   *BudgetUsage
}

// BudgetUsageSet loads the usage of budgets that was saved earlier.
type BudgetUsageSet struct{ Entries []BudgetUsageEntry }

func (d BudgetUsageSet) apply(c *Cluster) {
	for _, e := range d.Entries {
		if e.Usage == nil {
			continue
		}
		usage := *e.Usage
		usage.Stored = true
		c.setBudgetUsage(e.Account, &usage)
	}
	c.BudgetUsageGen = c.nextGeneration()
}

// AssumeBudgetUsage records the decided usage of budgets. It includes the usage of all pods in EndedPods, which becomes
// empty.
func (c *Cluster) AssumeBudgetUsage(entries []BudgetUsageEntry) {
	for _, e := range entries {
		c.setBudgetUsage(e.Account, e.Usage)
	}
	c.EndedPods = nil
}

func (c *Cluster) setBudgetUsage(account string, usage *BudgetUsage) {
	if usage == nil {
		delete(c.BudgetUsage, account)
		return
	}
	if c.BudgetUsage == nil {
		c.BudgetUsage = map[string]*BudgetUsage{}
	}
	c.BudgetUsage[account] = usage
}

// SortBudgetUsage returns the entries sorted by account.
func SortBudgetUsage(of map[string]*BudgetUsage) []BudgetUsageEntry {
	out := make([]BudgetUsageEntry, 0, len(of))
	for _, account := range slices.Sorted(maps.Keys(of)) {
		out = append(out, BudgetUsageEntry{account, of[account]})
	}
	return out
}

// EndedPod is a pod that has ended since the last cycle. The usage of its account's budgets does not include it yet.
type EndedPod struct {
	Account string
	Request resource.Request
	Started time.Time
	// Limit is the pod's ChargedLimit; 0 means no limit.
	Limit time.Duration
}

// recordEnded records that a pod no longer uses a node, if the budget of an account may include it.
func (c *Cluster) recordEnded(t *Task) {
	if !c.budgeted || t.Started.IsZero() || t.Shape == nil {
		return
	}
	account := t.accountOf()
	if account == "" {
		return
	}
	c.EndedPods = append(c.EndedPods, EndedPod{Account: account, Request: t.Shape.Request, Started: t.Started, Limit: t.ChargedLimit()})
}

// accountOf returns the account that a pod uses: that of its PodGroup. Without its PodGroup, the label of the pod names
// it. The label counts only for pods of Jobs: admission prevents users from writing it there.
func (t *Task) accountOf() string {
	switch {
	case t.Gang == nil:
		return ""
	case t.Gang.Known:
		return t.Gang.Account
	case t.Labels[keys.JobName] == "":
		return ""
	}
	return t.Labels[keys.Account]
}
