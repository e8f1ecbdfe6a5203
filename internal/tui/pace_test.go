package tui

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// pacedModel is a program that changes the pace and ends.
type pacedModel struct {
	pace  *pace
	found bool
}

func (m *pacedModel) Init() tea.Cmd { return func() tea.Msg { return tickMsg(time.Time{}) } }

func (m *pacedModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(tickMsg); !ok {
		return m, nil
	}
	m.pace.slowDown(time.Now())
	m.found = m.pace.ticker != nil
	return m, tea.Quit
}

func (m *pacedModel) View() tea.View { return tea.NewView("") }

// If this fails after an update of the library, look for its ticker, or drop pace for a rate that the library offers.
func TestTheLibrarysTickerIsFound(t *testing.T) {
	t.Parallel()
	m := &pacedModel{pace: &pace{}}
	in, keep := io.Pipe()
	defer keep.Close() //nolint:errcheck // nothing is written
	m.pace.program = tea.NewProgram(m, tea.WithContext(t.Context()), tea.WithInput(in), tea.WithOutput(&bytes.Buffer{}), tea.WithoutSignalHandler())
	if _, err := m.pace.program.Run(); err != nil && t.Context().Err() != context.Canceled {
		t.Fatal(err)
	}
	if !m.found {
		t.Error("the dashboard looks for frames at the fixed rate of the library, which takes one percent of a core")
	}
}

func TestThePaceFollowsInputAndChanges(t *testing.T) {
	t.Parallel()
	p := &pace{ticker: time.NewTicker(time.Hour)}
	defer p.ticker.Stop()
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	for _, step := range []struct {
		what string
		do   func()
		want time.Duration
	}{
		{"a change", func() { p.setAtLeast(paceOfChanges, at(0)) }, paceOfChanges},
		{"a key", func() { p.setAtLeast(paceOfInput, at(1)) }, paceOfInput},
		{"a change soon after a key", func() { p.setAtLeast(paceOfChanges, at(2)) }, paceOfInput},
		{"a tick soon after a key", func() { p.slowDown(at(2.9)) }, paceOfInput},
		{"a change long after a key", func() { p.setAtLeast(paceOfChanges, at(3.5)) }, paceOfChanges},
		{"a tick soon after a change", func() { p.slowDown(at(5)) }, paceOfChanges},
		{"a tick long after a change", func() { p.slowDown(at(5.6)) }, paceAtRest},
		{"a key at rest", func() { p.setAtLeast(paceOfInput, at(60)) }, paceOfInput},
	} {
		if step.do(); p.period != step.want {
			t.Errorf("after %s: a frame every %v, want %v", step.what, p.period, step.want)
		}
	}
}
