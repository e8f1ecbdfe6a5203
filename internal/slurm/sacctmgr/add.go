package sacctmgr

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/usererror"
)

// findSetting returns the text of a setting, or another text if it is not given.
func (r *Request) findSetting(key Key, otherwise string) string {
	for i := range r.Set {
		if r.Set[i].Key == key {
			return r.Set[i].Text
		}
	}
	return otherwise
}

// addAccounts creates the accounts that do not exist.
func (p *planner) addAccounts() error {
	r := p.request
	parent := r.findSetting(Parent, Root)
	if parent != Root {
		if err := p.checkAccounts([]string{parent}); err != nil {
			return err
		}
	}
	var names, associations []string
	for _, name := range r.Where.Accounts {
		isThere := name == Root || p.cluster.Accounts.Account(name) != nil
		if isThere {
			continue
		}
		account := &accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := p.applyToAccount(account); err != nil {
			return err
		}
		p.changed[name] = account
		names = append(names, "  "+name+"\n")
		associations = append(associations, fmt.Sprintf("  A = %-10s C = %-10s\n", name, p.cluster.Name))
	}
	if len(names) == 0 {
		return nil
	}
	p.writeList(" Adding Account(s)", names)
	p.writeList(" Settings", []string{
		"  Description     = " + r.findSetting(Description, "Account Name") + "\n",
		"  Organization    = " + r.findSetting(Organization, "Parent/Account Name") + "\n",
	})
	p.writeList(" Associations", associations)
	p.writeList(" Settings", settingLines(r.Entity, r.Set))
	return nil
}

