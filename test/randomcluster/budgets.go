package randomcluster

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
)

// unlimited is what a pod without a time limit reserves, in seconds of a milli-CPU. It exceeds all budgets.
const unlimited = int64(1) << 50

// podTime is how long a pod uses a node. The zero time means that it has not started or ended.
type podTime struct {
	accounts       []string // that have it in their budgets
	cpu, limit     int64    // in milli-CPU and seconds; limit is 0 if there is none
	started, ended time.Time
}

// budgetTimes follows the usage of budgets according to the API, independently of the scheduler.
type budgetTimes struct {
	// gone holds the pods that have ended. leaving holds those that have ended since the last cycle.
	gone, leaving []podTime
	// open holds the pods that use a node, by UID.
	open map[types.UID]podTime
	// most holds, for each account, the largest usage that its budget permits. It is more than the budget if more was
	// used and reserved when the budget was set.
	most map[string]int64
	// since holds the times from which usage counts, at the last check.
	since map[string]time.Time
}

// addBudget draws a budget for an account.
func (r *Cluster) addBudget(b *make.AccountBuilder) {
	if rapid.IntRange(0, 2).Draw(r.T, "has a budget") > 0 {
		return
	}
	b.Budget("cpu", fmt.Sprint(rapid.SampledFrom([]int{0, 10, 30, 60, 120, 240}).Draw(r.T, "cpu minutes")))
	if rapid.IntRange(0, 3).Draw(r.T, "since") == 0 {
		b.BudgetSince(r.Now.Add(time.Duration(rapid.IntRange(-3, 3).Draw(r.T, "since minutes")) * time.Minute))
	}
	b.BudgetPeriod(rapid.SampledFrom([]accountv1alpha1.BudgetPeriod{"", accountv1alpha1.BudgetPeriodNone, accountv1alpha1.BudgetPeriodMonth}).Draw(r.T, "period"))
}

// drawTimeLimit returns the time limit of a gang's pods in a cluster with accounts.
func (r *Cluster) drawTimeLimit() *int64 {
	if rapid.IntRange(0, 5).Draw(r.T, "endless") == 0 {
		return nil
	}
	seconds := int64(60 * rapid.IntRange(1, 20).Draw(r.T, "minutes"))
	return &seconds
}

// isPastTimeLimit reports whether a running pod has reached its time limit.
func isPastTimeLimit(p *corev1.Pod, now time.Time) bool {
	if p.Spec.ActiveDeadlineSeconds == nil || p.Status.StartTime == nil {
		return false
	}
	limit := time.Duration(*p.Spec.ActiveDeadlineSeconds) * time.Second
	return p.Status.Phase == corev1.PodRunning && now.Sub(p.Status.StartTime.Time) >= limit
}

// Pass advances the time. Pods that reach their time limit end, but some of them late.
func (r *Cluster) Pass() {
	r.Now = r.Now.Add(rapid.SampledFrom([]time.Duration{10 * time.Second, time.Minute, 7 * time.Minute, 20 * 24 * time.Hour}).Draw(r.T, "passes"))
	for _, name := range r.PodNames() {
		p := r.Pods[name]
		if isPastTimeLimit(p, r.Now) && rapid.IntRange(0, 3).Draw(r.T, "stops late") > 0 {
			p.Status.Phase = corev1.PodFailed
			r.Model.Apply(model.TaskFrom(p, true))
		}
	}
}

// budgetOf returns the budget of an account in seconds of a milli-CPU; ok is false if it has none.
func (r *Cluster) budgetOf(account string) (most int64, ok bool) {
	a := r.Accounts[account]
	if a == nil || a.Spec.Limits == nil || a.Spec.Limits.Budget == nil {
		return 0, false
	}
	cpu := a.Spec.Limits.Budget.ResourceMinutes["cpu"]
	return cpu.MilliValue() * 60, true
}

// budgetedAccounts returns the accounts whose budgets include a pod.
func (r *Cluster) budgetedAccounts(p *corev1.Pod) (out []string) {
	account := r.partyOf(keys.PodGroupOf(p.Annotations), []*corev1.Pod{p}).account
	for name := account; r.Accounts[name] != nil; name = r.Accounts[name].Spec.Parent {
		out = append(out, name)
	}
	return out
}

