package tui

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// plain is a screen that shows the last event.
type plain struct{ said string }

func (*plain) Name() string                    { return screenapi.Overview }
func (*plain) Crumb(*screenapi.Context) string { return "Overview" }
func (*plain) Note(*screenapi.Context) string  { return "" }
func (*plain) Twin(*screenapi.Context) string  { return "" }
func (p *plain) Draw(_ *screenapi.Context, c canvas.Canvas) {
	c.Put(0, 0, "said: "+p.said, theme.Plain)
}
func (p *plain) Update(_ *screenapi.Context, event screenapi.Event) []screenapi.Effect {
	if done, ok := event.(screenapi.Done); ok && done.Err != nil {
		p.said = done.Err.Error()
	}
	return nil
}

var start = time.Date(2026, 11, 21, 21, 53, 39, 0, time.UTC)

func settings(keys ...screenapi.Binding) Settings {
	return Settings{
		Specs: []screenapi.Spec{{Name: screenapi.Overview, Tab: "Overview", Number: "1", New: func(string) screenapi.Screen { return &plain{} }, Keys: keys}},
		Theme: "dark", Colors: theme.NoColor, Program: "vcctl", Now: start,
	}
}

// oneSource returns one snapshot and then waits.
type oneSource struct{ given bool }

func (s *oneSource) Next(ctx context.Context) (*snapshot.Snapshot, error) {
	if !s.given {
		s.given = true
		return snapshot.EmptySnapshot(start), nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func world(in io.Reader, out io.Writer) World {
	mono := theme.NoColor
	return World{In: in, Out: out, Err: out, Env: []string{"TERM=xterm"}, Source: &oneSource{}, Now: func() time.Time { return start }, Colors: &mono}
}

// test/terminal verifies in a real terminal that the program restores it.
func TestTheProgramEndsWithItsKey(t *testing.T) {
	t.Parallel()
	if _, err := Run(t.Context(), settings(), world(strings.NewReader("q"), io.Discard)); err != nil {
		t.Fatal(err)
	}
}

func TestTheProgramEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	in, keys := io.Pipe()
	defer keys.Close()
	time.AfterFunc(100*time.Millisecond, stop)
	if _, err := Run(ctx, settings(), world(in, io.Discard)); err != nil {
		t.Fatal(err)
	}
}

func TestAnotherContextIsHandedBack(t *testing.T) {
	t.Parallel()
	key := screenapi.Binding{Screen: screenapi.Overview, Key: "t", Name: "to", Help: "go", Do: func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
		return []screenapi.Effect{screenapi.SwitchContext{Name: "staging"}}
	}}
	next, err := Run(t.Context(), settings(key), world(strings.NewReader("t"), io.Discard))
	if err != nil || next != "staging" {
		t.Errorf("next is %q, %v", next, err)
	}
}

func TestPanicOfAnotherGoroutineIsShownInTheFrame(t *testing.T) {
	t.Parallel()
	app, err := New(settings())
	if err != nil {
		t.Fatal(err)
	}
	app.Resize(80, 24)
	m := &model{app: app, world: world(nil, nil), ctx: t.Context()}
	run := screenapi.Run{Name: "cancel", Do: func(context.Context) (string, error) { panic("oops") }}
	msg := m.runAndRecover(app.VisibleScreen(), run)()
	m.Update(msg)
	if text := app.Draw().Text(); !strings.Contains(text, "cancel: internal error: oops") {
		t.Errorf("the frame does not tell:\n%s", text)
	}
}

func TestPastedTextIsNeverTakenForKeys(t *testing.T) {
	t.Parallel()
	pressed := 0
	key := screenapi.Binding{Screen: screenapi.Overview, Key: "x", Name: "cancel", Help: "cancel", Do: func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
		pressed++
		return nil
	}}
	app, err := New(settings(key))
	if err != nil {
		t.Fatal(err)
	}
	app.Resize(80, 24)
	app.HandlePaste("xxx")
	if pressed > 0 {
		t.Errorf("pasted text pressed x %d times", pressed)
	}
	app.HandleKey(tea.KeyPressMsg{Code: ':', Text: ":"})
	app.HandlePaste("theme dark")
	if text := app.Draw().Text(); !strings.Contains(text, ":theme dark") {
		t.Errorf("pasted text is not in the palette:\n%s", text)
	}
}

