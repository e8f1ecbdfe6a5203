package screenapi

import "github.com/vc-batch/vc/internal/snapshot"

// EmptyTableText returns the text to show if there are no rows. This is the reason why no data is available yet or, if
// data is available, text. Without a connection so far, it is unknown whether there are any rows.
func (ctx *Context) EmptyTableText(text string) string {
	switch snap := ctx.Snap; {
	case snap.Connection.Link == snapshot.LinkLoading:
		return "loading …"
	case snap.Connection.Link == snapshot.LinkDisconnected && len(snap.Nodes)+len(snap.Queues)+len(snap.Jobs) == 0:
		return "unknown: not connected to the cluster yet"
	}
	return text
}
