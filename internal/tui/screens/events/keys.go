package events

import (
	"github.com/vc-batch/vc/internal/tui/eventrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/document"
	"github.com/vc-batch/vc/internal/tui/widget"
)

func keyBindings() []screenapi.Binding {
	name := screenapi.Events
	rows := func(s screenapi.Screen) widget.Rows {
		if events, ok := s.(*Events); ok {
			return &events.table
		}
		return nil
	}
	keys := []screenapi.Binding{
		{Screen: name, Key: "enter", Name: "job", Help: "open the job of the event under the cursor", Footer: 10,
			Guard: screenapi.GuardForScreen((*Events).refuseOpening), Do: screenapi.DoForScreen((*Events).openJob)},
		{Screen: name, Key: "e", Name: "close", Help: "close the events", Footer: 11, Do: screenapi.DoForScreen(func(*Events, *screenapi.Context) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Back{}}
		})},
	}
	keys = append(keys, document.OpenBindings(name, describedObject)...)
	keys = append(keys, widget.RowKeys(name, rows)...)
	keys = append(keys, widget.FirstRowKey(name, rows))
	return append(keys, widget.SortKeys(name, rows, columns(), keys)...)
}

// describedObject returns the object of the event under the cursor.
func describedObject(s screenapi.Screen) (kind, namespace, object string) {
	if event, ok := s.(*Events).table.Selected(); ok {
		return event.Kind, event.Namespace, event.Name
	}
	return "", "", ""
}

// refuseOpening returns the reason why there is no job to open, or "".
func (s *Events) refuseOpening(ctx *screenapi.Context) string {
	event, ok := s.table.Selected()
	switch {
	case !ok:
		return "no event is selected"
	case eventrow.FindJob(ctx.Snap, event) == nil:
		return eventrow.ObjectText(event) + " does not belong to a job, or the job was deleted"
	}
	return ""
}

func (s *Events) openJob(ctx *screenapi.Context) []screenapi.Effect {
	event, _ := s.table.Selected()
	return []screenapi.Effect{screenapi.Open{Screen: screenapi.Job, Target: string(eventrow.FindJob(ctx.Snap, event).UID)}}
}

// Tables returns the screen's tables.
func (s *Events) Tables() []widget.Placed { return []widget.Placed{&s.table} }
