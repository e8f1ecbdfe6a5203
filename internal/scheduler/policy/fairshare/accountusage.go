package fairshare

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// accountUsage provides the past usage of accounts during a cycle. The usage is computed when it is first needed.
type accountUsage struct {
	s *session.Session
	p *Policy
	// queues holds the total usage of each queue's accounts. It is nil if it has not been computed yet.
	queues map[string]total
	// reckoned caches the points of gangs.
	reckoned map[*framework.Job]float64
}

// total holds the total usage of a queue's accounts and the number of these accounts.
type total struct {
	used     float64
	accounts int
}

func queueAccount(queue string) model.Account { return model.Account{Queue: queue} }

func namespaceAccount(j *framework.Job) model.Account {
	return model.Account{Queue: j.In.Name, Namespace: j.Namespace}
}

// orderingAccount returns the account whose usage determines the order of a gang.
func orderingAccount(j *framework.Job) model.Account { return ownerAccount(j.Gang, j.In.Name) }

// ownerAccount returns the account of a gang's user or, if the user is unknown, of its namespace in a queue.
func ownerAccount(g *model.Gang, queue string) model.Account {
	if g.User != "" {
		return model.Account{Queue: queue, User: g.User}
	}
	return model.Account{Queue: queue, Namespace: g.Namespace}
}

// usageOfAccount returns the usage of an account up to the time of this cycle.
func (u *accountUsage) usageOfAccount(a model.Account) float64 {
	used := u.s.Cluster.Usage[a].ValueAtTime(u.s.Now, u.p.halfLife)
	if one := u.p.stock.accounts[a]; used < forgotten && (one == nil || one.rate == 0) {
		return 0
	}
	return used
}

// queueTotal returns the total usage of a queue's accounts.
func (u *accountUsage) queueTotal(queue string) total {
	if u.queues == nil {
		u.queues = map[string]total{}
		for _, a := range u.p.stock.listAccounts() { // floating-point sums depend on the order
			one := u.p.stock.accounts[a]
			_, hasUsage := u.s.Cluster.Usage[a]
			isUnused := !hasUsage && one.rate == 0
			if isUnused || (one.owners == 0 && a.User == "") {
				continue
			}
			t := u.queues[a.Queue]
			u.queues[a.Queue] = total{t.used + u.usageOfAccount(a), t.accounts + 1}
		}
	}
	return u.queues[queue]
}
