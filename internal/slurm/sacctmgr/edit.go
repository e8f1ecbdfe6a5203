package sacctmgr

import (
	"fmt"
	"slices"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/usererror"
)

// Editor changes accounts without sacctmgr's language, for commands that have one of their own.
type Editor struct{ planner *planner }

// PlanEdit returns the plan for the changes that edit makes to the accounts. The plan has no text.
func PlanEdit(tree *accountv1alpha1.Tree, edit func(*Editor) error) (*Plan, error) {
	p := &planner{request: &Request{}, cluster: &Cluster{Accounts: tree}, changed: map[string]*accountv1alpha1.Account{}}
	if err := edit(&Editor{p}); err != nil {
		return nil, err
	}
	writes := p.listWrites()
	if err := p.validateWrites(writes); err != nil {
		return nil, err
	}
	return &Plan{Writes: writes, IsEmpty: len(writes) == 0}, nil
}

// Account returns an account, which the caller may change. It returns nil if the account does not exist.
func (e *Editor) Account(name string) *accountv1alpha1.Account {
	if e.planner.changed[name] == nil && e.planner.cluster.Accounts.Account(name) == nil {
		return nil
	}
	return e.planner.editAccount(name)
}

// Create adds a new account.
func (e *Editor) Create(account *accountv1alpha1.Account) { e.planner.changed[account.Name] = account }

// Remove deletes an existing account.
func (e *Editor) Remove(name string) {
	if !slices.Contains(e.planner.removed, name) {
		e.planner.removed = append(e.planner.removed, name)
	}
}

// AddUser returns the entry of a user in an existing account. If it adds the user, and the user has no default account, the
// account becomes the default account.
func (e *Editor) AddUser(account, user string) *accountv1alpha1.AccountUser {
	edited := e.planner.editAccount(account)
	if entry := findUser(edited, user); entry != nil {
		return entry
	}
	isFirst := e.planner.changedTree().DefaultAccount(user) == ""
	edited.Spec.Users = append(edited.Spec.Users, accountv1alpha1.AccountUser{Name: user, Default: isFirst})
	return findUser(edited, user)
}

// RemoveUser removes a user from an account, and reports whether the account contained the user.
func (e *Editor) RemoveUser(account, user string) bool {
	edited := e.planner.editAccount(account)
	before := len(edited.Spec.Users)
	edited.Spec.Users = slices.DeleteFunc(edited.Spec.Users, func(u accountv1alpha1.AccountUser) bool { return u.Name == user })
	return len(edited.Spec.Users) < before
}

// SetDefaultAccount makes an account, which contains the user, the only default account of the user.
func (e *Editor) SetDefaultAccount(user, account string) error {
	return e.planner.setDefaultAccount(user, account)
}

// CheckDefaults returns an error for each user who would still have accounts, but no longer a default account. change
// returns the command that makes another account the default account.
func (e *Editor) CheckDefaults(change func(user, account string) string) []error {
	var errs []error
	for _, lost := range e.planner.lostDefaults() {
		errs = append(errs, usererror.Errorf("choose another default account: "+change(lost.user, lost.other),
			"%s", fmt.Sprintf("account %s is the default account of user %s, who has other accounts", lost.account, lost.user)))
	}
	return errs
}
