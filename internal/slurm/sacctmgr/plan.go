package sacctmgr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/usererror"
)

// Root is the name of the root of the tree of accounts. It always exists, and it is not an Account object.
const Root = "root"

// Cluster describes the cluster to which a request is applied.
type Cluster struct {
	// Name is the name of the cluster. Host is the host of its API server.
	Name, Host string
	// Accounts is the tree of all accounts, with all QOS.
	Accounts *accountv1alpha1.Tree
	// Classes maps the names of the priority classes to their values.
	Classes map[string]int32
	// Site is the site's profile, which names generic resources.
	Site *profile.Profile
}

// Action determines what a Write does with an account.
type Action int

// Values of Action.
const (
	Create Action = iota + 1
	Update
	Remove
)

// Write is a change of an Account object.
type Write struct {
	Action  Action
	Account *accountv1alpha1.Account
	// Before is the version of the account from which Account was computed. It is nil for a new account.
	Before *accountv1alpha1.Account
}

// Plan is the result of a request that changes accounts or QOS.
type Plan struct {
	// Writes lists the changes in the order in which to carry them out.
	Writes []Write
	// QOSWrites lists the changes of QOS.
	QOSWrites []QOSWrite
	// Text describes the changes.
	Text string
	// IsEmpty is true if no object matches the request, or if all objects to add exist already. Text then states this.
	IsEmpty bool
}

// planner collects the changes of a request.
type planner struct {
	request *Request
	cluster *Cluster
	// changed holds the new versions of the accounts by name. removed holds the names of deleted accounts.
	changed map[string]*accountv1alpha1.Account
	removed []string
	// qosWrites holds the changes of QOS.
	qosWrites []QOSWrite
	text      strings.Builder
}

// Compute returns the plan for a request that changes accounts or QOS.
func (r *Request) Compute(cluster *Cluster) (*Plan, error) {
	if err := cluster.checkName(r.Where.Clusters); err != nil {
		return nil, err
	}
	p := &planner{request: r, cluster: cluster, changed: map[string]*accountv1alpha1.Account{}}
	compute := map[Verb]map[Entity]func() error{
		Add:    {Accounts: p.addAccounts, Users: p.addUsers, Coordinators: p.addCoordinators, QOS: p.addQOS},
		Modify: {Accounts: p.modifyAccounts, Users: p.modifyUsers, QOS: p.modifyQOS},
		Delete: {Accounts: p.deleteAccounts, Users: p.deleteUsers, Coordinators: p.deleteCoordinators, QOS: p.deleteQOS},
	}[r.Verb][r.Entity]
	if err := compute(); err != nil {
		return nil, err
	}
	if p.text.Len() == 0 {
		nothing := map[Verb]string{Add: " Nothing new added.\n", Modify: " Nothing modified\n", Delete: " Nothing deleted\n"}[r.Verb]
		return &Plan{Text: nothing, IsEmpty: true}, nil
	}
	writes := p.listWrites()
	if err := p.validateWrites(writes); err != nil {
		return nil, err
	}
	return &Plan{Writes: writes, QOSWrites: p.qosWrites, Text: p.text.String()}, nil
}

// checkName returns an error if clusters contains another cluster than this one.
func (c *Cluster) checkName(clusters []string) error {
	for _, name := range clusters {
		if !strings.EqualFold(name, c.Name) {
			return usererror.Errorf("this cluster is "+c.Name+"; select another one with --context", "The cluster '%s' doesn't exist.", name)
		}
	}
	return nil
}

// editAccount returns the new version of an account, which the caller may change. The account must exist.
func (p *planner) editAccount(name string) *accountv1alpha1.Account {
	if p.changed[name] == nil {
		p.changed[name] = p.cluster.Accounts.Account(name).DeepCopy()
	}
	return p.changed[name]
}

// changedTree returns the tree after the changes.
func (p *planner) changedTree() *accountv1alpha1.Tree {
	var all []*accountv1alpha1.Account
	for _, name := range p.cluster.Accounts.Names() {
		if p.changed[name] == nil && !slices.Contains(p.removed, name) {
			all = append(all, p.cluster.Accounts.Account(name))
		}
	}
	for _, account := range p.changed {
		all = append(all, account)
	}
	return accountv1alpha1.NewTree(all)
}

