package events

import (
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/eventrow"
	"github.com/vc-batch/vc/internal/tui/filter"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Events is the screen.
type Events struct {
	table  widget.Table[*snapshot.Event]
	filter filter.Filter[*snapshot.Event]
	text   string // text of the filter
	all    int    // number of events before filtering
}

// ScreenSpec returns the description of the screen.
func ScreenSpec() screenapi.Spec {
	return screenapi.Spec{Name: screenapi.Events, New: func(string) screenapi.Screen { return New() }, Keys: keyBindings()}
}

// New returns the screen in its initial state.
func New() *Events {
	newestFirst := func(a, b *snapshot.Event) int { return b.At.Compare(a.At) }
	return &Events{table: widget.Table[*snapshot.Event]{
		Columns: columns(), ID: func(e *snapshot.Event) string { return string(e.UID) }, Default: newestFirst, DefaultSort: "newest first",
	}}
}

// ArrangeTable arranges the columns and rows.
func (s *Events) ArrangeTable(how screenapi.Arrangement) error { return s.table.Arrange(how, nil) }

// Name returns the screen's name.
func (s *Events) Name() string { return screenapi.Events }

// Crumb returns the screen's name in the path.
func (s *Events) Crumb(*screenapi.Context) string { return "Events" }

// Note returns the number of events and their order.
func (s *Events) Note(ctx *screenapi.Context) string {
	note := widget.FormatCount(s.all) + " events"
	if ctx.W < 100 {
		return note
	}
	return note + "   sort: " + s.table.SortNote()
}

// Target returns "", because there is only one such screen.
func (s *Events) Target() string { return "" }

// Update handles an event.
func (s *Events) Update(ctx *screenapi.Context, event screenapi.Event) []screenapi.Effect {
	switch e := event.(type) {
	case screenapi.Refresh:
		s.refreshRows(ctx)
	case screenapi.Mouse:
		if _, open := s.table.Mouse(ctx, e); open && s.refuseOpening(ctx) == "" {
			return s.openJob(ctx)
		}
	}
	return nil
}

// refreshRows makes the rows from the current snapshot.
func (s *Events) refreshRows(ctx *screenapi.Context) {
	events := eventrow.EventsToShow(ctx)
	s.all = len(events)
	rows := events
	if !s.filter.MatchesAll() {
		rows = nil
		for _, e := range events {
			if s.filter.Match(e) {
				rows = append(rows, e)
			}
		}
	}
	s.table.SetRows(ctx, rows, false)
}

// SetFilter filters the events.
func (s *Events) SetFilter(ctx *screenapi.Context, text string) error {
	parsed, err := eventrow.FilterFields.Parse(text)
	if err != nil {
		return err
	}
	s.filter, s.text = parsed, text
	s.refreshRows(ctx)
	return nil
}

// Matches returns the number of visible events and the number of all events.
func (s *Events) Matches(*screenapi.Context) (shown, all int) { return len(s.table.Rows()), s.all }

// Draw draws the table.
func (s *Events) Draw(ctx *screenapi.Context, c canvas.Canvas) {
	s.table.Draw(ctx, c, s.emptyReason(ctx))
}

// emptyReason returns the reason why there are no rows.
func (s *Events) emptyReason(ctx *screenapi.Context) string {
	switch why := ctx.UnseenReason("events"); {
	case why != "":
		return why
	case s.text != "" && s.all > 0:
		return "no event matches " + s.text + "   (" + ctx.KeyFor("back", "esc") + " clears)"
	}
	return ctx.EmptyTableText("no events yet")
}

// Twin returns the table as text.
func (s *Events) Twin(ctx *screenapi.Context) string { return s.table.Text(ctx, 200, "none") }
