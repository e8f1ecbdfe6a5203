package v1alpha1

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Tree is the tree of all accounts, together with all QOS. It is immutable after NewTree, so it can be shared by goroutines,
// and it does not change these objects.
//
// +kubebuilder:object:generate=false
type Tree struct {
	accounts map[string]*Account
	children map[string][]string // names of the accounts below an account, sorted; the key of the root is ""
	defaults map[string]string   // the default account of each user
	users    map[association]*AccountUser
	qos      map[string]*QOS
}

// association is a user in an account.
type association struct{ account, user string }

// NewTree returns the tree of the given accounts, with the given QOS. If several accounts are the default of one user,
// the first by name counts.
func NewTree(accounts []*Account, qos ...*QOS) *Tree {
	t := &Tree{
		accounts: make(map[string]*Account, len(accounts)), children: map[string][]string{}, defaults: map[string]string{},
		users: map[association]*AccountUser{}, qos: make(map[string]*QOS, len(qos)),
	}
	for _, q := range qos {
		t.qos[q.Name] = q
	}
	for _, account := range accounts {
		t.accounts[account.Name] = account
	}
	for _, name := range slices.Sorted(maps.Keys(t.accounts)) {
		account := t.accounts[name]
		t.children[account.Spec.Parent] = append(t.children[account.Spec.Parent], name)
		for i := range account.Spec.Users {
			user := &account.Spec.Users[i]
			t.users[association{name, user.Name}] = user
			if _, hasDefault := t.defaults[user.Name]; user.Default && !hasDefault {
				t.defaults[user.Name] = name
			}
		}
	}
	return t
}

// PointersTo returns pointers to the elements of a list, for example for NewTree.
func PointersTo[T any](items []T) []*T {
	pointers := make([]*T, len(items))
	for i := range items {
		pointers[i] = &items[i]
	}
	return pointers
}

// Len returns the number of accounts.
func (t *Tree) Len() int { return len(t.accounts) }

// Account returns the named account, or nil if it does not exist.
func (t *Tree) Account(name string) *Account { return t.accounts[name] }

// Names returns the names of all accounts in alphabetical order.
func (t *Tree) Names() []string { return slices.Sorted(maps.Keys(t.accounts)) }

// Children returns the sorted names of the accounts directly below the named account, or below the root if name is
// empty. Do not change the result.
func (t *Tree) Children(name string) []string { return t.children[name] }

// DefaultAccount returns the name of the user's default account. Without one, it returns "".
func (t *Tree) DefaultAccount(user string) string { return t.defaults[user] }

// Path returns the named account and its ancestors, nearest first. It ends at an account that does not exist. In a
// cycle, each account is returned once.
func (t *Tree) Path(name string) []*Account {
	var path []*Account
	for account := t.accounts[name]; account != nil; account = t.accounts[account.Spec.Parent] {
		if slices.Contains(path, account) {
			return path
		}
		path = append(path, account)
	}
	return path
}

// HasUser reports whether the user may submit jobs for the named account.
func (t *Tree) HasUser(account, user string) bool { return t.user(account, user) != nil }

func (t *Tree) user(account, user string) *AccountUser { return t.users[association{account, user}] }

// IsCoordinator reports whether the user coordinates the named account or one of its ancestors.
func (t *Tree) IsCoordinator(account, user string) bool {
	return slices.ContainsFunc(t.Path(account), func(a *Account) bool { return slices.Contains(a.Spec.Coordinators, user) })
}

// CoordinatedBy returns the names of the accounts that the user coordinates, and of the accounts below them, in
// alphabetical order.
func (t *Tree) CoordinatedBy(user string) []string {
	var names []string
	for _, name := range t.Names() {
		if t.IsCoordinator(name, user) {
			names = append(names, name)
		}
	}
	return names
}

// EffectiveUserLimits returns the limits of a user in an account. Each limit is the nearest one that is set: by the
// user's entry in the account, by the account, or by one of its ancestors. Resources count separately: an entry that
// limits only cpu inherits the limit of memory. The result shares no map with the accounts.
func (t *Tree) EffectiveUserLimits(account, user string) UserLimits {
	var limits UserLimits
	if own := t.user(account, user); own != nil {
		limits.inherit(own.Limits)
	}
	for _, ancestor := range t.Path(account) {
		limits.inherit(ancestor.Spec.UserLimits)
	}
	return limits
}

// inherit adds the limits that are missing in l.
func (l *UserLimits) inherit(from *UserLimits) {
	if from == nil {
		return
	}
	l.MaxRunningJobs = firstSet(l.MaxRunningJobs, from.MaxRunningJobs)
	l.MaxSubmittedJobs = firstSet(l.MaxSubmittedJobs, from.MaxSubmittedJobs)
	l.MaxResources = inheritResources(l.MaxResources, from.MaxResources)
	l.MaxResourcesPerJob = inheritResources(l.MaxResourcesPerJob, from.MaxResourcesPerJob)
	l.MaxRunTime = firstSet[metav1.Duration](l.MaxRunTime, from.MaxRunTime)
}

func firstSet[T any](first, second *T) *T {
	if first != nil {
		return first
	}
	return second
}

func inheritResources(own, from corev1.ResourceList) corev1.ResourceList {
	for name, quantity := range from {
		if _, isSet := own[name]; isSet {
			continue
		}
		if own == nil {
			own = corev1.ResourceList{}
		}
		own[name] = quantity
	}
	return own
}

// checkParent returns an error if the parent of an account does not exist, or if the account would be its own ancestor.
// The tree may contain an earlier version of the account.
func (t *Tree) checkParent(account *Account) error {
	names := []string{account.Name}
	for name := account.Spec.Parent; name != ""; {
		names = append(names, name)
		if slices.Contains(names[:len(names)-1], name) {
			return fmt.Errorf("accounts would form a cycle: %s", strings.Join(names, " -> "))
		}
		parent := t.accounts[name]
		if parent == nil {
			return fmt.Errorf("account %q does not exist; create it first", name)
		}
		name = parent.Spec.Parent
	}
	return nil
}

// Budgets returns the names of the account and its ancestors that have budgets, nearest first.
func (t *Tree) Budgets(name string) []string {
	var names []string
	for _, account := range t.Path(name) {
		if limits := account.Spec.Limits; limits != nil && limits.Budget != nil {
			names = append(names, account.Name)
		}
	}
	return names
}
