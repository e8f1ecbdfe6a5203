package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// The smallest terminal that frames are drawn for.
const (
	MinWidth  = 60
	MinHeight = 15
)

// noticeFor is how long a line in the frame stays when no key is pressed.
const noticeFor = 10 * time.Second

// Settings are what the dashboard is started with.
type Settings struct {
	// Specs are the screens; those with a Number are tabs, in this order, and the
	// first of them is shown first.
	Specs []screen.Spec
	// Theme is one of theme.Names; Colors and ASCII are what the terminal can do.
	Theme  string
	Colors theme.Colors
	ASCII  bool
	// Namespace is the one shown first; "" is all. Own is that of the kubeconfig,
	// which "0" goes back to.
	Namespace, Own string
	User           string
	ReadOnly       bool
	// Program is what the user typed: vcctl, or kubectl vc.
	Program string
	Actions screen.Actions
	Now     time.Time
	// Contexts are the kubeconfig's, for the palette.
	Contexts []string
	// Notice is what is said first.
	Notice screen.Notice
}

// App is the dashboard without a terminal.
type App struct {
	specs map[string]screen.Spec
	tabs  []screen.Spec
	// tables are the keys of each screen, once they were needed.
	tables map[string][]screen.Binding
	roots  map[string]screen.Screen
	stack  []screen.Screen
	ctx    screen.Context

	themeName string
	colors    theme.Colors
	mono      bool // the user wants no colours, whatever the terminal has
	ascii     bool
	light     bool
	own       string
	contexts  []string

	overlay  overlay
	filters  map[screen.Screen]string
	stale    map[screen.Screen]bool // has not seen the last snapshot
	notice   screen.Notice
	noticeAt time.Time
	places   []tabPlace
	out      []Request
}

// Request is an effect that the world has to carry out; its end is told to From.
type Request struct {
	Effect screen.Effect
	From   screen.Screen
}

// overlay is what stands over a screen and takes the keys: help, a question.
type overlay interface {
	key(*App, tea.KeyPressMsg)
	draw(*App, canvas.Canvas)
}

// New returns the dashboard as it looks before anything is known.
func New(s Settings) (*App, error) {
	a := &App{
		specs: map[string]screen.Spec{}, tables: map[string][]screen.Binding{}, roots: map[string]screen.Screen{}, filters: map[screen.Screen]string{}, stale: map[screen.Screen]bool{},
		themeName: s.Theme, colors: s.Colors, mono: s.Colors == theme.NoColor, ascii: s.ASCII, own: s.Own, contexts: s.Contexts,
	}
	for _, spec := range s.Specs {
		a.specs[spec.Name] = spec
		if spec.Number != "" {
			a.tabs = append(a.tabs, spec)
		}
	}
	if len(a.tabs) == 0 {
		return nil, fmt.Errorf("the dashboard has no screens")
	}
	a.ctx = screen.Context{
		Snap: snapshot.Empty(s.Now), Now: s.Now, Namespace: s.Namespace, User: s.User, ReadOnly: s.ReadOnly, Program: s.Program, Actions: s.Actions,
	}
	if err := a.setTheme(s.Theme); err != nil {
		return nil, err
	}
	a.stack = []screen.Screen{a.root(a.tabs[0].Name)}
	a.tell(screen.Refresh{})
	a.say(s.Notice)
	return a, nil
}

func (a *App) setTheme(name string) error {
	real := name
	if name == "auto" && a.light {
		real = "light"
	}
	look, err := theme.New(real, a.colors, a.ascii)
	if err != nil {
		return err
	}
	a.themeName, a.ctx.Theme = name, look
	return nil
}

// SetColors takes over how many colours the terminal has.
func (a *App) SetColors(colors theme.Colors) {
	if !a.mono {
		a.colors = colors
		_ = a.setTheme(a.themeName)
	}
}

// SetBackground takes over whether the terminal is dark.
func (a *App) SetBackground(dark bool) {
	a.light = !dark
	_ = a.setTheme(a.themeName)
}

// root is the screen of a tab; it is kept, so that it is found as it was left.
func (a *App) root(name string) screen.Screen {
	if a.roots[name] == nil {
		a.roots[name] = a.specs[name].New("")
		a.stale[a.roots[name]] = true
	}
	return a.roots[name]
}

// Top is the screen that is shown.
func (a *App) Top() screen.Screen { return a.stack[len(a.stack)-1] }

// Context is what screens see at the moment.
func (a *App) Context() *screen.Context { return &a.ctx }

// Take returns what the world has to do, once.
func (a *App) Take() []Request {
	out := a.out
	a.out = nil
	return out
}

// tell hands an event to the screen on top and does what it wants.
func (a *App) tell(event screen.Event) {
	top := a.Top()
	if _, refresh := event.(screen.Refresh); refresh {
		delete(a.stale, top)
	}
	a.apply(top.Update(&a.ctx, event), top)
}

// Resize takes over the size of the terminal.
func (a *App) Resize(w, h int) {
	a.ctx.W, a.ctx.H = w, h
	a.tell(screen.Resize{})
}

// Tick says what time it is.
func (a *App) Tick(now time.Time) {
	a.ctx.Now = now
	if a.notice.Text != "" && now.Sub(a.noticeAt) >= noticeFor {
		a.notice = screen.Notice{}
	}
}

// SetSnapshot takes over what is known.
func (a *App) SetSnapshot(snap *snapshot.Snapshot) {
	a.ctx.Snap = snap
	a.refreshAll()
}

// refreshAll tells the screen on top that what it shows changed, and remembers that
// the others have not been told.
func (a *App) refreshAll() {
	for _, s := range a.roots {
		a.stale[s] = true
	}
	for _, s := range a.stack {
		a.stale[s] = true
	}
	a.tell(screen.Refresh{})
}

// SetLogs takes over what is streamed.
func (a *App) SetLogs(logs *screen.LogView) {
	a.ctx.Logs = logs
	a.tell(screen.NewLines{})
}

// Done tells a screen the end of what it wanted, and the user. Of what half succeeded both halves are told.
func (a *App) Done(from screen.Screen, run screen.Run, done screen.Done) {
	if done.Err != nil {
		before := run.Name + ": "
		if done.Said != "" {
			before = done.Said + "; but "
		}
		a.say(screen.Notice{Text: before + inALine(done.Err), Bad: true})
	} else if !run.Quiet && done.Said != "" {
		a.say(screen.Notice{Text: done.Said})
	}
	if from != nil && a.holds(from) {
		a.apply(from.Update(&a.ctx, done), from)
	}
}

// inALine is an error as a line of text; of several that were joined each is told apart.
func inALine(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return strings.Join(lines, "; ")
}

// holds says whether a screen is open, or kept.
func (a *App) holds(s screen.Screen) bool {
	return a.roots[s.Name()] == s || slices.Contains(a.stack, s)
}

// Say shows a line in the frame.
func (a *App) Say(notice screen.Notice) { a.say(notice) }

func (a *App) say(notice screen.Notice) { a.notice, a.noticeAt = notice, a.ctx.Now }
