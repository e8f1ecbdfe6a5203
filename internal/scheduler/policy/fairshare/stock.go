package fairshare

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

// stock caches the resources that accounts use, from cycle to cycle, so that only changed gangs must be processed. A
// new stock computes the same values.
type stock struct {
	p       *Policy
	cluster *model.Cluster
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

// account is the account of a whole queue, of a namespace in a queue, or of a user in a queue.
type account struct {
	held   resource.Balance
	parts  int // number of gangs that use resources of the account
	owners int // number of gangs whose order depends on the account
	rate   float64
}

// update updates the stock from the model and adds the changed usage to the decisions.
func (k *stock) update(s *session.Session) {
	c := s.Cluster
	if k.cluster != c || !c.GangsSince(k.seen, k.updateGang) {
		k.rebuildFrom(c)
	}
	k.seen = c.Gen()
	if k.usage != c.UsageGen {
		k.usage = c.UsageGen
		for a := range c.Usage {
			k.ensureAccount(a)
			k.dirty[a] = true
		}
		for a := range k.accounts {
			k.dirty[a] = true
		}
	}
	if !slices.Equal(k.totals, s.Ledger.Total) {
		k.totals = append(k.totals[:0], s.Ledger.Total...)
		for a := range k.accounts {
			k.dirty[a] = true
		}
	}
	if !k.forgetAt.IsZero() && !s.Now.Before(k.forgetAt) {
		k.forgetAt = time.Time{}
		for a, u := range c.Usage {
			if u.Rate == 0 {
				k.dirty[a] = true
			}
		}
	}
	k.recordRates(s)
}

// rebuildFrom rebuilds the stock from all gangs.
func (k *stock) rebuildFrom(c *model.Cluster) {
	k.cluster, k.usage, k.totals = c, ^uint64(0), k.totals[:0]
	k.parts, k.accounts, k.dirty = map[*model.Gang]part{}, map[model.Account]*account{}, map[model.Account]bool{}
	k.forgetAt, k.listed = time.Time{}, nil
	for _, g := range c.Gangs {
		k.updateGang(g)
	}
}

// ensureAccount returns an account, creating it if needed.
func (k *stock) ensureAccount(a model.Account) *account {
	one := k.accounts[a]
	if one == nil {
		one = &account{}
		k.accounts[a], k.listed = one, nil
	}
	return one
}

// updateGang updates the contribution of a gang that may have changed.
func (k *stock) updateGang(g *model.Gang) {
	if old, known := k.parts[g]; known {
		delete(k.parts, g)
		k.countGangPart(&old, -1)
	}
	if !g.Known {
		if g.Queue != nil { // the gang may have been created and deleted between two cycles
			k.dirty[ownerAccount(g, g.Queue.Name)], k.dirty[queueAccount(g.Queue.Name)] = true, true
			k.dirty[model.Account{Queue: g.Queue.Name, Namespace: g.Namespace}] = true
		}
		return
	}
	now := part{owner: ownerAccount(g, g.Queue.Name)}
	if g.AllocatedTasks() > 0 && k.p.ordersQueue(g.Queue.Name) {
		now.held = g.Sums.Allocated.Clone()
		now.in = append(now.in, queueAccount(g.Queue.Name), model.Account{Queue: g.Queue.Name, Namespace: g.Namespace})
		if g.User != "" {
			now.in = append(now.in, now.owner)
		}
	}
	k.parts[g] = now
	k.countGangPart(&now, 1)
}

// countGangPart adds a gang's part, multiplied by sign, to its accounts.
func (k *stock) countGangPart(p *part, sign int) {
	k.ensureAccount(p.owner).owners += sign
	k.dirty[p.owner] = true
	for _, a := range p.in {
		one := k.ensureAccount(a)
		one.held.Add(p.held, int64(sign))
		one.parts += sign
		k.dirty[a] = true
	}
}

// recordRates adds the changed rates of dirty accounts to the decisions. Nothing is written between two changes,
// because the usage follows from the rate.
func (k *stock) recordRates(s *session.Session) {
	if len(k.dirty) == 0 {
		return
	}
	for _, a := range sortedAccounts(k.dirty) {
		one, before := k.ensureAccount(a), s.Cluster.Usage[a]
		one.rate = k.usageRateOf(one)
		now := before.ValueAtTime(s.Now, k.p.halfLife)
		switch {
		case one.rate == 0 && now < forgotten && before != (model.Usage{}):
			s.Out.Usage = append(s.Out.Usage, model.UsageEntry{Account: a})
		case before.Rate != one.rate:
			s.Out.Usage = append(s.Out.Usage, model.UsageEntry{Account: a, Usage: model.Usage{Value: now, At: s.Now, Rate: one.rate}})
		default: // the model is up to date
			delete(k.dirty, a)
			k.scheduleExpiry(a, one, before)
		}
	}
}

// scheduleExpiry computes the time when an account without running pods may be deleted, and drops accounts without any
// usage.
func (k *stock) scheduleExpiry(a model.Account, one *account, u model.Usage) {
	switch {
	case one.rate > 0:
	case u == (model.Usage{}):
		if one.parts+one.owners == 0 {
			delete(k.accounts, a)
			k.listed = nil
		}
	default:
		const longest = 100 * 365 * 24 * time.Hour
		lasts := min(math.Log2(u.Value/forgotten)*float64(k.p.halfLife), float64(longest))
		if at := u.At.Add(time.Duration(lasts) - time.Millisecond); k.forgetAt.IsZero() || at.Before(k.forgetAt) {
			k.forgetAt = at
		}
	}
}

// usageRateOf returns the fraction of the cluster that an account uses: the largest fraction of any resource, but at
// most 1.
func (k *stock) usageRateOf(one *account) float64 {
	if one.parts == 0 {
		return 0
	}
	var held resource.Vec
	one.held.WriteSumsTo(&held)
	share := 0.0
	for i, x := range held {
		if total := k.totals[i]; i != resource.Pods && x > 0 && total > 0 {
			share = max(share, float64(x)/total)
		}
	}
	return min(share, 1)
}

// listAccounts returns all accounts, sorted.
func (k *stock) listAccounts() []model.Account {
	if k.listed == nil {
		k.listed = sortedAccounts(k.accounts)
	}
	return k.listed
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