func TestAnErrorIsSaidUntilAKeyIsPressed(t *testing.T) {
	t.Parallel()
	app, err := New(settings())
	if err != nil {
		t.Fatal(err)
	}
	app.Resize(80, 24)
	app.ReportDone(app.VisibleScreen(), screenapi.Run{Name: "drain"}, screenapi.Done{Name: "drain", Err: errors.New("forbidden")})
	if text := app.Draw().Text(); !strings.Contains(text, "drain: forbidden") || !strings.Contains(text, "said: forbidden") {
		t.Errorf("the frame does not tell:\n%s", text)
	}
	app.HandleKey(tea.KeyPressMsg{Code: 'k', Text: "k"})
	if text := app.Draw().Text(); strings.Contains(text, "drain: forbidden") {
		t.Errorf("the frame still tells:\n%s", text)
	}
}

func TestTheThemeFollowsTheTerminalUnlessItWasChosen(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		theme  string
		colors theme.Colors
		want   string
	}{
		"auto on white is light":              {"auto", theme.TrueColor, "light"},
		"dark stays dark on white":            {"dark", theme.TrueColor, "dark"},
		"without colours everything is mono":  {"auto", theme.NoColor, "mono"},
		"what the terminal says adds nothing": {"high-contrast", theme.NoColor, "mono"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings()
			s.Theme, s.Colors = tc.theme, tc.colors
			app, err := New(s)
			if err != nil {
				t.Fatal(err)
			}
			app.SetColors(theme.Colors256)
			app.SetBackground(false)
			if got := app.Context().Theme.Name; got != tc.want {
				t.Errorf("the theme is %s, want %s", got, tc.want)
			}
		})
	}
}

func TestPartialSuccessIsShownWithBothParts(t *testing.T) {
	t.Parallel()
	app, err := New(settings())
	if err != nil {
		t.Fatal(err)
	}
	app.Resize(120, 24)
	refused := errors.Join(errors.New("job b may not be changed"), errors.New("job c may not be changed"))
	app.ReportDone(nil, screenapi.Run{Name: "cancel 3 jobs"}, screenapi.Done{Said: "job a will be cancelled", Err: refused})
	if text := app.Draw().Text(); !strings.Contains(text, "job a will be cancelled; but job b may not be changed; job c may not be changed") {
		t.Errorf("the frame does not tell both:\n%s", text)
	}
	app.ReportDone(nil, screenapi.Run{Name: "cancel 3 jobs"}, screenapi.Done{Err: refused})
	if text := app.Draw().Text(); !strings.Contains(text, "cancel 3 jobs: job b may") {
		t.Errorf("the frame does not tell what failed:\n%s", text)
	}
}

func TestColoursThatTheTerminalFindsLaterAreUsedUnlessNoneAreWanted(t *testing.T) {
	t.Parallel()
	for wanted, want := range map[theme.Colors]theme.Colors{theme.TrueColor: theme.TrueColor, theme.NoColor: theme.NoColor} {
		s := settings()
		s.Colors = wanted
		app, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		app.SetColors(theme.NoColor)
		app.SetColors(theme.TrueColor)
		if app.colors != want {
			t.Errorf("wanted %v: %v", wanted, app.colors)
		}
	}
}

func TestScreensThatAreClosedAreLetGoOf(t *testing.T) {
	t.Parallel()
	s := settings()
	s.Specs = append(s.Specs, screenapi.Spec{Name: screenapi.Job, New: func(string) screenapi.Screen { return &detail{} }})
	app, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		app.applyEffects([]screenapi.Effect{screenapi.Open{Screen: screenapi.Job, Target: "a"}}, nil)
		closed := app.VisibleScreen().(*detail)
		app.SetSnapshot(snapshot.EmptySnapshot(start))
		app.stale[closed] = true // as if another screen were above it
		app.applyEffects([]screenapi.Effect{screenapi.Open{Screen: screenapi.Overview}}, nil)
		app.ReportDone(closed, screenapi.Run{Name: "late"}, screenapi.Done{Err: errors.New("late")})
		if closed.said != "" {
			t.Error("a screen that is closed is told the end of what it wanted")
		}
	}
	if len(app.stack) != 1 || len(app.stale) > 1 {
		t.Errorf("%d screens are open, %d are known", len(app.stack), len(app.stale))
	}
}

// detail is a screen above a tab.
type detail struct{ plain }

func (*detail) Name() string { return screenapi.Job }