// followPods updates the pods that use a node. Pods that have ended since the last call are in leaving.
func (r *Cluster) followPods() {
	b := &r.budgets
	now := map[types.UID]podTime{}
	for _, name := range r.PodNames() {
		p := r.Pods[name]
		t := podTime{accounts: r.budgetedAccounts(p), cpu: p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()}
		if s := p.Spec.ActiveDeadlineSeconds; s != nil {
			t.limit = *s
		}
		if p.Status.StartTime != nil {
			t.started = p.Status.StartTime.Time
		}
		hasEnded := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		if r.usesNode(p) && !hasEnded {
			now[p.UID] = t
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(b.open)) {
		if _, isOpen := now[uid]; !isOpen {
			b.leaving = append(b.leaving, b.open[uid])
		}
	}
	b.open = now
}

// usesNode reports whether a pod is bound to a node, or is about to be.
func (r *Cluster) usesNode(p *corev1.Pod) bool {
	if _, isComing := r.Coming[p.UID]; isComing || p.Spec.NodeName != "" {
		return true
	}
	task := r.Model.Task(p.UID)
	return task != nil && task.Status == model.Pipelined
}

// usedSince returns the usage of a pod between two times, in seconds of a milli-CPU.
func (p *podTime) usedSince(since, until time.Time) int64 {
	if p.started.IsZero() {
		return 0
	}
	ran := func(to time.Time) int64 {
		seconds := max(int64(to.Sub(p.started)/time.Second), 0)
		if p.limit > 0 {
			return min(seconds, p.limit)
		}
		return seconds
	}
	return max(ran(until)-ran(since), 0) * p.cpu
}

// most returns the largest possible usage of a pod, counted from a time.
func (p *podTime) most(since time.Time) int64 {
	if p.limit == 0 {
		return unlimited
	}
	return p.usedSince(since, p.started.Add(time.Duration(p.limit)*time.Second)) + p.mostIfNotStarted()
}

func (p *podTime) mostIfNotStarted() int64 {
	if p.started.IsZero() {
		return p.limit * p.cpu
	}
	return 0
}

// budgetState is what counts toward the budget of an account, in seconds of a milli-CPU.
type budgetState struct{ ended, used, committed int64 }

// stateOf returns what counts toward the budget of an account since a time.
func (r *Cluster) stateOf(account string, since time.Time, open map[types.UID]podTime) (s budgetState) {
	for i := range r.budgets.gone {
		if p := &r.budgets.gone[i]; slices.Contains(p.accounts, account) {
			s.ended += p.usedSince(since, p.ended)
		}
	}
	s.used, s.committed = s.ended, s.ended
	for _, p := range open {
		if slices.Contains(p.accounts, account) {
			s.used += p.usedSince(since, r.Now)
			s.committed += p.most(since)
		}
	}
	return s
}

// budgetSnapshot is what counts toward budgets at one time: the pods that use nodes, and by account what admitted gangs
// reserve for pods of their minimums without nodes.
type budgetSnapshot struct {
	open     map[types.UID]podTime
	unplaced map[string]int64
}

// snapshotBudgets returns what counts toward budgets now. Pods that have ended count until the time of the next cycle.
func (r *Cluster) snapshotBudgets() budgetSnapshot {
	r.followPods()
	for _, p := range r.budgets.leaving {
		p.ended = r.Now
		r.budgets.gone = append(r.budgets.gone, p)
	}
	r.budgets.leaving = nil
	s := budgetSnapshot{open: r.budgets.open, unplaced: map[string]int64{}}
	for account := range r.Accounts {
		s.unplaced[account] = r.unplacedTime(account)
	}
	return s
}

// checkBudgets fails if decisions exceed the budget of an account, if more was used than the budget permits, or if the
// usage that the scheduler records is wrong. before holds what counted before the decisions.
func (r *Cluster) checkBudgets(before budgetSnapshot) {
	b := &r.budgets
	if b.most == nil {
		b.most, b.since = map[string]int64{}, map[string]time.Time{}
	}
	r.followPods()
	for _, account := range slices.Sorted(maps.Keys(r.Accounts)) {
		most, isLimited := r.budgetOf(account)
		recorded := r.Model.BudgetUsage[account]
		if !isLimited {
			if recorded != nil {
				r.T.Fatalf("the usage of account %s is recorded, but it has no budget", account)
			}
			delete(b.most, account)
			delete(b.since, account)
			continue
		}
		if recorded == nil {
			r.T.Fatalf("the usage of account %s is not recorded", account)
		}
		spec := r.Accounts[account].Spec.Limits.Budget
		if recorded.Since.Before(b.since[account]) || recorded.Since.Before(spec.StartAt(r.Now)) || recorded.Since.After(r.Now) {
			r.T.Fatalf("the usage of account %s counts since %v, before since %v; now is %v, and the budget %+v", account, recorded.Since, b.since[account], r.Now, spec)
		}
		was, is := r.stateOf(account, recorded.Since, before.open), r.stateOf(account, recorded.Since, b.open)
		if _, isKnown := b.most[account]; !isKnown || !recorded.Since.Equal(b.since[account]) {
			b.most[account] = max(most, was.committed)
		}
		b.since[account] = recorded.Since
		if got := recorded.Ended["cpu"]; got != is.ended {
			r.T.Fatalf("ended pods of account %s have used %d, recorded %d: %+v%s", account, is.ended, got, b.gone, r.describe(r.Engine))
		}
		if is.committed > most && is.committed > was.committed {
			r.T.Fatalf("account %s uses and reserves %d, before %d, and the budget is %d%s", account, is.committed, was.committed, most, r.describe(r.Engine))
		}
		claimed, unplaced := is.committed+r.unplacedTime(account), before.unplaced[account]
		if claimed > most && claimed > was.committed+unplaced {
			r.T.Fatalf("account %s uses and reserves %d with the minimums of admitted gangs, before %d, and the budget is %d%s", account, claimed, was.committed+unplaced, most, r.describe(r.Engine))
		}
		if is.used > b.most[account] {
			r.T.Fatalf("account %s has used %d, and at most %d is permitted (budget %d)%s", account, is.used, b.most[account], most, r.describe(r.Engine))
		}
		if was.committed <= most { // what was reserved before the budget was set is over
			b.most[account] = most
		}
	}
}

// isLimitedByBudget reports whether the budget of an account would be exceeded if a waiting gang was admitted or got all
// its pending pods.
func (r *Cluster) isLimitedByBudget(name string, pods []*corev1.Pod, account string, own, then AccountUse, isAdmission bool) bool {
	limit, isMissing := r.timeLimitOf(name, pods)
	for key := account; r.Accounts[key] != nil; key = r.Accounts[key].Spec.Parent {
		most, isLimited := r.budgetOf(key)
		if !isLimited {
			continue
		}
		if isMissing {
			return true
		}
		committed := r.stateOf(key, r.Model.BudgetUsage[key].Since, r.budgets.open).committed
		unplaced := (own.ClaimedCPU - own.CPU) * limit
		var more int64
		if isAdmission {
			more = max(then.CPU-own.CPU, 0) * limit
		} else {
			more = (then.CPU-own.CPU)*limit + max(own.ClaimedCPU-then.CPU, 0)*limit
		}
		if committed+(then.CPU-own.CPU)*limit > most || committed+r.unplacedTime(key)+more-unplaced > most {
			return true
		}
	}
	return false
}

// unplacedTime returns what admitted gangs reserve for pods of their minimums without nodes.
func (r *Cluster) unplacedTime(account string) (sum int64) {
	for name := range r.Gangs {
		var pods []*corev1.Pod
		for _, pod := range r.PodNames() {
			if keys.PodGroupOf(r.Pods[pod].Annotations) == name {
				pods = append(pods, r.Pods[pod])
			}
		}
		of := r.partyOf(name, pods).account
		isIn := false
		for key := of; r.Accounts[key] != nil; key = r.Accounts[key].Spec.Parent {
			isIn = isIn || key == account
		}
		if !isIn {
			continue
		}
		own := r.useOfGang(name, pods)
		limit, _ := r.timeLimitOf(name, pods)
		sum += (own.ClaimedCPU - own.CPU) * limit
	}
	return sum
}

// timeLimitOf returns the time limit of a gang's pods in seconds. isMissing is true if a pod has none.
func (r *Cluster) timeLimitOf(name string, pods []*corev1.Pod) (limit int64, isMissing bool) {
	hasPods := false
	for _, p := range pods {
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		hasPods = true
		if p.Spec.ActiveDeadlineSeconds == nil {
			return 0, true
		}
		limit = max(limit, *p.Spec.ActiveDeadlineSeconds)
	}
	g := r.Gangs[name]
	if g == nil {
		return limit, false
	}
	d, err := time.ParseDuration(g.Annotations[keys.TimeLimit])
	if err == nil {
		return max(limit, int64(d/time.Second)), false
	}
	return limit, !hasPods && len(g.OwnerReferences) > 0
}
