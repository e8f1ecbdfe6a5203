// Package fairtree orders gangs by Slurm's algorithm Fair Tree: gangs whose user has the highest FairShare come first.
//
//	In:   the tree of accounts with shares; the usage of users in accounts, and its half-life; account and user of a gang
//	Out:  rule JobOrder; Decisions.Usage
//
// Package internal/fairtree explains the algorithm. A gang belongs to the account in its label vc-batch.dev/account and
// to the user in its annotation vc-batch.dev/user. The usage of a user in an account is the sum over all queues. Gangs
// without an account, and gangs of a user who is not in the account, come last.
//
// # Invariants
//
//   - Past usage is stored in the model (package pastusage). The same model at the same time therefore leads to the same
//     order, before and after a restart.
//   - The tree is computed only in cycles in which two gangs are compared.
//
// # Concurrency
//
// Each engine has its own Policy.
package fairtree

import (
	"cmp"
	"time"

	"github.com/vc-batch/vc/internal/fairtree"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/pastusage"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const halfLife = "fairtree.halfLife"

// defaultHalfLife is the half-life of past usage, as in Slurm.
const defaultHalfLife = 7 * 24 * time.Hour

// Policy implements the fairtree policy.
type Policy struct {
	conf     config.Plugin
	recorder *pastusage.Recorder
}

// New returns the policy.
func New(conf config.Plugin, warn func(string)) *Policy {
	return &Policy{conf: conf, recorder: pastusage.NewRecorder(charging{}, HalfLife(conf.Arguments, warn))}
}

// HalfLife returns the half-life of past usage in the arguments of the policy.
func HalfLife(a config.Arguments, warn func(string)) time.Duration {
	return a.Duration(halfLife, defaultHalfLife, warn)
}

// Name returns "fairtree".
func (*Policy) Name() string { return "fairtree" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return config.Reads{Switches: []string{"enableJobOrder"}, Arguments: []string{halfLife}}
}

// Open updates the usage of the users and registers the rule.
func (p *Policy) Open(s *session.Session) {
	p.recorder.Update(s)
	s.Rules.OrderMoves = true
	if p.conf.Enabled("enableJobOrder") {
		order := &order{recorder: p.recorder, cluster: s.Cluster}
		s.Rules.JobOrder = append(s.Rules.JobOrder, order.compareJobs)
	}
}

// charging charges the resources of a gang to its user in its account.
type charging struct{}

// Owner returns the user of a gang in its account.
func (charging) Owner(g *model.Gang) model.Account {
	if g.Account == "" {
		return model.Account{}
	}
	return model.Account{Account: g.Account, User: g.User}
}

// Accounts returns the user of a gang in its account.
func (c charging) Accounts(g *model.Gang) []model.Account {
	if g.Account == "" {
		return nil
	}
	return []model.Account{c.Owner(g)}
}

// Charges returns true: gangs are charged in all queues.
func (charging) Charges(*model.Gang) bool { return true }

// Owns reports whether an account is a user in an account of the tree.
func (charging) Owns(a model.Account) bool { return a.Account != "" }

// order compares gangs during a cycle.
type order struct {
	recorder *pastusage.Recorder
	cluster  *model.Cluster
	// shares holds the FairShare of each user. It is nil if it has not been computed yet.
	shares map[model.Party]float64
}

// compareJobs orders two gangs by descending FairShare.
func (o *order) compareJobs(x, y *framework.Job) int {
	return cmp.Compare(o.fairShareOf(y.Party()), o.fairShareOf(x.Party()))
}

// fairShareOf returns the FairShare of a user, or 0 if the user is not in the tree.
func (o *order) fairShareOf(p model.Party) float64 {
	if o.shares == nil {
		o.computeShares()
	}
	return o.shares[p]
}

func (o *order) computeShares() {
	usage := map[model.Party]float64{}
	for _, a := range o.recorder.Accounts() {
		usage[model.Party{Account: a.Account, User: a.User}] = o.recorder.UsageOf(a)
	}
	o.shares = map[model.Party]float64{}
	for _, a := range fairtree.Compute(fairtree.FromAccounts(o.cluster.Accounts, usage)) {
		if a.User != "" {
			o.shares[model.Party{Account: a.Account, User: a.User}] = a.FairShare
		}
	}
}
