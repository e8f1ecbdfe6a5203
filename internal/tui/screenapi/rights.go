package screenapi

import (
	"slices"
	"strings"
)

// OnlyNamespaces names the namespaces whose objects of a kind are shown, for example "only nlp". It returns "" if the
// objects of all namespaces are shown, or none.
func (ctx *Context) OnlyNamespaces(kind string) string {
	if hidden, ok := ctx.Snap.HiddenKind(kind); ok && len(hidden.Namespaces) > 0 {
		return "only " + strings.Join(hidden.Namespaces, ", ")
	}
	return ""
}

// UnseenReason returns the reason why no objects of a kind are shown although there may be some: the user may not see
// any, or not those in the chosen namespace. Otherwise, it returns "".
func (ctx *Context) UnseenReason(kind string) string {
	hidden, ok := ctx.Snap.HiddenKind(kind)
	switch {
	case !ok:
		return ""
	case len(hidden.Namespaces) == 0:
		return kind + " are not shown: " + hidden.Why
	case ctx.Namespace != "" && !slices.Contains(hidden.Namespaces, ctx.Namespace):
		return kind + " of " + ctx.Namespace + " are not shown, " + ctx.OnlyNamespaces(kind) + ": " + hidden.Why
	}
	return ""
}
