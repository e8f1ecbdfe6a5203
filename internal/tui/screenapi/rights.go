package screenapi

import (
	"slices"
	"strings"
)

// Only names the namespaces whose objects of a kind are shown, for example "only nlp". It returns "" if the objects
// of all namespaces are shown, or none.
func (ctx *Context) Only(kind string) string {
	if hidden, ok := ctx.Snap.HiddenKind(kind); ok && len(hidden.Namespaces) > 0 {
		return "only " + strings.Join(hidden.Namespaces, ", ")
	}
	return ""
}

// Unseen returns the reason why no objects of a kind are shown although there may be some: the user may not see any,
// or not those in the chosen namespace. Otherwise, it returns "".
func (ctx *Context) Unseen(kind string) string {
	hidden, ok := ctx.Snap.HiddenKind(kind)
	switch {
	case !ok:
		return ""
	case len(hidden.Namespaces) == 0:
		return kind + " are not shown: " + hidden.Why
	case ctx.Namespace != "" && !slices.Contains(hidden.Namespaces, ctx.Namespace):
		return kind + " of " + ctx.Namespace + " are not shown, " + ctx.Only(kind) + ": " + hidden.Why
	}
	return ""
}
