package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/history"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// The smallest terminal in which frames are drawn.
const (
	MinWidth  = 60
	MinHeight = 15
)

// noticeFor is how long a notice is shown if no key is pressed.
const noticeFor = 10 * time.Second

// Settings configures the dashboard.
type Settings struct {
	// Specs lists the screens. Those with a Number are tabs, in this order; the first tab is shown at the start.
	Specs []screenapi.Spec
	// Theme is the name of a theme, or "" for the theme of the Preferences. Colors and ASCII describe the terminal.
	Theme  string
	Colors theme.Colors
	ASCII  bool
	// Compact starts the dashboard in compact mode; the Preferences can also choose it.
	Compact bool
	// Namespace is the namespace to show at the start; "" means all. Own is the kubeconfig's namespace, which the key
	// "0" selects.
	Namespace, Own string
	User           string
	ReadOnly       bool
	// Words is the vocabulary; the Preferences can also choose Slurm's.
	Words screenapi.Vocabulary
	// Program is the command that the user typed: "vcctl" or "kubectl vc".
	Program string
	Actions screenapi.Actions
	Now     time.Time
	// Contexts lists the contexts of the kubeconfig, which the palette offers.
	Contexts []string
	// Notice is the notice to show at the start.
	Notice screenapi.Notice
	// Preferences holds the user's own settings. RunCommand runs the commands among them.
	Preferences Preferences
	RunCommand  RunCommand
}

// App is the dashboard without a terminal.
type App struct {
	specs map[string]screenapi.Spec
	tabs  []screenapi.Spec
	prefs *Preferences
	// runCommand runs the user's custom commands.
	runCommand RunCommand
	// tables caches the key table of each screen.
	tables map[string][]screenapi.Binding
	roots  map[string]screenapi.Screen
	stack  []screenapi.Screen
	ctx    screenapi.Context

	themeName string
	colors    theme.Colors
	mono      bool // the user disabled colours, regardless of what the terminal supports
	ascii     bool
	width     int // columns of the terminal
	light     bool
	own       string
	contexts  []string

	overlay  overlay
	filters  map[screenapi.Screen]string
	opened   map[screenapi.Screen]string // the filters with which screens were opened
	stale    map[screenapi.Screen]bool   // screens that have not received the latest snapshot
	last     lastChange
	notice   screenapi.Notice
	noticeAt time.Time
	places   []tabPlace
	out      []Request
}

// Request is an effect to be carried out outside the App. Its result is sent to the screen From.
type Request struct {
	Effect screenapi.Effect
	From   screenapi.Screen
}

// overlay covers a screen and receives the keys. It shows help or asks a question, for example.
type overlay interface {
	key(*App, tea.KeyPressMsg)
	draw(*App, canvas.Canvas)
}

