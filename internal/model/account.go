package model

import (
	"maps"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
)

// Party is a user in an account. The limits of accounts apply to parties. If User is "", the user is unknown.
type Party struct{ Account, User string }

// Party returns the user and the account of the gang. Account is "" if the gang names no account.
func (g *Gang) Party() Party { return Party{Account: g.Account, User: g.User} }

// AccountSet adds or replaces an account. The object must not be changed afterwards.
type AccountSet struct{ *accountv1alpha1.Account }

// AccountGone removes an account.
type AccountGone struct{ Name string }

// QOSSet adds or replaces a QOS. The object must not be changed afterwards.
type QOSSet struct{ *accountv1alpha1.QOS }

// QOSGone removes a QOS.
type QOSGone struct{ Name string }

// QOSFrom converts a QOS. The object must not be changed afterwards.
func QOSFrom(q *accountv1alpha1.QOS) QOSSet { return QOSSet{q} }

func (d QOSSet) apply(c *Cluster) {
	if old := c.qos[d.Name]; old != nil && apiequality.Semantic.DeepEqual(&old.Spec, &d.Spec) {
		return // only metadata changed
	}
	c.qos[d.Name] = d.QOS
	c.accountsChanged = true
}

func (d QOSGone) apply(c *Cluster) {
	if _, known := c.qos[d.Name]; known {
		delete(c.qos, d.Name)
		c.accountsChanged = true
	}
}

// AccountFrom converts an account. The object must not be changed afterwards.
func AccountFrom(a *accountv1alpha1.Account) AccountSet { return AccountSet{a} }

func (d AccountSet) apply(c *Cluster) {
	if old := c.accounts[d.Name]; old != nil && apiequality.Semantic.DeepEqual(&old.Spec, &d.Spec) {
		return // only metadata changed
	}
	c.accounts[d.Name] = d.Account
	c.accountsChanged = true
}

func (d AccountGone) apply(c *Cluster) {
	if _, known := c.accounts[d.Name]; known {
		delete(c.accounts, d.Name)
		c.accountsChanged = true
	}
}

// refreshAccounts builds the tree of accounts again if accounts or QOS have changed.
func (c *Cluster) refreshAccounts() {
	if !c.accountsChanged {
		return
	}
	c.accountsChanged = false
	accounts := make([]*accountv1alpha1.Account, 0, len(c.accounts))
	for _, a := range c.accounts {
		accounts = append(accounts, a)
	}
	c.Accounts = accountv1alpha1.NewTree(accounts, slices.Collect(maps.Values(c.qos))...)
	c.AccountGen = c.nextGeneration()
	c.budgeted = slices.ContainsFunc(accounts, func(a *accountv1alpha1.Account) bool { return a.Spec.Limits != nil && a.Spec.Limits.Budget != nil })
}
