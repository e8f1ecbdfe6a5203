package accounting

import (
	"cmp"
	"slices"
	"time"
)

// ChangeAction is the kind of a change.
type ChangeAction string

// The actions of changes, in Slurm's words.
const (
	AddAccount    ChangeAction = "Add Accounts"
	ModifyAccount ChangeAction = "Modify Accounts"
	RemoveAccount ChangeAction = "Remove Accounts"
	AddQOS        ChangeAction = "Add QOS"
	ModifyQOS     ChangeAction = "Modify QOS"
	RemoveQOS     ChangeAction = "Remove QOS"
)

// ChangesQOS reports whether the action changes a QOS. All other actions change an account.
func (a ChangeAction) ChangesQOS() bool { return a == AddQOS || a == ModifyQOS || a == RemoveQOS }

// Change is a change of an account or a QOS that a user made.
type Change struct {
	// ID identifies the change in its cluster. A change that is stored twice has the same ID.
	ID      string
	Cluster string
	Time    time.Time
	// Actor is the user who made the change, as the API server authenticated them.
	Actor  string
	Action ChangeAction
	// Account is the changed account. It is empty for a change of a QOS.
	Account string
	// QOS is the changed QOS. It is empty for a change of an account.
	QOS string `json:",omitempty"`
	// Users lists the users of the account whose entries changed.
	Users []string `json:",omitempty"`
	// Info describes the change: the fields with their old and new values.
	Info string
}

// Name returns the name of the changed object.
func (c *Change) Name() string { return cmp.Or(c.Account, c.QOS) }

// ChangeQuery selects changes. An empty list selects all values.
type ChangeQuery struct {
	Clusters, Accounts, Users, Actors []string
	Actions                           []ChangeAction
	// From and To select the changes at or after From and before To. A zero time is no limit.
	From, To time.Time
	// VisibleAccounts lists the accounts whose changes are visible. If it is nil, the changes of all accounts and QOS are visible.
	VisibleAccounts []string `json:"-"`
}

// Selects reports whether the query selects a change.
func (q *ChangeQuery) Selects(c *Change) bool {
	isVisible := q.VisibleAccounts == nil || slices.Contains(q.VisibleAccounts, c.Account)
	isInTime := !c.Time.Before(q.From) && (q.To.IsZero() || c.Time.Before(q.To))
	if !isVisible || !isInTime {
		return false
	}
	for _, condition := range []struct{ list, values []string }{
		{q.Clusters, []string{c.Cluster}}, {q.Accounts, []string{c.Account}}, {q.Users, c.Users}, {q.Actors, []string{c.Actor}},
	} {
		hasValue := func(wanted string) bool { return slices.Contains(condition.values, wanted) }
		if len(condition.list) > 0 && !slices.ContainsFunc(condition.list, hasValue) {
			return false
		}
	}
	return len(q.Actions) == 0 || slices.Contains(q.Actions, c.Action)
}
