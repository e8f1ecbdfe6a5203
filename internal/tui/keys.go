package tui

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// commonKeys returns the keys that work on all screens. Keys that change the App itself are handled by functions of
// the App, because bindings have access only to screens.
func (a *App) commonKeys() []screenapi.Binding {
	open := func(name string) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
		return func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Open{Screen: name}}
		}
	}
	own := func(do func()) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
		return func(*screenapi.Context, screenapi.Screen) []screenapi.Effect { do(); return nil }
	}
	e := screenapi.Everywhere
	keys := []screenapi.Binding{
		{Screen: e, Key: "?", Name: "help", Help: "show the keys of this screen", Footer: 1, Do: own(func() { a.overlay = &help{} })},
		{Screen: e, Key: "/", Name: "filter", Help: "show only matching rows as you type", Footer: 2, Guard: a.noFilterReason, Do: own(func() { a.overlay = a.newFilterLine() })},
		{Screen: e, Key: ":", Name: "command", Help: "go to a screen, job, queue or node, or run any action", Footer: 3, Do: own(func() { a.overlay = newPaletteBox(a) })},
	}
	for _, tab := range a.tabs {
		keys = append(keys, screenapi.Binding{Screen: e, Key: tab.Number, Name: strings.ToLower(tab.Tab), Help: "open the " + tab.Tab + " screen", Do: open(tab.Name)})
	}
	return append(keys,
		screenapi.Binding{Screen: e, Key: "esc", Name: "back", Help: "clear the marks or the filter, or close the screen", Do: own(a.handleEscape)},
		screenapi.Binding{Screen: e, Key: "M", Name: "mine", Help: "switch between my jobs and all jobs", Do: func(ctx *screenapi.Context, _ screenapi.Screen) []screenapi.Effect {
			return []screenapi.Effect{screenapi.SetMine{Mine: !ctx.Mine}}
		}},
		screenapi.Binding{Screen: e, Key: "0", Name: "all namespaces", Help: "switch between all namespaces and my namespace", Do: func(ctx *screenapi.Context, _ screenapi.Screen) []screenapi.Effect {
			if ctx.Namespace == "" {
				return []screenapi.Effect{screenapi.SetNamespace{Namespace: a.own}}
			}
			return []screenapi.Effect{screenapi.SetNamespace{}}
		}},
		screenapi.Binding{Screen: e, Key: "y", Name: "copy", Help: "copy the screen as text to the terminal's clipboard", Do: func(ctx *screenapi.Context, s screenapi.Screen) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Copy{Text: s.Twin(ctx), What: s.Crumb(ctx)}}
		}},
		screenapi.Binding{Screen: e, Key: "z", Name: "undo", Help: "within 30 seconds, undo a hold, release, suspend, cordon, uncordon, priority change or queue change", Writes: true,
			Guard: a.undoRefusal, Do: own(a.undoLastChange)},
		screenapi.Binding{Screen: e, Key: "ctrl+l", Name: "redraw", Help: "redraw the screen; the data is always live", Do: func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Redraw{}}
		}},
		screenapi.Binding{Screen: e, Key: "ctrl+z", Name: "background", Help: "return to the shell; fg resumes the dashboard", Do: func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
			return []screenapi.Effect{screenapi.SuspendProgram{}}
		}},
		screenapi.Binding{Screen: e, Key: "q", Also: []string{"ctrl+c"}, Name: "quit", Help: "quit the dashboard", Footer: 90, Do: func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Quit{}}
		}},
	)
}

func (a *App) noFilterReason(_ *screenapi.Context, s screenapi.Screen) string {
	if _, ok := s.(screenapi.Filterer); !ok {
		return "this screen has no filter"
	}
	return ""
}

// screenKeys returns the keys of a screen: its own keys, followed by the common ones. The caller must not modify it.
func (a *App) screenKeys(name string) []screenapi.Binding {
	if a.tables[name] == nil {
		keys := append(slices.Clone(a.specs[name].Keys), a.customKeys(name)...)
		a.tables[name] = a.withCustomKeys(append(keys, a.commonKeys()...))
	}
	return a.tables[name]
}

