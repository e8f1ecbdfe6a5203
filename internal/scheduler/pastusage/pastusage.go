// Package pastusage records the past usage of accounts for policies that order gangs by it.
//
//	In:   the gangs and the stored usage of the model; which accounts a policy charges for a gang
//	Out:  the usage of accounts at the time of a cycle; Decisions.Usage
//
// Usage is measured in seconds of the whole cluster, based on the largest fraction of any resource, and decays by half
// in every half-life.
//
// # Invariants
//
//   - Past usage is stored in the model, and each cycle outputs its changes. The same model at the same time
//     therefore leads to the same usage, before and after a restart.
//   - Update processes only changed gangs and accounts. A cycle without changes costs nothing, regardless of the number
//     of gangs.
//   - A policy changes only its own accounts, so that several policies can record usage at the same time.
//
// # Concurrency
//
// Each policy has its own Recorder.
package pastusage

import (
	"math"
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// forgotten is the usage, in seconds of the whole cluster, below which an account without running pods is deleted.
const forgotten = 0.001

// Charging determines the accounts of gangs. The accounts of a gang must depend only on the gang.
type Charging interface {
	// Owner returns the account whose usage determines the order of a gang. It is empty if the gang has no such account.
	Owner(g *model.Gang) model.Account
	// Accounts returns all accounts that are charged for the resources of a gang. They include the gang's owner if it is
	// charged.
	Accounts(g *model.Gang) []model.Account
	// Charges reports whether the usage of the gang is recorded.
	Charges(g *model.Gang) bool
	// Owns reports whether the policy records the usage of an account. Other accounts belong to other policies.
	Owns(a model.Account) bool
}

// Recorder caches the resources that accounts use for the next cycle, so that only changed gangs are processed. A new
// recorder computes the same values.
type Recorder struct {
	charging Charging
	halfLife time.Duration

	cluster *model.Cluster
	now     time.Time
	seen    uint64    // model generation up to which gangs were processed
	usage   uint64    // generation of the stored usage
	totals  []float64 // capacity of the cluster when the rates were computed

	parts    map[*model.Gang]part
	accounts map[model.Account]*account
	// dirty holds the accounts whose entry in Cluster.Usage may be outdated.
	dirty map[model.Account]bool
	// forgetAt is the earliest time at which an account without running pods may be deleted, or the zero time if there
	// is no such account.
	forgetAt time.Time
	// listed holds all accounts, sorted. It is nil if it has not been computed yet.
	listed []model.Account
}

// part holds the resources that a gang contributes to its accounts.
type part struct {
	owner model.Account
	in    []model.Account
	held  resource.Vec
}

// account holds what the gangs of an account use at present.
type account struct {
	held   resource.Balance
	parts  int // number of gangs that use resources of the account
	owners int // number of gangs whose order depends on the account
	rate   float64
}

// NewRecorder returns a recorder for the accounts of a policy.
func NewRecorder(charging Charging, halfLife time.Duration) *Recorder {
	return &Recorder{charging: charging, halfLife: halfLife}
}

// Update updates the recorder from the model and adds the changed usage to the decisions.
func (r *Recorder) Update(s *session.Session) {
	c := s.Cluster
	r.now = s.Now
	if r.cluster != c || !c.GangsSince(r.seen, r.updateGang) {
		r.rebuildFrom(c)
	}
	r.seen = c.Gen()
	if r.usage != c.UsageGen {
		r.usage = c.UsageGen
		for a := range c.Usage {
			if r.charging.Owns(a) {
				r.ensureAccount(a)
			}
		}
		r.markAllDirty()
	}
	if !slices.Equal(r.totals, s.Ledger.Total) {
		r.totals = append(r.totals[:0], s.Ledger.Total...)
		r.markAllDirty()
	}
	if !r.forgetAt.IsZero() && !s.Now.Before(r.forgetAt) {
		r.forgetAt = time.Time{}
		for a, u := range c.Usage {
			if u.Rate == 0 && r.charging.Owns(a) {
				r.dirty[a] = true
			}
		}
	}
	r.recordRates(s)
}

func (r *Recorder) markAllDirty() {
	for a := range r.accounts {
		r.dirty[a] = true
	}
}

// UsageOf returns the usage of an account up to the time of the last update.
func (r *Recorder) UsageOf(a model.Account) float64 {
	used := r.cluster.Usage[a].ValueAtTime(r.now, r.halfLife)
	if used < forgotten && !r.IsRunning(a) {
		return 0
	}
	return used
}

// IsRunning reports whether an account uses resources at present.
func (r *Recorder) IsRunning(a model.Account) bool {
	one := r.accounts[a]
	return one != nil && one.rate > 0
}

// HasUsage reports whether an account has usage or uses resources at present.
func (r *Recorder) HasUsage(a model.Account) bool {
	_, isStored := r.cluster.Usage[a]
	return isStored || r.IsRunning(a)
}

// HasOwner reports whether the order of any gang depends on an account.
func (r *Recorder) HasOwner(a model.Account) bool {
	one := r.accounts[a]
	return one != nil && one.owners > 0
}

// Accounts returns all accounts of the policy in a fixed order. Do not change the result.
func (r *Recorder) Accounts() []model.Account {
	if r.listed == nil {
		r.listed = sortedAccounts(r.accounts)
	}
	return r.listed
}

// rebuildFrom processes all gangs.
func (r *Recorder) rebuildFrom(c *model.Cluster) {
	r.cluster, r.usage, r.totals = c, ^uint64(0), r.totals[:0]
	r.parts, r.accounts, r.dirty = map[*model.Gang]part{}, map[model.Account]*account{}, map[model.Account]bool{}
	r.forgetAt, r.listed = time.Time{}, nil
	for _, g := range c.Gangs {
		r.updateGang(g)
	}
}

// ensureAccount returns an account, creating it if needed.
func (r *Recorder) ensureAccount(a model.Account) *account {
	one := r.accounts[a]
	if one == nil {
		one = &account{}
		r.accounts[a], r.listed = one, nil
	}
	return one
}

// updateGang updates the contribution of a gang that may have changed.
func (r *Recorder) updateGang(g *model.Gang) {
	if old, known := r.parts[g]; known {
		delete(r.parts, g)
		r.countGangPart(&old, -1)
	}
	if !g.Known {
		if g.Queue != nil { // the gang may have been created and deleted between two cycles
			r.markDirty(r.charging.Owner(g))
			for _, a := range r.charging.Accounts(g) {
				r.markDirty(a)
			}
		}
		return
	}
	now := part{owner: r.charging.Owner(g)}
	if g.AllocatedTasks() > 0 && r.charging.Charges(g) {
		now.held = g.Sums.Allocated.Clone()
		now.in = r.charging.Accounts(g)
	}
	r.parts[g] = now
	r.countGangPart(&now, 1)
}

func (r *Recorder) markDirty(a model.Account) {
	if a != (model.Account{}) {
		r.dirty[a] = true
	}
}

// countGangPart adds a gang's part, multiplied by sign, to its accounts.
func (r *Recorder) countGangPart(p *part, sign int) {
	if p.owner != (model.Account{}) {
		r.ensureAccount(p.owner).owners += sign
		r.dirty[p.owner] = true
	}
	for _, a := range p.in {
		one := r.ensureAccount(a)
		one.held.Add(p.held, int64(sign))
		one.parts += sign
		r.dirty[a] = true
	}
}

// recordRates adds the changed rates of dirty accounts to the decisions. Nothing is written between two changes,
// because the usage follows from the rate.
func (r *Recorder) recordRates(s *session.Session) {
	if len(r.dirty) == 0 {
		return
	}
	for _, a := range sortedAccounts(r.dirty) {
		one, before := r.ensureAccount(a), s.Cluster.Usage[a]
		one.rate = r.usageRateOf(one)
		now := before.ValueAtTime(s.Now, r.halfLife)
		switch {
		case one.rate == 0 && now < forgotten && before != (model.Usage{}):
			s.Out.Usage = append(s.Out.Usage, model.UsageEntry{Account: a})
		case before.Rate != one.rate:
			s.Out.Usage = append(s.Out.Usage, model.UsageEntry{Account: a, Usage: model.Usage{Value: now, At: s.Now, Rate: one.rate}})
		default: // the model is up to date
			delete(r.dirty, a)
			r.scheduleExpiry(a, one, before)
		}
	}
}

// scheduleExpiry computes the time when an account without running pods may be deleted, and drops accounts without any
// usage.
func (r *Recorder) scheduleExpiry(a model.Account, one *account, u model.Usage) {
	switch {
	case one.rate > 0:
	case u == (model.Usage{}):
		if one.parts+one.owners == 0 {
			delete(r.accounts, a)
			r.listed = nil
		}
	default:
		const longest = 100 * 365 * 24 * time.Hour
		lasts := min(math.Log2(u.Value/forgotten)*float64(r.halfLife), float64(longest))
		if at := u.At.Add(time.Duration(lasts) - time.Millisecond); r.forgetAt.IsZero() || at.Before(r.forgetAt) {
			r.forgetAt = at
		}
	}
}

// usageRateOf returns the fraction of the cluster that an account uses: the largest fraction of any resource, but at
// most 1.
func (r *Recorder) usageRateOf(one *account) float64 {
	if one.parts == 0 {
		return 0
	}
	var held resource.Vec
	one.held.WriteSumsTo(&held)
	share := 0.0
	for i, x := range held {
		if total := r.totals[i]; i != resource.Pods && x > 0 && total > 0 {
			share = max(share, float64(x)/total)
		}
	}
	return min(share, 1)
}

// sortedAccounts returns the keys of a map in a fixed order.
func sortedAccounts[T any](of map[model.Account]T) []model.Account {
	out := make([]model.Account, 0, len(of))
	for a := range of {
		out = append(out, a)
	}
	slices.SortFunc(out, model.Account.Compare)
	return out
}
