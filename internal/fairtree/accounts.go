package fairtree

import (
	"cmp"
	"slices"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
)

// rootName is the name of the account above all others, as in Slurm.
const rootName = "root"

// FromAccounts returns the tree of the given accounts with the usage of their users. Usage of users that are not in
// the account counts as other usage of the account. An account whose parent does not exist is not in the tree.
func FromAccounts(accounts *accountv1alpha1.Tree, usage map[model.Party]float64) *Account {
	var outside []model.Party
	for party := range usage {
		if !accounts.HasUser(party.Account, party.User) {
			outside = append(outside, party)
		}
	}
	slices.SortFunc(outside, func(a, b model.Party) int { // floating-point sums depend on the order
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.User, b.User))
	})
	others := map[string]float64{}
	for _, party := range outside {
		others[party.Account] += usage[party]
	}
	root := &Account{Name: rootName, Shares: 1}
	root.addChildren(accounts, "", usage, others)
	return root
}

// addChildren adds the accounts below the named one.
func (a *Account) addChildren(accounts *accountv1alpha1.Tree, name string, usage map[model.Party]float64, others map[string]float64) {
	for _, childName := range accounts.Children(name) {
		spec := &accounts.Account(childName).Spec
		child := &Account{Name: childName, Shares: sharesOf(spec.Shares), OtherUsage: others[childName], Users: make([]User, 0, len(spec.Users))}
		for i := range spec.Users {
			user := &spec.Users[i]
			child.Users = append(child.Users, User{Name: user.Name, Shares: sharesOf(user.Shares), Usage: usage[model.Party{Account: childName, User: user.Name}]})
		}
		child.addChildren(accounts, childName, usage, others)
		a.Accounts = append(a.Accounts, child)
	}
}

// sharesOf returns the configured shares, or the default.
func sharesOf(shares *int32) int64 {
	if shares == nil {
		return 1
	}
	return max(int64(*shares), 0)
}
