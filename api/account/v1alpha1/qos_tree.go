package v1alpha1

import (
	"maps"
	"slices"
)

// StandardQOS is the name of the QOS that jobs get if neither their user nor their account has a default.
const StandardQOS = "normal"

// HasQOS reports whether any QOS exists. Without one, the QOS of a job is free text.
func (t *Tree) HasQOS() bool { return len(t.qos) > 0 }

// QOS returns the named QOS, or nil if it does not exist.
func (t *Tree) QOS(name string) *QOS { return t.qos[name] }

// QOSNames returns the names of all QOS in alphabetical order.
func (t *Tree) QOSNames() []string { return slices.Sorted(maps.Keys(t.qos)) }

// permittedQOS returns the lists and defaults that apply to a user in an account, nearest first.
func (t *Tree) permittedQOS(account, user string) []*PermittedQOS {
	var permitted []*PermittedQOS
	if own := t.user(account, user); own != nil {
		permitted = append(permitted, &own.PermittedQOS)
	}
	for _, ancestor := range t.Path(account) {
		permitted = append(permitted, &ancestor.Spec.PermittedQOS)
	}
	return permitted
}

// ListedQOS returns the names of the QOS that are listed for a user in an account: by the user's entry in the account, by
// the account, or by its nearest ancestor with a list. Without a list, it returns nil, and all QOS are permitted. Do not
// change the result.
func (t *Tree) ListedQOS(account, user string) []string {
	for _, permitted := range t.permittedQOS(account, user) {
		if len(permitted.QOS) > 0 {
			return permitted.QOS
		}
	}
	return nil
}

// AvailableQOS returns the names of the QOS that exist and that a user may use in an account, in alphabetical order.
func (t *Tree) AvailableQOS(account, user string) []string {
	return slices.DeleteFunc(t.QOSNames(), func(name string) bool { return !t.PermitsQOS(account, user, name) })
}

// PermitsQOS reports whether a user may use a QOS in an account.
func (t *Tree) PermitsQOS(account, user, name string) bool {
	listed := t.ListedQOS(account, user)
	return len(listed) == 0 || slices.Contains(listed, name)
}

// DefaultQOS returns the QOS of jobs that name none, of a user in an account. It is the nearest default that is set, like
// in ListedQOS. Without one, it is the only QOS that is listed, or else the QOS "normal". It returns "" if that QOS does
// not exist or is not permitted.
func (t *Tree) DefaultQOS(account, user string) string {
	for _, name := range t.defaultQOS(account, user) {
		if t.qos[name] != nil && t.PermitsQOS(account, user, name) {
			return name
		}
	}
	return ""
}

// defaultQOS returns the names of the QOS that may be a default, the preferred one first.
func (t *Tree) defaultQOS(account, user string) []string {
	var names []string
	for _, permitted := range t.permittedQOS(account, user) {
		if permitted.DefaultQOS != "" {
			names = append(names, permitted.DefaultQOS)
		}
	}
	if listed := t.ListedQOS(account, user); len(listed) == 1 {
		names = append(names, listed...)
	}
	return append(names, StandardQOS)
}
