package accountlimits

import (
	"maps"
	"slices"
	"time"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

// budget is the budget of an account. All amounts are in resource-seconds; see resource.TimeUnits.
//
// While a pod runs, its usage grows and its reservation shrinks by the same amount. Their sum, which counts toward the
// budget, changes only if a pod is placed or ends, or if the usage starts again at zero. Decisions therefore do not depend
// on the time within a period.
type budget struct {
	account string
	spec    *accountv1alpha1.Budget
	amounts []resource.Amount // by name
	// usage is the recorded usage with the changes of this cycle. It must be replaced, not changed, because the model
	// shares it. ended is usage.Ended by the index of the resource.
	usage *model.BudgetUsage
	ended resource.Vec
	// reserved is the amount that pods on nodes use from usage.Since until their time limits. unplaced is the amount that
	// the minimums of admitted gangs reserve in addition.
	reserved, unplaced resource.Balance
	// rate and offset give the usage of running pods, like the fields of model.BudgetUsage.
	rate, offset resource.Balance
	// dirty is true if the usage in the model may be outdated.
	dirty bool
}

// budgetPart is the contribution of a gang to a budget. The fields have the same meaning as in budget.
type budgetPart struct {
	of                               *budget
	reserved, unplaced, rate, offset resource.Balance
	// loaded is the contribution according to the model.
	loaded struct{ reserved, unplaced resource.Balance }
}

// timeLimit is the time limit of a gang's pods that have not ended, in seconds.
type timeLimit struct {
	// longest is the longest time limit, or 0 if none is known.
	longest int64
	// missing is true if a pod has no time limit.
	missing bool
}

// noTimeLimit is the time, in seconds, that a pod without a time limit reserves. It exceeds every budget.
const noTimeLimit = resource.MaxSum

// limitInSeconds returns the time limit of a pod.
func limitInSeconds(limit time.Duration) int64 {
	if limit <= 0 {
		return noTimeLimit
	}
	return int64((limit + time.Second - 1) / time.Second)
}

// timeLimitOf returns the time limit of a gang.
func timeLimitOf(g *model.Gang) timeLimit {
	var limit timeLimit
	hasTasks := false
	for _, t := range g.Tasks {
		if t.Status.HasEnded() {
			continue
		}
		hasTasks = true
		if t.Expected.Limit <= 0 {
			limit.missing = true
			continue
		}
		limit.longest = max(limit.longest, limitInSeconds(t.Expected.Limit))
	}
	if g.TimeLimit > 0 {
		limit.longest = max(limit.longest, limitInSeconds(g.TimeLimit))
		return limit
	}
	if isDescribed := g.Job != ""; isDescribed && !hasTasks { // the job's controller has found no time limit
		limit.missing = true
	}
	return limit
}

// newBudget returns the budget of an account with the usage in the model.
func (t *tally) newBudget(account string, spec *accountv1alpha1.Budget) *budget {
	if spec == nil {
		return nil
	}
	b := &budget{account: account, spec: spec, dirty: true}
	for name, minutes := range spec.ResourceMinutes {
		b.amounts = append(b.amounts, resource.Amount{Name: name, Value: resource.TimeFromMinutes(name, minutes)})
	}
	slices.SortFunc(b.amounts, resource.CompareByName)
	t.budgets[account] = b
	return b
}

// isRestartDue reports whether the usage of a budget must start at zero. Then the parts of all gangs must be loaded again.
func (t *tally) isRestartDue(now time.Time) bool {
	for _, b := range t.budgets {
		if b.usage.Since.Before(b.spec.StartAt(now)) {
			return true
		}
	}
	return false
}

// loadUsage reads the usage of budgets from the model. The usage starts at zero if it is not known, and at the beginning
// of a period.
func (t *tally) loadUsage(now time.Time) {
	for account, b := range t.budgets {
		usage, start := t.cluster.BudgetUsage[account], b.spec.StartAt(now)
		switch {
		case usage == nil && b.usage != nil:
			usage = &model.BudgetUsage{Since: b.usage.Since}
		case usage == nil:
			usage = &model.BudgetUsage{Since: now}
		case usage.Since.Before(start):
			usage = restartUsage(usage, start)
		case usage == b.usage:
			continue
		}
		b.setUsage(t.cluster.Resources, usage)
	}
}

// restartUsage returns the usage with which a new period starts: without ended pods, and with the part of the
// reservations that pods have not used before start. If a budget is changed and should have started before the last
// change of its usage, it starts at that change: it is not known which of the ended pods ran since the start.
func restartUsage(usage *model.BudgetUsage, start time.Time) *model.BudgetUsage {
	if usage.At.After(start) {
		start = usage.At
	}
	restarted := &model.BudgetUsage{Since: start, At: usage.At, Rate: usage.Rate, Stored: usage.Stored}
	for name, reserved := range usage.Reserved {
		if restarted.Reserved == nil {
			restarted.Reserved = map[string]int64{}
		}
		restarted.Reserved[name] = reserved - usage.OpenAt(name, start)
	}
	return restarted
}

// addEndedPods adds the pods that have ended to the usage of budgets.
func (t *tally) addEndedPods(now time.Time) {
	for i := range t.cluster.EndedPods {
		pod := &t.cluster.EndedPods[i]
		for _, name := range t.cluster.Accounts.Budgets(pod.Account) {
			b := t.budgets[name]
			b.addEnded(t.cluster.Resources, pod.Request, secondsUsed(pod.Started, now, b.usage.Since, limitInSeconds(pod.Limit)))
			t.changed[t.scopes[model.Party{Account: name}]] = true
		}
	}
}

// secondsUsed returns how long a pod has run since the given time, but at most until its time limit.
func secondsUsed(started, now, since time.Time, limit int64) int64 {
	if started.IsZero() {
		return 0
	}
	return min(model.SecondsBetween(started, now), limit) - min(model.SecondsBetween(started, since), limit)
}

// addEnded adds the usage of a pod that has ended.
func (b *budget) addEnded(names *resource.Names, request resource.Request, seconds int64) {
	usage := b.copyUsage()
	for _, term := range request {
		name := names.Name(int(term.Index))
		used := resource.MultiplyTime(resource.TimeUnits(name, term.Value), seconds)
		usage.Ended[name] = resource.AddTime(usage.Ended[name], used)
	}
	b.setUsage(names, usage)
}

// copyUsage returns a copy of the recorded usage that may be changed.
func (b *budget) copyUsage() *model.BudgetUsage {
	usage := *b.usage
	usage.Ended = make(map[string]int64, len(b.usage.Ended))
	for name, used := range b.usage.Ended {
		usage.Ended[name] = used
	}
	return &usage
}

func (b *budget) setUsage(names *resource.Names, usage *model.BudgetUsage) {
	b.usage, b.ended, b.dirty = usage, make(resource.Vec, names.Len()), true
	for name, used := range usage.Ended {
		if index, known := names.Find(name); known {
			b.ended[index] = used
		}
	}
}

// newBudgetPart returns the contribution of a gang's pods to a budget.
func (t *tally) newBudgetPart(b *budget, g *model.Gang) budgetPart {
	part := budgetPart{of: b}
	for _, task := range g.Tasks {
		if isOnNode := task.Node != model.NoNode && !task.Status.HasEnded(); isOnNode {
			part.addTask(t.cluster.Resources, task, b.usage.Since, 1)
		}
	}
	return part
}

// addTask adds a pod on a node, multiplied by sign, to the part.
func (p *budgetPart) addTask(names *resource.Names, task *model.Task, since time.Time, sign int64) {
	limit := limitInSeconds(task.ChargedLimit())
	isStarted := !task.Started.IsZero()
	usedBefore := secondsUsed(task.Started, since, time.Time{}, limit)
	for _, term := range task.Shape.Request {
		units := resource.TimeUnits(names.Name(int(term.Index)), term.Value)
		p.reserved.AddRequest(resource.Request{{Index: term.Index, Value: resource.MultiplyTime(units, limit-usedBefore)}}, sign)
		if !isStarted {
			continue
		}
		p.rate.AddRequest(resource.Request{{Index: term.Index, Value: units}}, sign)
		p.offset.AddRequest(resource.Request{{Index: term.Index, Value: resource.MultiplyTime(units, model.SecondsBetween(since, task.Started))}}, sign)
	}
}

// markLoaded records that the part agrees with the model.
func (p *budgetPart) markLoaded() {
	p.loaded.reserved, p.loaded.unplaced = slices.Clone(p.reserved), slices.Clone(p.unplaced)
}

// setUnplaced sets the amount that a gang reserves for the pods of its minimum that have no node. floor is the minimum,
// or empty if the gang does not reserve it, and held is the sum of the requests of its pods on nodes.
func (p *budgetPart) setUnplaced(names *resource.Names, floor, held resource.Vec, limit int64) {
	p.unplaced = nil
	for i, least := range floor {
		p.unplaced.AddRequest(resource.Request{{Index: int32(i), Value: unplacedTime(names, i, least-held.Get(i), limit)}}, 1)
	}
}

// unplacedTime returns the amount to reserve for a request that has no node.
func unplacedTime(names *resource.Names, index int, request, limit int64) int64 {
	return resource.MultiplyTime(resource.TimeUnits(names.Name(index), max(request, 0)), limit)
}

// addPart adds a part, multiplied by sign, to its budget.
func (b *budget) addPart(p *budgetPart, sign int) {
	b.reserved.AddBalance(p.reserved, sign)
	b.unplaced.AddBalance(p.unplaced, sign)
	b.rate.AddBalance(p.rate, sign)
	b.offset.AddBalance(p.offset, sign)
	b.dirty = true
}

// committed returns the amount of a resource that pods have used and may still use.
func (b *budget) committed(index int) int64 {
	return resource.AddTime(b.ended.Get(index), b.reserved.Get(index))
}

// claimed returns the amount of a resource that pods have used, and that admitted gangs may still use.
func (b *budget) claimed(index int) int64 {
	return resource.AddTime(b.committed(index), b.unplaced.Get(index))
}

// amountsWithoutOwn returns the committed and the claimed amounts of the budget's resources, without the changes of the
// gang itself in this cycle. The gang can be tried again when one of them decreases.
func (b *budget) amountsWithoutOwn(names *resource.Names, own *budgetPart) (committed, claimed resource.Vec) {
	committed, claimed = make(resource.Vec, len(b.amounts)), make(resource.Vec, len(b.amounts))
	for i, most := range b.amounts {
		index, known := names.Find(string(most.Name))
		if !known {
			continue
		}
		reserved := own.loaded.reserved.Get(index) - own.reserved.Get(index)
		unplaced := own.loaded.unplaced.Get(index) - own.unplaced.Get(index)
		committed[i] = b.committed(index) + reserved
		claimed[i] = b.claimed(index) + reserved + unplaced
	}
	return committed, claimed
}

// hasDecreased reports whether the committed or the claimed amount of a resource is less than when the budget held back
// gangs.
func (b *budget) hasDecreased(names *resource.Names, committed, claimed resource.Vec) bool {
	for i, most := range b.amounts {
		index, known := names.Find(string(most.Name))
		if !known {
			continue
		}
		if b.committed(index) < committed.Get(i) || b.claimed(index) < claimed.Get(i) {
			return true
		}
	}
	return false
}

// addUnseenEndedPods adds the pods that have ended while no scheduler was running to the usage. Only the sum of their usage
// and reservations is known. They are charged until now, but at most until their time limits.
func (t *tally) addUnseenEndedPods(b *budget, now time.Time) {
	if !b.usage.Stored {
		return
	}
	var remaining budgetPart // what was stored, without the pods that are still on nodes
	for g := range t.parts {
		for _, task := range g.Tasks {
			if wasRunningAt(task, b.usage.At) && t.countsToward(g, b) {
				remaining.addTask(t.cluster.Resources, task, b.usage.Since, 1)
			}
		}
	}
	usage := b.copyUsage()
	usage.Stored = false
	for name, reserved := range b.usage.Reserved {
		index := t.cluster.Resources.Index(name)
		rate := b.usage.Rate[name] - remaining.rate.Get(index)
		used := resource.MultiplyTime(rate, model.SecondsBetween(usage.Since, now)) - (b.usage.Offset[name] - remaining.offset.Get(index))
		used = min(max(used, 0), max(reserved-remaining.reserved.Get(index), 0))
		usage.Ended[name] = resource.AddTime(usage.Ended[name], used)
	}
	b.setUsage(t.cluster.Resources, usage)
}

// wasRunningAt reports whether a pod that is still on a node had started at a time.
func wasRunningAt(task *model.Task, at time.Time) bool {
	isOnNode := task.Node != model.NoNode && !task.Status.HasEnded()
	return isOnNode && !task.Started.IsZero() && !task.Started.After(at)
}

// countsToward reports whether a gang counts toward a budget.
func (t *tally) countsToward(g *model.Gang, b *budget) bool {
	for i := range t.parts[g].budgets {
		if t.parts[g].budgets[i].of == b {
			return true
		}
	}
	return false
}

// changedBudgets returns the usage of the budgets that differ from the model, and the next time at which a budget is
// renewed.
func (t *tally) changedBudgets(now time.Time) (changed []model.BudgetUsageEntry, renewedAt time.Time) {
	for _, account := range slices.Sorted(maps.Keys(t.budgets)) {
		b := t.budgets[account]
		if next := b.spec.NextStart(now); !next.IsZero() && (renewedAt.IsZero() || next.Before(renewedAt)) {
			renewedAt = next
		}
		if !b.dirty {
			continue
		}
		usage := b.changedUsage(t.cluster, now)
		if usage == nil {
			b.dirty = false
			continue
		}
		changed = append(changed, model.BudgetUsageEntry{Account: account, Usage: usage})
	}
	if t.cluster.Accounts.Len() == 0 { // the accounts may not have been read
		return changed, renewedAt
	}
	for _, account := range slices.Sorted(maps.Keys(t.cluster.BudgetUsage)) {
		if t.budgets[account] == nil {
			changed = append(changed, model.BudgetUsageEntry{Account: account})
		}
	}
	return changed, renewedAt
}

// changedUsage returns the usage of the budget if it differs from the model, and nil otherwise.
func (b *budget) changedUsage(c *model.Cluster, now time.Time) *model.BudgetUsage {
	usage := *b.usage
	usage.At = now
	usage.Rate, usage.Offset, usage.Reserved = amountsByName(c.Resources, b.rate), amountsByName(c.Resources, b.offset), amountsByName(c.Resources, b.reserved)
	before := c.BudgetUsage[b.account]
	if before != nil && !before.Stored && usage.EqualAmounts(before) {
		return nil
	}
	return &usage
}

func amountsByName(names *resource.Names, amounts resource.Balance) map[string]int64 {
	var out map[string]int64
	for i := range amounts {
		if amount := amounts.Get(i); amount > 0 {
			if out == nil {
				out = map[string]int64{}
			}
			out[names.Name(i)] = amount
		}
	}
	return out
}

// checkAdmittedBudget returns a verdict if the admission of a gang would exceed the budget of a scope.
func (r *rules) checkAdmittedBudget(scope *scope, own *part, floor resource.Vec) explain.Verdict {
	names := r.s.Cluster.Resources
	return r.checkBudget(scope, own, func(index int, reserved *budgetPart) (requested, claims, uses int64) {
		requested = unplacedTime(names, index, floor.Get(index), own.limit.longest)
		unplaced := unplacedTime(names, index, floor.Get(index)-own.held.Get(index), own.limit.longest)
		return requested, unplaced - reserved.unplaced.Get(index), 0
	})
}

// checkHeldBudget returns a verdict if pods with the request would exceed the budget of a scope.
func (r *rules) checkHeldBudget(scope *scope, own *part, request resource.Request) explain.Verdict {
	names := r.s.Cluster.Resources
	return r.checkBudget(scope, own, func(index int, reserved *budgetPart) (requested, claims, uses int64) {
		uses = unplacedTime(names, index, request.Get(index), own.limit.longest)
		unplaced := int64(0)
		if own.admitted || own.readmits {
			unplaced = unplacedTime(names, index, own.floor.Get(index)-own.held.Get(index)-request.Get(index), own.limit.longest)
		}
		return uses, uses + unplaced - reserved.unplaced.Get(index), uses
	})
}

// checkBudget is like checkResources for the budget of a scope.
func (r *rules) checkBudget(scope *scope, own *part, more func(index int, reserved *budgetPart) (requested, claims, uses int64)) explain.Verdict {
	b := scope.budget
	if b == nil {
		return explain.Verdict{}
	}
	renewal := &explain.BudgetLimit{RenewedAt: b.spec.NextStart(r.s.Now), Period: b.spec.Period, TimeLimit: time.Duration(own.limit.longest) * time.Second}
	if own.limit.missing {
		renewal.NeedsTimeLimit = true
		return explain.Verdict{Code: reason.AccountBudget, Limit: &explain.Limit{Account: scope.account, Asked: 1, Budget: renewal}}
	}
	reserved := own.partOfBudget(b)
	var exceeded, impossible []explain.Limit
	for _, most := range b.amounts {
		index, known := r.s.Cluster.Resources.Find(string(most.Name))
		if !known { // no pod requests it
			continue
		}
		requested, claims, uses := more(index, reserved)
		exceedsClaims := claims > 0 && b.claimed(index) > most.Value-claims
		exceedsUse := uses > 0 && b.committed(index) > most.Value-uses
		if !exceedsClaims && !exceedsUse {
			continue
		}
		minutes := func(amount int64) float64 { return resource.MinutesFromTime(string(most.Name), amount) }
		limit := explain.Limit{
			Account: scope.account, Resource: string(most.Name), Asked: minutes(requested), Held: minutes(b.committed(index)),
			Promised: minutes(b.unplaced.Get(index)), Limit: minutes(most.Value), Budget: renewal,
		}
		renewal.HeldWithoutLimit = renewal.HeldWithoutLimit || b.committed(index) == noTimeLimit
		exceeded = append(exceeded, limit)
		if requested > most.Value {
			impossible = append(impossible, limit)
		}
	}
	if len(impossible) > 0 {
		exceeded = impossible
	}
	if len(exceeded) == 0 {
		return explain.Verdict{}
	}
	scope.recordRefusal(r.s.Cluster.Resources, own)
	return explain.Verdict{Code: reason.AccountBudget, Limit: &exceeded[0], More: exceeded[1:]}
}

// partOfBudget returns what the gang contributes to a budget. The result is empty if the gang contributes nothing.
func (p *part) partOfBudget(b *budget) *budgetPart {
	for i := range p.budgets {
		if p.budgets[i].of == b {
			return &p.budgets[i]
		}
	}
	return &budgetPart{}
}