// New returns a dashboard that has not received a snapshot yet.
func New(s Settings) (*App, error) {
	a := &App{
		specs: map[string]screenapi.Spec{}, tables: map[string][]screenapi.Binding{}, roots: map[string]screenapi.Screen{}, filters: map[screenapi.Screen]string{}, opened: map[screenapi.Screen]string{}, stale: map[screenapi.Screen]bool{},
		themeName: s.Theme, colors: s.Colors, mono: s.Colors == theme.NoColor, ascii: s.ASCII, own: s.Own, contexts: s.Contexts, runCommand: s.RunCommand,
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
	a.ctx = screenapi.Context{
		Snap: snapshot.EmptySnapshot(s.Now), History: &history.History{}, Now: s.Now, Namespace: s.Namespace, Words: s.Words, Compact: s.Compact || s.Preferences.Compact, User: s.User, ReadOnly: s.ReadOnly, Program: s.Program, Actions: s.Actions,
	}
	if err := a.applyPreferences(&s.Preferences); err != nil {
		return nil, err
	}
	if err := a.setTheme(cmp.Or(s.Theme, s.Preferences.Theme, "auto")); err != nil {
		return nil, err
	}
	a.stack = []screenapi.Screen{a.ensureRootScreen(a.tabs[0].Name)}
	a.sendEventToTop(screenapi.Refresh{})
	a.showNotice(s.Notice)
	return a, nil
}

func (a *App) setTheme(name string) error {
	resolved := name
	if name == "auto" && a.light {
		resolved = "light"
	}
	if own, ok := a.prefs.Themes[name]; ok {
		a.useTheme(name, own.New(name, a.colors, a.ascii))
		return nil
	}
	look, err := theme.New(resolved, a.colors, a.ascii)
	if err != nil {
		return fmt.Errorf("unknown theme %q; themes: %s", name, strings.Join(a.prefs.ThemeNames(), ", "))
	}
	a.useTheme(name, look)
	return nil
}

// useTheme sets the theme. In compact mode, it does not draw lines and bars.
func (a *App) useTheme(name string, look *theme.Theme) {
	if a.ctx.Compact {
		look = look.WithoutDrawings()
	}
	a.themeName, a.ctx.Theme = name, look
}

// compactWidth is the largest width of the layout in compact mode. It is that of a narrow terminal, which has no boxes.
const compactWidth = 99

// setCompact switches compact mode on or off.
func (a *App) setCompact(compact bool) {
	a.ctx.Compact = compact
	a.setLayoutWidth()
	_ = a.setTheme(a.themeName)
}

// setLayoutWidth sets the width on which layouts depend.
func (a *App) setLayoutWidth() {
	a.ctx.W = a.width
	if a.ctx.Compact {
		a.ctx.W = min(a.width, compactWidth)
	}
}

// SetColors sets the number of colours that the terminal supports.
func (a *App) SetColors(colors theme.Colors) {
	if !a.mono {
		a.colors = colors
		_ = a.setTheme(a.themeName)
	}
}

// SetBackground sets whether the terminal is dark.
func (a *App) SetBackground(dark bool) {
	a.light = !dark
	_ = a.setTheme(a.themeName)
}

// ensureRootScreen returns the screen of a tab. The screen is kept, so that it is unchanged when the user returns to
// it.
func (a *App) ensureRootScreen(name string) screenapi.Screen {
	if a.roots[name] == nil {
		spec := a.specs[name]
		root := a.newScreen(spec, "")
		a.roots[name] = root
		a.stale[root] = true
		if spec.Filter != "" {
			_ = root.(screenapi.Filterer).SetFilter(&a.ctx, spec.Filter) // addSavedFilters has accepted it
			a.filters[root], a.opened[root] = spec.Filter, spec.Filter
		}
	}
	return a.roots[name]
}

// isRoot reports whether a screen is kept for a tab.
func (a *App) isRoot(s screenapi.Screen) bool {
	for _, root := range a.roots {
		if root == s {
			return true
		}
	}
	return false
}

// VisibleScreen returns the visible screen.
func (a *App) VisibleScreen() screenapi.Screen { return a.stack[len(a.stack)-1] }

// Context returns the context that screens currently receive.
func (a *App) Context() *screenapi.Context { return &a.ctx }

// TakeRequests returns the pending requests and removes them from the App.
func (a *App) TakeRequests() []Request {
	out := a.out
	a.out = nil
	return out
}

// sendEventToTop sends an event to the top screen and applies the resulting effects.
func (a *App) sendEventToTop(event screenapi.Event) {
	top := a.VisibleScreen()
	if _, refresh := event.(screenapi.Refresh); refresh {
		delete(a.stale, top)
	}
	a.applyEffects(top.Update(&a.ctx, event), top)
}

// Resize sets the size of the terminal.
func (a *App) Resize(w, h int) {
	a.width, a.ctx.H = w, h
	a.setLayoutWidth()
	a.sendEventToTop(screenapi.Resize{})
}

// SetCurrentTime sets the current time.
func (a *App) SetCurrentTime(now time.Time) {
	a.ctx.Now = now
	if a.notice.Text != "" && now.Sub(a.noticeAt) >= noticeFor {
		a.notice = screenapi.Notice{}
	}
}

// SetSnapshot sets the current snapshot.
func (a *App) SetSnapshot(snap *snapshot.Snapshot) {
	a.ctx.Snap = snap
	a.recordHistory()
	a.refreshAll()
}

// refreshAll sends Refresh to the top screen and marks all other screens as stale.
func (a *App) refreshAll() {
	for _, s := range a.roots {
		a.stale[s] = true
	}
	for _, s := range a.stack {
		a.stale[s] = true
	}
	a.sendEventToTop(screenapi.Refresh{})
}

// SetLogs sets the current log view.
func (a *App) SetLogs(logs *screenapi.LogView) {
	a.ctx.Logs = logs
	a.sendEventToTop(screenapi.NewLines{})
}

// ReportDone reports the result of a Run to its screen and to the user. If the Run succeeded in part, both its message
// and its error are shown.
func (a *App) ReportDone(from screenapi.Screen, run screenapi.Run, done screenapi.Done) {
	if isChanged := done.Err == nil || done.Said != ""; isChanged {
		a.rememberChange(&run, from)
	}
	if done.Err != nil {
		before := run.Name + ": "
		if done.Said != "" {
			before = done.Said + "; but "
		}
		a.showNotice(screenapi.Notice{Text: before + formatOnOneLine(done.Err), Bad: true})
	} else if !run.Quiet && done.Said != "" {
		said := done.Said
		if run.Undo != nil {
			said += "   (" + a.ctx.KeyFor("undo", "z") + " undoes it)"
		}
		a.showNotice(screenapi.Notice{Text: said})
	}
	if from != nil && a.isOpenOrKept(from) {
		a.applyEffects(from.Update(&a.ctx, done), from)
	}
}

// formatOnOneLine converts an error to a single line of text. Joined errors are separated by semicolons.
func formatOnOneLine(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return strings.Join(lines, "; ")
}

// isOpenOrKept reports whether a screen is open or is kept for a tab.
func (a *App) isOpenOrKept(s screenapi.Screen) bool {
	return a.isRoot(s) || slices.Contains(a.stack, s)
}

// ShowNotice shows a notice in the frame.
func (a *App) ShowNotice(notice screenapi.Notice) { a.showNotice(notice) }

func (a *App) showNotice(notice screenapi.Notice) { a.notice, a.noticeAt = notice, a.ctx.Now }
