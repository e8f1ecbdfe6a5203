package events

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/eventrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

type column = widget.Column[*snapshot.Event]

func columns() []column {
	object := func(a, b *snapshot.Event) int { return strings.Compare(eventrow.ObjectText(a), eventrow.ObjectText(b)) }
	return []column{
		{Key: "object", Letter: "N", Title: "OBJECT", Width: 36, Narrow: 22, Cell: func(_ *screenapi.Context, e *snapshot.Event) (string, canvas.Style) {
			return eventrow.ObjectText(e), theme.Plain
		}, Compare: object},
		{Key: "time", Letter: "T", Title: "TIME", Width: 8, Descending: true, Cell: func(ctx *screenapi.Context, e *snapshot.Event) (string, canvas.Style) {
			return e.At.In(ctx.Now.Location()).Format(time.TimeOnly), theme.Dim
		}, Compare: func(a, b *snapshot.Event) int { return a.At.Compare(b.At) }},
		{Key: "type", Letter: "P", Title: "TYPE", Width: 7, From: 100, Cell: func(_ *screenapi.Context, e *snapshot.Event) (string, canvas.Style) {
			return e.Type, eventrow.TypeStyle(e)
		}, Compare: func(a, b *snapshot.Event) int { return strings.Compare(b.Type, a.Type) }},
		{Key: "reason", Letter: "R", Title: "REASON", Width: 20, Narrow: 14, Cell: func(_ *screenapi.Context, e *snapshot.Event) (string, canvas.Style) {
			return e.Reason, eventrow.TypeStyle(e)
		}, Compare: func(a, b *snapshot.Event) int { return strings.Compare(a.Reason, b.Reason) }},
		{Key: "count", Letter: "C", Title: "COUNT", Width: 5, From: 120, Right: true, Descending: true, Cell: func(_ *screenapi.Context, e *snapshot.Event) (string, canvas.Style) {
			return fmt.Sprint(max(e.Count, 1)), theme.Dim
		}, Compare: func(a, b *snapshot.Event) int { return cmp.Compare(a.Count, b.Count) }},
		{Key: "message", Title: "MESSAGE", Width: 12, Flex: true, Cell: func(ctx *screenapi.Context, e *snapshot.Event) (string, canvas.Style) {
			if ctx.W < 120 { // there is no column COUNT
				return eventrow.MessageText(e), theme.Plain
			}
			return strings.Join(strings.Fields(e.Message), " "), theme.Plain
		}},
	}
}