// AllBindings returns the keys of the whole dashboard: the common keys, followed by each screen's own keys.
func (a *App) AllBindings() []screenapi.Binding {
	all := a.commonKeys()
	for _, tab := range a.tabs {
		all = append(all, tab.Keys...)
	}
	rest := make([]string, 0, len(a.specs))
	for name, spec := range a.specs {
		if spec.Number == "" {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	for _, name := range rest {
		all = append(all, a.specs[name].Keys...)
	}
	return all
}

// KeyName returns the display name of a key, such as ctrl-d or pgdn.
func KeyName(key string) string {
	switch key {
	case "pgdown":
		return "pgdn"
	case "delete":
		return "del"
	}
	return strings.ReplaceAll(key, "+", "-")
}

// HandleKey handles a key. No key of the dashboard uses alt: outside of input lines, alt with a key is esc followed by
// that key, because terminals send the same bytes for both.
func (a *App) HandleKey(key tea.KeyPressMsg) {
	if key.Mod.Contains(tea.ModAlt) && (key.Code == tea.KeyEscape || !a.isTyping()) {
		a.HandleKey(tea.KeyPressMsg{Code: tea.KeyEscape})
		key.Mod &^= tea.ModAlt
		if unicode.IsPrint(key.Code) && key.Text == "" && key.Mod == 0 {
			key.Text = string(key.Code)
		}
	}
	a.notice = screenapi.Notice{}
	name := key.String()
	switch name {
	case "ctrl+c":
		a.out = append(a.out, Request{screenapi.Quit{}, nil})
		return
	case "ctrl+z":
		a.out = append(a.out, Request{screenapi.SuspendProgram{}, nil})
		return
	}
	if a.isTooSmall() { // the user cannot see the effect of a key, but can always quit
		if name == "q" && a.overlay == nil {
			a.out = append(a.out, Request{screenapi.Quit{}, nil})
		}
		return
	}
	if a.overlay != nil {
		a.overlay.key(a, key)
		return
	}
	if reader, ok := a.VisibleScreen().(screenapi.Reader); ok && reader.Reading() {
		a.sendEventToTop(screenapi.Typed{Key: name, Text: key.Key().Text})
		return
	}
	for _, binding := range a.screenKeys(a.VisibleScreen().Name()) {
		if binding.Key == name || slices.Contains(binding.Also, name) {
			a.runBinding(&binding)
			return
		}
	}
}

// HandlePaste types text into an input line. If none exists, it does nothing, because pasted letters are not meant as
// keys.
func (a *App) HandlePaste(text string) {
	for _, r := range text {
		if a.isTyping() && r >= ' ' {
			a.HandleKey(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

// isTyping reports whether letters are typed into an input line instead of being keys.
func (a *App) isTyping() bool {
	switch o := a.overlay.(type) {
	case *filterLine, *paletteBox, *input:
		return true
	case *question:
		return o.ask.Expect != ""
	case nil:
		reader, ok := a.VisibleScreen().(screenapi.Reader)
		return ok && reader.Reading()
	}
	return false
}

// runBinding carries out the action of a key if it is permitted.
func (a *App) runBinding(binding *screenapi.Binding) {
	top := a.VisibleScreen()
	if why := a.refusalReason(binding); why != "" {
		a.showNotice(screenapi.Notice{Text: why, Bad: true})
		return
	}
	a.applyEffects(binding.Do(&a.ctx, top), top)
}

// refusalReason returns the reason why a key currently has no effect, or "".
func (a *App) refusalReason(binding *screenapi.Binding) string {
	switch {
	case binding.Writes && a.ctx.ReadOnly:
		return binding.Name + " is disabled by --readonly"
	case binding.Writes && a.ctx.Actions == nil:
		return binding.Name + ": not connected"
	case binding.Guard != nil:
		return binding.Guard(&a.ctx, a.VisibleScreen())
	}
	return ""
}

// handleEscape first clears what the screen can clear, such as marks. Then it restores the filter with which the screen
// was opened, which is empty for most screens. If there is nothing to clear, it closes the screen.
func (a *App) handleEscape() {
	top := a.VisibleScreen()
	if s, ok := top.(screenapi.Escaper); ok && s.Escape() {
		return
	}
	if a.filters[top] != a.opened[top] {
		_ = a.setFilter(a.opened[top])
		return
	}
	a.closeScreen()
}

// HandleMouse handles a click or a turn of the wheel.
func (a *App) HandleMouse(m screenapi.Mouse) {
	if a.overlay != nil || a.isTooSmall() {
		return
	}
	if m.Kind == screenapi.Click || m.Kind == screenapi.DoubleClick {
		a.notice = screenapi.Notice{}
		for _, p := range a.places {
			if m.Y == p.y && m.X >= p.from && m.X < p.to {
				a.pressKey(p.key)
				return
			}
		}
	}
	a.sendEventToTop(m)
}

// pressKey carries out the action that a key has on the top screen.
func (a *App) pressKey(key string) {
	for _, binding := range a.screenKeys(a.VisibleScreen().Name()) {
		if binding.Key == key {
			a.runBinding(&binding)
			return
		}
	}
}
