package cli

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/render"
)

// MaxEvents is the maximum number of events in a view, which shows the latest ones.
const MaxEvents = 20

// NewEventTable returns a table of the last MaxEvents events. object formats the object that an event is about.
func NewEventTable(events []corev1.Event, now time.Time, object func(*corev1.Event) string) render.Table {
	table := render.Table{Header: []string{"AGE", "TYPE", "REASON", "OBJECT", "MESSAGE"}, FreeText: true}
	table.SetSpareColumns("OBJECT", "TYPE")
	events = events[max(0, len(events)-MaxEvents):]
	for i := range events {
		event := &events[i]
		age := render.FormatAgeSince(now, EventTime(event).Time)
		if count := EventCount(event); count > 1 {
			age += fmt.Sprintf(" (x%d)", count)
		}
		table.Rows = append(table.Rows, []string{age, event.Type, event.Reason, object(event), event.Message})
	}
	return table
}
