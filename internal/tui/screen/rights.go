package screen

import (
	"slices"
	"strings"
)

// Only says of whom objects of a kind are shown, when they are not all: "only nlp"; "" is
// all, or none.
func (ctx *Context) Only(kind string) string {
	if hidden, ok := ctx.Snap.HiddenKind(kind); ok && len(hidden.Namespaces) > 0 {
		return "only " + strings.Join(hidden.Namespaces, ", ")
	}
	return ""
}

// Unseen says why no object of a kind is shown that there may be: the user may see none, or
// none of the namespace that was chosen. "" is that what there is is shown.
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
