package screen

import "github.com/vc-batch/vc/internal/snapshot"

// Nothing is what to say where rows would be: why none are known yet, or what there is
// none of. Who is not connected and never was knows nothing of what there is.
func (ctx *Context) Nothing(text string) string {
	switch snap := ctx.Snap; {
	case snap.Connection.Link == snapshot.LinkLoading:
		return "loading …"
	case snap.Connection.Link == snapshot.LinkDisconnected && len(snap.Nodes)+len(snap.Queues)+len(snap.Jobs) == 0:
		return "not known: there is no connection to the cluster yet"
	}
	return text
}
