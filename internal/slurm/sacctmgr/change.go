package sacctmgr

import (
	"slices"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
)

// selectsAccount reports whether the selection selects an account. Clusters are not considered.
func (s *Selection) selectsAccount(account *accountv1alpha1.Account) bool {
	hasUser := func(user string) bool { return findUser(account, user) != nil }
	for _, condition := range []struct {
		list []string
		is   func(string) bool
	}{
		{s.Accounts, func(name string) bool { return name == account.Name }},
		{s.Parents, func(name string) bool { return name == parentName(account) }},
		{s.Descriptions, func(text string) bool { return text == account.Spec.Description }},
		{s.Organizations, func(text string) bool { return text == account.Spec.Organization }},
		{s.Users, hasUser},
	} {
		if len(condition.list) > 0 && !slices.ContainsFunc(condition.list, condition.is) {
			return false
		}
	}
	return true
}

// selectAccounts returns the names of the accounts that a selection selects.
func (c *Cluster) selectAccounts(s *Selection) []string {
	return slices.DeleteFunc(c.Accounts.Names(), func(name string) bool { return !s.selectsAccount(c.Accounts.Account(name)) })
}

// selectsUser reports whether a selection selects a user in an account.
func (c *Cluster) selectsUser(s *Selection, account, user string) bool {
	contains := func(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }
	isUser := contains(s.Accounts, account) && contains(s.Users, user)
	return isUser && contains(s.DefaultAccounts, c.Accounts.DefaultAccount(user))
}

// association is a user in an account.
type association struct{ account, user string }

// selectAssociations returns the users in accounts that a selection selects.
func (c *Cluster) selectAssociations(s *Selection) []association {
	var found []association
	for _, account := range c.Accounts.Names() {
		for _, user := range c.Accounts.Account(account).Spec.Users {
			if c.selectsUser(s, account, user.Name) {
				found = append(found, association{account, user.Name})
			}
		}
	}
	return found
}

// modifyAccounts changes the selected accounts.
func (p *planner) modifyAccounts() error {
	r := p.request
	parent := r.findSetting(Parent, Root)
	if parent != Root {
		if err := p.checkAccounts([]string{parent}); err != nil {
			return err
		}
	}
	if err := p.checkAccounts(r.Where.Accounts); err != nil {
		return err
	}
	changesText := slices.ContainsFunc(r.Set, changesRecord)
	changesLimits := slices.ContainsFunc(r.Set, func(s Setting) bool { return !changesRecord(s) })
	var records, associations []string
	for _, name := range p.cluster.selectAccounts(&r.Where) {
		edited := p.editAccount(name)
		if err := p.applyToAccount(edited); err != nil {
			return err
		}
		records = append(records, "  "+name+"\n")
		associations = append(associations, p.accountLine(name, parentName(edited)))
	}
	if changesText {
		p.writeList(" Modified accounts...", records)
	}
	if changesLimits {
		p.writeList(" Modified account associations...", associations)
	}
	return nil
}

// changesRecord reports whether a setting changes the record of an account or a user: a description, an organization or a
// default account. All other settings change associations.
func changesRecord(s Setting) bool {
	return slices.Contains([]Key{Description, Organization, DefaultAccount}, s.Key)
}

// modifyUsers changes the selected users.
func (p *planner) modifyUsers() error {
	r := p.request
	if err := p.checkAccounts(r.Where.Accounts); err != nil {
		return err
	}
	changesLimits := slices.ContainsFunc(r.Set, func(s Setting) bool { return !changesRecord(s) })
	defaultAccount := r.findSetting(DefaultAccount, "")
	if defaultAccount != "" {
		if err := p.checkAccounts([]string{defaultAccount}); err != nil {
			return err
		}
	}
	var users, associations []string
	for _, found := range p.cluster.selectAssociations(&r.Where) {
		if err := p.applyToUser(found.account, findUser(p.editAccount(found.account), found.user)); err != nil {
			return err
		}
		associations = append(associations, p.userLine(found.account, found.user))
		users = appendMissing(users, found.user)
	}
	if defaultAccount != "" {
		slices.Sort(users)
		lines := make([]string, len(users))
		for i, user := range users {
			if err := p.setDefaultAccount(user, defaultAccount); err != nil {
				return err
			}
			lines[i] = "  " + user + "\n"
		}
		p.writeList(" Modified users...", lines)
	}
	if changesLimits {
		p.writeList(" Modified user associations...", associations)
	}
	return nil
}

// deleteAccounts deletes the selected accounts.
func (p *planner) deleteAccounts() error {
	if slices.Contains(p.request.Where.Accounts, Root) {
		return p.checkAccounts([]string{Root})
	}
	var lines []string
	for _, name := range p.cluster.selectAccounts(&p.request.Where) {
		p.removed = append(p.removed, name)
		lines = append(lines, "  "+name+"\n")
	}
	p.writeList(" Deleting accounts...", lines)
	return p.checkDefaults()
}

// deleteUsers removes users from the selected accounts. Without a condition about accounts, it removes them from all
// accounts and from the coordinators.
func (p *planner) deleteUsers() error {
	where := &p.request.Where
	var users, associations []string
	for _, found := range p.cluster.selectAssociations(where) {
		edited := p.editAccount(found.account)
		edited.Spec.Users = slices.DeleteFunc(edited.Spec.Users, func(u accountv1alpha1.AccountUser) bool { return u.Name == found.user })
		associations = append(associations, p.userLine(found.account, found.user))
		users = appendMissing(users, found.user)
	}
	if len(where.Accounts) > 0 {
		p.writeList(" Deleting user associations...", associations)
		return p.checkDefaults()
	}
	for _, account := range p.cluster.Accounts.Names() {
		for _, user := range p.cluster.Accounts.Account(account).Spec.Coordinators {
			isSelected := slices.Contains(users, user) || slices.Contains(where.Users, user)
			if isSelected {
				p.removeCoordinator(account, user)
				users = appendMissing(users, user)
			}
		}
	}
	slices.Sort(users)
	lines := make([]string, len(users))
	for i, user := range users {
		lines[i] = "  " + user + "\n"
	}
	p.writeList(" Deleting users...", lines)
	return p.checkDefaults()
}

func (p *planner) removeCoordinator(account, user string) {
	edited := p.editAccount(account)
	edited.Spec.Coordinators = slices.DeleteFunc(edited.Spec.Coordinators, func(name string) bool { return name == user })
}

// deleteCoordinators removes coordinators from the selected accounts.
func (p *planner) deleteCoordinators() error {
	where := &p.request.Where
	var lines []string
	for _, account := range p.cluster.Accounts.Names() {
		if len(where.Accounts) > 0 && !slices.Contains(where.Accounts, account) {
			continue
		}
		for _, user := range p.cluster.Accounts.Account(account).Spec.Coordinators {
			if len(where.Users) == 0 || slices.Contains(where.Users, user) {
				p.removeCoordinator(account, user)
				lines = append(lines, "  "+user+" of "+account+"\n")
			}
		}
	}
	p.writeList(" Removed Coordinators (sub accounts not listed)...", lines)
	return nil
}
