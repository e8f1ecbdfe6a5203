package fairshare

import (
	"cmp"
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// forgotten is what a use may have come down to, in seconds of the cluster, and
// be forgotten when nothing is held.
const forgotten = 0.001

// book is what accounts have used, in one cycle.
type book struct {
	s *session.Session
	p *Policy
	// now is each account's use up to this cycle.
	now map[model.Account]float64
	// queues are the sums of the accounts of each queue.
	queues map[string]total
	// reckoned are the points of gangs.
	reckoned map[*session.Job]float64
}

// total is what the accounts of a queue used together, and how many there are.
type total struct {
	used     float64
	accounts int
}

func ofQueue(queue string) model.Account { return model.Account{Queue: queue} }

func inNamespace(j *session.Job) model.Account {
	return model.Account{Queue: j.In.Name, Namespace: j.Namespace}
}

// accountOf is whose use counts for a gang.
func accountOf(j *session.Job) model.Account { return owner(j.Gang) }

func owner(g *model.Gang) model.Account {
	if g.User != "" {
		return model.Account{Queue: g.Queue.Name, User: g.User}
	}
	return model.Account{Queue: g.Queue.Name, Namespace: g.Namespace}
}

func (b *book) used(a model.Account) float64 { return b.now[a] }

// take finds what accounts hold now, and says what of that differs from before.
// Between two changes nothing needs to be said: use follows from the rate.
func (b *book) take() {
	rates := b.rates()
	b.now = make(map[model.Account]float64, len(rates)+len(b.s.Cluster.Usage))
	b.queues, b.reckoned = map[string]total{}, map[*session.Job]float64{}
	owners := b.owners()
	for a, u := range b.s.Cluster.Usage {
		b.now[a] = u.Now(b.s.Now, b.p.halfLife)
	}
	for a := range rates {
		b.now[a] += 0
	}
	for _, a := range sorted(b.now) { // sums of fractions depend on their order
		before, rate := b.s.Cluster.Usage[a], rates[a]
		switch {
		case rate == 0 && b.now[a] < forgotten && before != (model.Usage{}):
			b.s.Out.Usage = append(b.s.Out.Usage, model.UsageEntry{Account: a})
			b.now[a] = 0
		case before.Rate != rate:
			b.s.Out.Usage = append(b.s.Out.Usage, model.UsageEntry{Account: a, Usage: model.Usage{Value: b.now[a], At: b.s.Now, Rate: rate}})
		}
		if owners[a] || a.User != "" {
			t := b.queues[a.Queue]
			b.queues[a.Queue] = total{t.used + b.now[a], t.accounts + 1}
		}
	}
}

// sorted are the accounts in a fixed order.
func sorted(of map[model.Account]float64) []model.Account {
	out := make([]model.Account, 0, len(of))
	for a := range of {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b model.Account) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.User, b.User))
	})
	return out
}

// owners are the accounts that gangs now count for.
func (b *book) owners() map[model.Account]bool {
	owners := map[model.Account]bool{}
	for _, g := range b.s.Cluster.Gangs {
		if g.Known {
			owners[owner(g)] = true
		}
	}
	return owners
}

// rates are the parts of the cluster that accounts hold: a queue's, a namespace's
// in it, a user's in it.
func (b *book) rates() map[model.Account]float64 {
	held := map[model.Account]model.Vec{}
	add := func(a model.Account, v model.Vec) {
		sum := held[a]
		for len(sum) < len(v) {
			sum = append(sum, 0)
		}
		for i, x := range v {
			sum[i] = min(sum[i]+x, model.MaxSum)
		}
		held[a] = sum
	}
	for _, g := range b.s.Cluster.Gangs {
		if !g.Known || g.AllocatedTasks() == 0 || !b.p.meant(g.Queue.Name) {
			continue
		}
		add(ofQueue(g.Queue.Name), g.Sums.Allocated)
		add(model.Account{Queue: g.Queue.Name, Namespace: g.Namespace}, g.Sums.Allocated)
		if g.User != "" {
			add(model.Account{Queue: g.Queue.Name, User: g.User}, g.Sums.Allocated)
		}
	}
	rates := make(map[model.Account]float64, len(held))
	for a, v := range held {
		if rate := b.dominant(v); rate > 0 {
			rates[a] = rate
		}
	}
	return rates
}

// dominant is the greatest part of the cluster that amounts are, at most all of it.
func (b *book) dominant(v model.Vec) float64 {
	share := 0.0
	for i, x := range v {
		if total := b.s.Ledger.Total[i]; i != model.Pods && x > 0 && total > 0 {
			share = max(share, float64(x)/total)
		}
	}
	return min(share, 1)
}
