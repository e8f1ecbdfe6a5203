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

// Owner returns the account whose usage determines the order of a gang.
func (*Policy) Owner(g *model.Gang) model.Account { return ownerAccount(g, g.Queue.Name) }

// Accounts returns the accounts of a gang's queue, of its namespace and of its user.
func (p *Policy) Accounts(g *model.Gang) []model.Account {
	accounts := []model.Account{queueAccount(g.Queue.Name), {Queue: g.Queue.Name, Namespace: g.Namespace}}
	if g.User != "" {
		accounts = append(accounts, p.Owner(g))
	}
	return accounts
}

// Charges reports whether the policy orders the gangs of the gang's queue.
func (p *Policy) Charges(g *model.Gang) bool { return p.ordersQueue(g.Queue.Name) }

// Owns reports whether an account belongs to a queue.
func (*Policy) Owns(a model.Account) bool { return a.Queue != "" }

// usageOfAccount returns the usage of an account up to the time of this cycle.
func (u *accountUsage) usageOfAccount(a model.Account) float64 { return u.p.recorder.UsageOf(a) }

// queueTotal returns the total usage of a queue's accounts.
func (u *accountUsage) queueTotal(queue string) total {
	if u.queues == nil {
		u.queues = map[string]total{}
		for _, a := range u.p.recorder.Accounts() { // floating-point sums depend on the order
			decidesOrder := a.User != "" || u.p.recorder.HasOwner(a)
			if !decidesOrder || !u.p.recorder.HasUsage(a) {
				continue
			}
			t := u.queues[a.Queue]
			u.queues[a.Queue] = total{t.used + u.usageOfAccount(a), t.accounts + 1}
		}
	}
	return u.queues[queue]
}