// applyToAccount applies the settings to an account. As in Slurm, the description of a new account defaults to its name, and
// its organization to the name of its parent or, without a parent, to its own name.
func (p *planner) applyToAccount(account *accountv1alpha1.Account) error {
	r := p.request
	isNew := p.cluster.Accounts.Account(account.Name) == nil
	if isNew {
		account.Spec.Description = account.Name
		account.Spec.Organization = account.Name
		if parent := p.cluster.Accounts.Account(r.findSetting(Parent, Root)); parent != nil {
			account.Spec.Organization = parent.Name
		}
	}
	for i := range r.Set {
		if err := p.applySettingToAccount(account, &r.Set[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) applySettingToAccount(account *accountv1alpha1.Account, s *Setting) error {
	spec := &account.Spec
	switch s.Key {
	case Parent:
		if spec.Parent = s.Text; s.Text == Root {
			spec.Parent = ""
		}
		return nil
	case Description:
		spec.Description = s.Text
		return nil
	case Organization:
		spec.Organization = s.Text
		return nil
	case Fairshare:
		spec.Shares = changeNumber(s.Number)
		return nil
	case Queues:
		var err error
		spec.Queues, err = changeList("queues", spec.Queues, s)
		return err
	case Namespaces:
		var err error
		spec.Namespaces, err = changeList("namespaces", spec.Namespaces, s)
		return err
	}
	if isQOS, err := p.applyPermittedQOS(&spec.PermittedQOS, account.Name, "", s); isQOS {
		return err
	}
	limits, isLimit, err := changeAccountLimits(spec.Limits, s, p.cluster.Site)
	if isLimit {
		spec.Limits = limits
		return err
	}
	spec.UserLimits, _, err = changeUserLimits(spec.UserLimits, s, p.cluster.Site)
	return err
}

// changeList returns a list of permitted names after a setting. It returns an error if the setting removes the last name,
// because an empty list permits all.
func changeList(key string, old []string, s *Setting) ([]string, error) {
	switch s.Op {
	case Include:
		return appendMissing(slices.Clone(old), s.Names...), nil
	case Exclude:
		left := slices.DeleteFunc(slices.Clone(old), func(name string) bool { return slices.Contains(s.Names, name) })
		if len(old) > 0 && len(left) == 0 {
			return nil, usererror.Errorf(fmt.Sprintf("to permit all %[1]s, use %[1]s=", key), "%s-=: without any of its %[1]s, the account would permit all", key)
		}
		return left, nil
	}
	return appendMissing(nil, s.Names...), nil
}

func appendMissing(list []string, names ...string) []string {
	for _, name := range names {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// addUsers adds the users to the accounts that do not contain them yet.
func (p *planner) addUsers() error {
	r := p.request
	wanted := r.findSetting(DefaultAccount, "")
	accounts := r.Where.Accounts
	if len(accounts) == 0 && wanted != "" {
		accounts = []string{wanted}
	}
	if len(accounts) == 0 {
		return usererror.Errorf("for example: account=physics; sacctmgr show account lists the accounts", "specify the account to which the users are added")
	}
	if err := p.checkAccounts(accounts); err != nil {
		return err
	}
	var names, associations []string
	for _, user := range r.Where.Users {
		isNew := !p.cluster.hasUser(user)
		added, err := p.addUser(user, accounts, wanted)
		if err != nil {
			return err
		}
		if isNew {
			names = append(names, "  "+user+"\n")
		}
		associations = append(associations, added...)
	}
	if len(associations) == 0 {
		return nil
	}
	p.writeList(" Adding User(s)", names)
	if len(names) > 0 || wanted != "" {
		p.writeList(" Settings =", []string{"  Default Account = " + cmp.Or(wanted, accounts[0]) + "\n"})
	}
	p.writeList(" Associations =", associations)
	p.writeList(" Non Default Settings", settingLines(r.Entity, r.Set))
	return nil
}

// addUser adds a user to the accounts that do not contain the user yet, and returns the lines of the new associations.
// wanted is the name of the new default account. If it is empty, a user without a default account gets the first account.
func (p *planner) addUser(user string, accounts []string, wanted string) (lines []string, err error) {
	for _, account := range accounts {
		if p.cluster.Accounts.HasUser(account, user) {
			continue
		}
		entry := accountv1alpha1.AccountUser{Name: user}
		if err := p.applyToUser(account, &entry); err != nil {
			return nil, err
		}
		edited := p.editAccount(account)
		edited.Spec.Users = append(edited.Spec.Users, entry)
		lines = append(lines, fmt.Sprintf("  U = %-9s A = %-10s C = %-10s\n", user, account, p.cluster.Name))
	}
	if hasDefault := p.cluster.Accounts.DefaultAccount(user) != ""; !hasDefault {
		wanted = cmp.Or(wanted, accounts[0])
	}
	if len(lines) == 0 || wanted == "" {
		return lines, nil
	}
	return lines, p.setDefaultAccount(user, wanted)
}

// hasUser reports whether the user is a user or a coordinator of any account.
func (c *Cluster) hasUser(user string) bool {
	return slices.ContainsFunc(c.Accounts.Names(), func(name string) bool {
		return c.Accounts.HasUser(name, user) || slices.Contains(c.Accounts.Account(name).Spec.Coordinators, user)
	})
}

// applyToUser applies the settings, except for the default account, to the entry of a user in an account.
func (p *planner) applyToUser(account string, user *accountv1alpha1.AccountUser) error {
	for i := range p.request.Set {
		s := p.request.Set[i]
		switch s.Key {
		case DefaultAccount:
			continue
		case Fairshare:
			user.Shares = changeNumber(s.Number)
			continue
		case GrpTRES: // an association contains the jobs of one user only
			s.Key = MaxTRESPerUser
		}
		if isQOS, err := p.applyPermittedQOS(&user.PermittedQOS, account, user.Name, &s); isQOS {
			if err != nil {
				return err
			}
			continue
		}
		limits, _, err := changeUserLimits(user.Limits, &s, p.cluster.Site)
		if err != nil {
			return err
		}
		user.Limits = limits
	}
	return nil
}

// setDefaultAccount makes an account the only default account of a user. The user must be in the account.
func (p *planner) setDefaultAccount(user, name string) error {
	after := p.changedTree()
	if !after.HasUser(name, user) {
		return usererror.Errorf("add the user first: sacctmgr add user "+user+" account="+name, "account %s cannot be the default account of user %s, who is not in it", name, user)
	}
	for _, other := range after.Names() {
		entry := findUser(after.Account(other), user)
		if entry != nil && entry.Default != (other == name) {
			findUser(p.editAccount(other), user).Default = other == name
		}
	}
	return nil
}

// addCoordinators makes users coordinators of accounts.
func (p *planner) addCoordinators() error {
	where := &p.request.Where
	if err := p.checkAccounts(where.Accounts); err != nil {
		return err
	}
	var users, accounts []string
	for _, account := range where.Accounts {
		old := p.cluster.Accounts.Account(account).Spec.Coordinators
		changed := appendMissing(slices.Clone(old), where.Users...)
		if len(changed) == len(old) {
			continue
		}
		p.editAccount(account).Spec.Coordinators = changed
		accounts = append(accounts, "  "+account+"\n")
	}
	if len(accounts) == 0 {
		return nil
	}
	for _, user := range where.Users {
		users = append(users, "  "+user+"\n")
	}
	p.writeList(" Adding Coordinator User(s)", users)
	p.writeList(" To Account(s) and all sub-accounts", accounts)
	return nil
}

// checkDefaults returns an error if a user would still have accounts, but no longer a default account.
func (p *planner) checkDefaults() error {
	var errs []error
	for _, lost := range p.lostDefaults() {
		errs = append(errs, usererror.Errorf("sacctmgr modify user "+lost.user+" set defaultaccount="+lost.other,
			"You can not remove the default account of a user: %s is the default account of user %s", lost.account, lost.user))
	}
	return errors.Join(errs...)
}

// lostDefault is a user who would have no default account. account was the default, and other is another account of the
// user.
type lostDefault struct{ user, account, other string }

// lostDefaults returns the users who would still have accounts, but no longer a default account.
func (p *planner) lostDefaults() []lostDefault {
	after := p.changedTree()
	var all []lostDefault
	for _, name := range p.cluster.Accounts.Names() {
		for _, user := range p.cluster.Accounts.Account(name).Spec.Users {
			isLost := p.cluster.Accounts.DefaultAccount(user.Name) == name && after.DefaultAccount(user.Name) == ""
			if !isLost {
				continue
			}
			if other := findAccountOf(after, user.Name); other != "" {
				all = append(all, lostDefault{user.Name, name, other})
			}
		}
	}
	return all
}

// findAccountOf returns the first account of a user, or "".
func findAccountOf(tree *accountv1alpha1.Tree, user string) string {
	for _, name := range tree.Names() {
		if tree.HasUser(name, user) {
			return name
		}
	}
	return ""
}
