package screenapi

import "github.com/vc-batch/vc/internal/snapshot"

// Nothing returns the text to show instead of rows: why no data is available yet, or text, which says that there are no
// rows. If the connection was never established, it is unknown whether there are any.
func (ctx *Context) Nothing(text string) string {
	switch snap := ctx.Snap; {
	case snap.Connection.Link == snapshot.LinkLoading:
		return "loading …"
	case snap.Connection.Link == snapshot.LinkDisconnected && len(snap.Nodes)+len(snap.Queues)+len(snap.Jobs) == 0:
		return "unknown: not connected to the cluster yet"
	}
	return text
}