// listWrites returns the changes in order. New accounts come first, because others may become their children. An account
// loses a user's default before another account gets it. Accounts are removed last, children before their parents.
func (p *planner) listWrites() []Write {
	var created, lost, others, removed []Write
	for name, account := range p.changed {
		old := p.cluster.Accounts.Account(name)
		switch {
		case old == nil:
			created = append(created, Write{Action: Create, Account: account})
		case equality.Semantic.DeepEqual(old.Spec, account.Spec):
		case losesDefault(old, account):
			lost = append(lost, Write{Update, account, old.DeepCopy()})
		default:
			others = append(others, Write{Update, account, old.DeepCopy()})
		}
	}
	for _, name := range p.removed {
		old := p.cluster.Accounts.Account(name)
		removed = append(removed, Write{Remove, old.DeepCopy(), old.DeepCopy()})
	}
	slices.SortFunc(removed, func(a, b Write) int {
		return len(p.cluster.Accounts.Path(b.Account.Name)) - len(p.cluster.Accounts.Path(a.Account.Name))
	})
	for _, list := range [][]Write{created, lost, others} {
		slices.SortFunc(list, func(a, b Write) int { return strings.Compare(a.Account.Name, b.Account.Name) })
	}
	return slices.Concat(created, lost, others, removed)
}

// losesDefault reports whether an account is no longer the default account of one of its users.
func losesDefault(old, account *accountv1alpha1.Account) bool {
	for i := range old.Spec.Users {
		before := &old.Spec.Users[i]
		if after := findUser(account, before.Name); before.Default && (after == nil || !after.Default) {
			return true
		}
	}
	return false
}

// validateWrites returns the errors that the API server would report.
func (p *planner) validateWrites(writes []Write) error {
	after := p.changedTree()
	var errs []error
	for _, w := range writes {
		if w.Action == Remove {
			if err := accountv1alpha1.ValidateDeletion(w.Account.Name, after); err != nil {
				errs = append(errs, usererror.Errorf("delete the accounts below it in the same command, or change their parent", "%v", err))
			}
			continue
		}
		if list := accountv1alpha1.Validate(w.Account, after); len(list) > 0 {
			errs = append(errs, usererror.Errorf(validationHint(list), "account %s: %v", w.Account.Name, list.ToAggregate()))
		}
	}
	return errors.Join(errs...)
}

// validationHint returns the hint for the errors of an account.
func validationHint(list field.ErrorList) string {
	if list[0].Field == field.NewPath("spec", "parent").String() {
		return "choose a parent that is not below this account; sacctmgr show association tree and vcctl account tree show the tree"
	}
	return "correct the value"
}

// checkAccounts returns an error if one of the accounts does not exist.
func (p *planner) checkAccounts(names []string) error {
	var errs []error
	for _, name := range names {
		switch {
		case name == Root:
			errs = append(errs, usererror.Errorf("name another account: the root of the tree has no users and no limits", "account root cannot be changed"))
		case p.cluster.Accounts.Account(name) == nil:
			errs = append(errs, usererror.Errorf("sacctmgr show account lists the accounts", "The account '%s' doesn't exist.", name))
		}
	}
	return errors.Join(errs...)
}

// findUser returns the entry of a user in an account, or nil.
func findUser(account *accountv1alpha1.Account, name string) *accountv1alpha1.AccountUser {
	for i := range account.Spec.Users {
		if account.Spec.Users[i].Name == name {
			return &account.Spec.Users[i]
		}
	}
	return nil
}

// parentName returns the name of the parent of an account, which may be Root.
func parentName(account *accountv1alpha1.Account) string {
	if account.Spec.Parent == "" {
		return Root
	}
	return account.Spec.Parent
}

// accountLine returns the line for an account and its parent.
func (p *planner) accountLine(name, parent string) string {
	return fmt.Sprintf("  C = %-10s A = %s of %s\n", p.cluster.Name, name, parent)
}

// userLine returns the line for a user in an account.
func (p *planner) userLine(account, user string) string {
	return fmt.Sprintf("  C = %-10s A = %-20s U = %-9s\n", p.cluster.Name, account, user)
}

// writeList adds a heading and the lines below it. Names of users may contain any characters.
func (p *planner) writeList(heading string, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.text.WriteString(heading + "\n")
	for _, line := range lines {
		p.text.WriteString(printable.EscapeLine(strings.TrimSuffix(line, "\n")) + "\n")
	}
}
