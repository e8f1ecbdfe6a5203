package accountlimits

import (
	"slices"
	"time"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// tally counts the jobs and resources of accounts, users and QOS. It is a cache for the next cycle, so that only changed gangs
// are processed. A new tally has the same counts.
type tally struct {
	cluster    *model.Cluster
	seen       uint64 // generation of the model up to which gangs were processed
	accountGen uint64 // generation of the accounts
	usageGen   uint64 // generation of the last load of the usage of budgets
	limited    bool   // an account, a user or a QOS has limits

	parts map[*model.Gang]*part
	// original is the tally from which this copy was made for a forecast, or nil. Parts are copied from it when they are first
	// used, so a part that is missing in parts may be in original.
	original *tally
	// paths holds the scopes of each member. scopes and qosScopes hold the scopes that are in use.
	paths     map[member][]*scope
	scopes    map[model.Party]*scope
	qosScopes map[member]*scope
	// budgets holds the budgets by account.
	budgets map[string]*budget
	// decided holds the gangs that were admitted or placed in this cycle. Their parts differ from the model.
	decided map[*model.Gang]bool
	// changed holds the scopes whose counts have changed since the last update.
	changed map[*scope]bool
	// relaxed holds the scopes that may permit more than when they held back a gang. If allRelaxed is true, any scope may
	// permit more.
	relaxed    map[*scope]bool
	allRelaxed bool
}

// scope is an account with the accounts below it or, if user is set, a user in an account. If qos is set, it is a QOS or,
// if user or account is set too, the user or the account in this QOS. It exists only if it has limits.
type scope struct {
	qos           string
	account, user string
	maxJobs       *int32
	maxResources  []resource.Amount // by name
	budget        *budget           // nil if the account has none

	jobs          int
	claimed, held resource.Balance
	// refused holds the greatest counts at which the scope has held back a gang since it was last relaxed. It is nil if
	// the scope has held back no gang.
	refused *counts
}

// counts holds the counts of a scope at one time.
type counts struct {
	jobs          int
	claimed, held resource.Vec
	// committed and budgeted are the results of budget.amountsWithoutOwn.
	committed, budgeted resource.Vec
}

// part holds the contribution of a gang to its scopes.
type part struct {
	in []*scope
	// admitted is true if the gang is admitted and its minimum has not ended. floor is then its minimum claim.
	admitted bool
	floor    resource.Vec
	// readmits is true if placing a pod makes the gang count as admitted. This applies to a completed gang whose pods are
	// created again. placed is the number of pods that are placed in this cycle.
	readmits      bool
	placed        int
	claimed, held resource.Vec
	// limit is the time limit of the gang's pods, and budgets holds the contribution to each budget. They are empty if no
	// budget limits the gang.
	limit   timeLimit
	budgets []budgetPart
	// loaded is the contribution of the gang according to the model.
	loaded counts
}

// isJob reports whether the gang counts as a job.
func (p *part) isJob() bool { return p.claimsMinimum() || !p.held.IsAllZero() }

// claimsMinimum reports whether the gang claims its minimum even if its pods use less.
func (p *part) claimsMinimum() bool { return p.admitted || (p.readmits && p.placed > 0) }

// claimsWith returns how much of a resource the gang would claim if its pods used an amount of it.
func (p *part) claimsWith(index int, used int64) int64 {
	if p.admitted || p.readmits {
		return max(used, p.floor.Get(index))
	}
	return used
}

// countJobs returns 1 if the gang counts as a job, and 0 otherwise.
func (p *part) countJobs() int {
	if p.isJob() {
		return 1
	}
	return 0
}

// computeClaims computes the claims of the gang: for each resource, the greater of its minimum and its use.
func (p *part) computeClaims(names *resource.Names) {
	p.claimed = append(p.claimed[:0], p.held...)
	floor := p.floor
	if !p.claimsMinimum() {
		floor = nil
	}
	for i := range p.budgets {
		p.budgets[i].setUnplaced(names, floor, p.held, p.limit.longest)
	}
	for i, least := range floor {
		switch {
		case i >= len(p.claimed):
			p.claimed = append(p.claimed, least)
		case p.claimed[i] < least:
			p.claimed[i] = least
		}
	}
}

// update updates the tally from the model.
func (t *tally) update(c *model.Cluster, now time.Time) {
	if t.cluster != c || t.accountGen != c.AccountGen || t.usageGen != c.BudgetUsageGen {
		t.rebuildFrom(c, now)
		return
	}
	if !t.limited {
		return
	}
	if t.isRestartDue(now) {
		t.rebuildFrom(c, now)
		return
	}
	t.relaxed, t.allRelaxed = nil, false
	for g := range t.decided {
		t.loadGang(g)
	}
	clear(t.decided)
	if !c.GangsSince(t.seen, t.loadGang) {
		t.rebuildFrom(c, now)
		return
	}
	t.loadUsage(now)
	t.addEndedPods(now)
	for s := range t.changed {
		if s.refused == nil || !s.isLessThan(c.Resources, s.refused) {
			continue
		}
		if t.relaxed == nil {
			t.relaxed = map[*scope]bool{}
		}
		t.relaxed[s], s.refused = true, nil
	}
	clear(t.changed)
	t.seen = c.Gen()
}

// rebuildFrom counts all gangs again.
func (t *tally) rebuildFrom(c *model.Cluster, now time.Time) {
	*t = tally{
		cluster: c, seen: c.Gen(), accountGen: c.AccountGen, usageGen: c.BudgetUsageGen, budgets: map[string]*budget{}, allRelaxed: true, parts: map[*model.Gang]*part{},
		paths: map[member][]*scope{}, scopes: map[model.Party]*scope{}, qosScopes: map[member]*scope{}, decided: map[*model.Gang]bool{}, changed: map[*scope]bool{},
	}
	for _, name := range c.Accounts.Names() {
		account := c.Accounts.Account(name)
		if limits := account.Spec.Limits; limits != nil {
			t.addScope(scope{
				account: name, maxJobs: limits.MaxRunningJobs, maxResources: resource.AmountsFrom(limits.MaxResources, resource.RoundDownSum),
				budget: t.newBudget(name, limits.Budget),
			})
		}
		t.limited = t.limited || len(t.scopes) > 0 || limitsUsers(account)
	}
	t.limited = t.limited || limitsAnyQOS(c.Accounts)
	if !t.limited {
		return
	}
	t.loadUsage(now)
	for _, g := range c.Gangs {
		t.loadGang(g)
	}
	for _, b := range t.budgets {
		t.addUnseenEndedPods(b, now)
	}
	t.addEndedPods(now)
}

// limitsUsers reports whether an account limits its users.
func limitsUsers(account *accountv1alpha1.Account) bool {
	return account.Spec.UserLimits != nil || slices.ContainsFunc(account.Spec.Users, func(u accountv1alpha1.AccountUser) bool { return u.Limits != nil })
}

// addScope adds a scope if it has limits. It returns nil otherwise.
func (t *tally) addScope(s scope) *scope {
	if s.maxJobs == nil && len(s.maxResources) == 0 && s.budget == nil {
		return nil
	}
	t.scopes[model.Party{Account: s.account, User: s.user}] = &s
	return &s
}

// userScope returns the scope of a user in an account; nil if the user has no limits there.
func (t *tally) userScope(of model.Party) *scope {
	if s := t.scopes[of]; s != nil {
		return s
	}
	limits := t.cluster.Accounts.EffectiveUserLimits(of.Account, of.User)
	return t.addScope(scope{
		account: of.Account, user: of.User, maxJobs: limits.MaxRunningJobs, maxResources: resource.AmountsFrom(limits.MaxResources, resource.RoundDownSum),
	})
}

// scopesOf returns the scopes that limit a member, in the order of the checks: the QOS, the user, the account, its
// ancestors.
func (t *tally) scopesOf(of member) []*scope {
	if of.Account == "" && of.qos == "" {
		return nil
	}
	path, known := t.paths[of]
	if known {
		return path
	}
	path = append(t.scopesOfQOS(of), t.scopesOfAccount(of.Party)...)
	t.paths[of] = path
	return path
}

// scopesOfAccount returns the scopes of a user in an account, of the account, and of its ancestors.
func (t *tally) scopesOfAccount(of model.Party) []*scope {
	var path []*scope
	accounts := t.cluster.Accounts.Path(of.Account)
	if len(accounts) > 0 && of.User != "" {
		if s := t.userScope(of); s != nil {
			path = append(path, s)
		}
	}
	for _, account := range accounts {
		if s := t.scopes[model.Party{Account: account.Name}]; s != nil {
			path = append(path, s)
		}
	}
	return path
}

// memberOf returns the QOS, the user and the account to which a gang counts. Without its PodGroup, only the labels and
// annotations of its pods name them. They count only for pods of Jobs, where admission prevents users from writing them.
func memberOf(g *model.Gang) member {
	if g.Known || len(g.Tasks) == 0 {
		return member{Party: g.Party(), qos: g.QOS}
	}
	first := g.Tasks[0]
	for _, t := range g.Tasks {
		if t.Name < first.Name {
			first = t
		}
	}
	if first.Labels[keys.JobName] == "" {
		return member{}
	}
	return member{Party: model.Party{Account: first.Labels[keys.Account], User: first.Annotations[keys.User]}, qos: first.Labels[keys.QOS]}
}

// loadGang replaces the part of a gang that may have changed.
func (t *tally) loadGang(g *model.Gang) {
	old := t.parts[g]
	if old != nil {
		t.addPart(old, -1)
		delete(t.parts, g)
	}
	if !g.Known && len(g.Tasks) == 0 {
		return
	}
	scopes := t.scopesOf(memberOf(g))
	if len(scopes) == 0 {
		return
	}
	p := t.newPart(g, scopes)
	p.loaded = counts{jobs: p.countJobs(), claimed: p.claimed.Clone(), held: p.held.Clone()}
	for i := range p.budgets {
		p.budgets[i].markLoaded()
	}
	t.parts[g] = p
	t.addPart(p, 1)
}

// newPart returns the contribution of a gang to its scopes according to the model.
func (t *tally) newPart(g *model.Gang, scopes []*scope) *part {
	p := &part{in: scopes, held: g.OccupiedResources()}
	if g.Known && !hasEnded(g, g.MinMember) {
		p.admitted = isAdmitted(g.Status.Phase)
		p.readmits = g.Status.Phase == schedulingv1beta1.PodGroupCompleted
		p.floor = minimumOf(g, g.MinResources, g.MinMember)
	}
	for _, s := range scopes {
		if s.budget != nil {
			p.limit = timeLimitOf(g)
			p.budgets = append(p.budgets, t.newBudgetPart(s.budget, g))
		}
	}
	p.computeClaims(t.cluster.Resources)
	return p
}

// isAdmitted reports whether a gang in this phase is admitted to its queue and has not ended.
func isAdmitted(phase schedulingv1beta1.PodGroupPhase) bool {
	switch phase {
	case "", schedulingv1beta1.PodGroupPending, schedulingv1beta1.PodGroupCompleted:
		return false
	}
	return true
}

// hasEnded reports whether the minimum of a gang has ended. If pods of such a gang are created again, the gang counts
// only once one of them has been placed.
func hasEnded(g *model.Gang, minMember int) bool {
	return g.Count[model.Succeeded]+g.Count[model.Failed] >= max(minMember, 1)
}

// minimumOf returns the total request of a gang's minimum, without the pods that have succeeded.
func minimumOf(g *model.Gang, minimum resource.Request, members int) resource.Vec {
	var sum resource.Vec
	sum.Add(minimum)
	sum.Add(resource.Request{{Index: resource.Pods, Value: max(int64(members)-minimum.Get(resource.Pods), 0)}})
	if g.Count[model.Succeeded] == 0 {
		return sum
	}
	for _, task := range g.Tasks {
		if task.Status == model.Succeeded {
			sum.Sub(task.Shape.Request)
		}
	}
	return sum
}

// partOf returns the part of a gang, which is empty if the gang does not count.
func (t *tally) partOf(g *model.Gang) *part {
	if p := t.parts[g]; p != nil {
		return p
	}
	if t.original != nil && t.original.parts[g] != nil {
		t.parts[g] = t.copyPart(g)
		return t.parts[g]
	}
	return &part{}
}

// countAdmitted counts a gang that is admitted in this cycle.
func (t *tally) countAdmitted(j *framework.Job) {
	t.changePart(j.Gang, func(p *part) {
		p.admitted, p.floor = true, minimumOf(j.Gang, j.MinResources, j.MinMember)
	})
}

// countPlaced counts a task that is placed in this cycle (sign 1), or whose placement is rolled back (sign -1).
func (t *tally) countPlaced(g *model.Gang, task *model.Task, sign int) {
	t.changePart(g, func(p *part) {
		p.placed += sign
		for i := range p.budgets {
			p.budgets[i].addTask(t.cluster.Resources, task, p.budgets[i].of.usage.Since, int64(sign))
		}
		if sign > 0 {
			p.held.Add(task.Shape.Request)
		} else {
			p.held.Sub(task.Shape.Request)
		}
	})
}

// changePart changes the part of a gang for the rest of this cycle.
func (t *tally) changePart(g *model.Gang, change func(*part)) {
	scopes := t.scopesOf(memberOf(g))
	if len(scopes) == 0 {
		return
	}
	p := t.partOf(g)
	t.addPart(p, -1)
	change(p)
	p.computeClaims(t.cluster.Resources)
	t.addPart(p, 1)
	t.decided[g] = true
}

// addPart adds a part, multiplied by sign, to its scopes.
func (t *tally) addPart(p *part, sign int) {
	for _, s := range p.in {
		t.changed[s] = true
		s.jobs += sign * p.countJobs()
		s.claimed.Add(p.claimed, int64(sign))
		s.held.Add(p.held, int64(sign))
	}
	for i := range p.budgets {
		p.budgets[i].of.addPart(&p.budgets[i], sign)
	}
}

// recordRefusal records the counts at which the scope holds back a gang. It ignores the gang's own changes in this cycle,
// because they may be rolled back. If they are committed, the gang is tried again in the next cycle.
func (s *scope) recordRefusal(names *resource.Names, own *part) {
	if s.refused == nil {
		s.refused = &counts{}
	}
	now := counts{}
	s.claimed.WriteSumsTo(&now.claimed)
	s.held.WriteSumsTo(&now.held)
	r := s.refused
	r.jobs = max(r.jobs, s.jobs-own.countJobs()+own.loaded.jobs)
	r.claimed = maxCounts(r.claimed, now.claimed, own.claimed, own.loaded.claimed)
	r.held = maxCounts(r.held, now.held, own.held, own.loaded.held)
	if s.budget != nil {
		committed, budgeted := s.budget.amountsWithoutOwn(names, own.partOfBudget(s.budget))
		r.committed = maxCounts(r.committed, committed, nil, nil)
		r.budgeted = maxCounts(r.budgeted, budgeted, nil, nil)
	}
}

// maxCounts returns, for each resource, the greater of most and now-less+more.
func maxCounts(most, now, less, more resource.Vec) resource.Vec {
	for i := range now {
		if i == len(most) {
			most = append(most, 0)
		}
		most[i] = max(most[i], now[i]-less.Get(i)+more.Get(i))
	}
	return most
}

// isLessThan reports whether any count of the scope is less than it was.
func (s *scope) isLessThan(names *resource.Names, before *counts) bool {
	if s.jobs < before.jobs {
		return true
	}
	if s.budget != nil && s.budget.hasDecreased(names, before.committed, before.budgeted) {
		return true
	}
	for i := range before.claimed {
		if s.claimed.Get(i) < before.claimed[i] {
			return true
		}
	}
	for i := range before.held {
		if s.held.Get(i) < before.held[i] {
			return true
		}
	}
	return false
}

// isRelaxed reports whether a limit of a gang may permit more than when it held back the gang.
func (t *tally) isRelaxed(g *model.Gang) bool {
	if t.allRelaxed {
		return true
	}
	if len(t.relaxed) == 0 {
		return false
	}
	for _, s := range t.scopesOf(memberOf(g)) {
		if t.relaxed[s] {
			return true
		}
	}
	return false
}
