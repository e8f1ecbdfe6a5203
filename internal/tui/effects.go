package tui

import "github.com/vc-batch/vc/internal/tui/screen"

// apply applies a screen's effects: it changes the dashboard at once, and queues requests for all other effects.
func (a *App) apply(effects []screen.Effect, from screen.Screen) {
	for _, effect := range effects {
		a.one(effect, from)
	}
}

func (a *App) one(effect screen.Effect, from screen.Screen) {
	switch e := effect.(type) {
	case screen.Open:
		a.open(e)
	case screen.Back:
		a.back()
	case screen.SetFilter:
		if err := a.filter(e.Text); err != nil {
			a.say(screen.Notice{Text: err.Error(), Bad: true})
		}
	case screen.Ask:
		a.overlay = &question{ask: e, from: from, line: newLine("")}
	case screen.Input:
		a.overlay = &input{ask: e, from: from, line: newLine(e.Value)}
	case screen.Choose:
		a.overlay = newChooser(e, from)
	case screen.Notice:
		a.say(e)
	case screen.SetMine:
		a.ctx.Mine = e.Mine
		a.refreshAll()
	case screen.SetNamespace:
		a.ctx.Namespace = e.Namespace
		a.refreshAll()
	case screen.SetResource:
		a.ctx.Resource = e.Resource
		a.refreshAll()
	case screen.SetTheme:
		if err := a.setTheme(e.Name); err != nil {
			a.say(screen.Notice{Text: err.Error(), Bad: true})
		}
	case screen.Copy:
		a.say(screen.Notice{Text: e.What + " copied"})
		a.out = append(a.out, Request{e, from})
	case screen.StopLogs:
		a.ctx.Logs = nil
		a.out = append(a.out, Request{e, from})
	default:
		a.out = append(a.out, Request{e, from})
	}
}

// open shows a screen: the tab if there is no target, otherwise a new screen above the current one.
func (a *App) open(e screen.Open) {
	spec, ok := a.specs[e.Screen]
	if !ok {
		a.say(screen.Notice{Text: "there is no screen " + e.Screen, Bad: true})
		return
	}
	if e.Target == "" && spec.Number != "" {
		a.leave()
		for _, closed := range a.stack {
			a.forget(closed)
		}
		a.stack = a.stack[:0]
		a.push(a.root(spec.Name))
		return
	}
	for at, s := range a.stack {
		targeted, ok := s.(screen.Targeted)
		if ok && s.Name() == e.Screen && targeted.Target() == e.Target {
			for len(a.stack) > at+1 {
				a.back()
			}
			return
		}
	}
	a.leave()
	s := spec.New(e.Target)
	a.stale[s] = true
	a.push(s)
}

func (a *App) leave() {
	top := a.Top()
	a.apply(top.Update(&a.ctx, screen.Left{}), top)
}

func (a *App) push(s screen.Screen) {
	a.stack = append(a.stack, s)
	a.enter()
}

// enter sends Entered to the screen on top, and Refresh before if the screen is stale.
func (a *App) enter() {
	if a.stale[a.Top()] {
		a.tell(screen.Refresh{})
	}
	a.tell(screen.Entered{})
}

// back closes the screen on top. A tab stays.
func (a *App) back() {
	if len(a.stack) < 2 {
		return
	}
	a.leave()
	top := a.Top()
	a.forget(top)
	a.stack = a.stack[:len(a.stack)-1]
	a.enter()
}

// forget drops the state of a closed screen. Tabs keep their state.
func (a *App) forget(closed screen.Screen) {
	if a.roots[closed.Name()] == closed {
		return
	}
	delete(a.filters, closed)
	delete(a.stale, closed)
}

// filter filters the screen on top. If the filter is invalid, the previous one stays.
func (a *App) filter(text string) error {
	top, ok := a.Top().(screen.Filterer)
	if !ok {
		return nil
	}
	if err := top.SetFilter(&a.ctx, text); err != nil {
		return err // the rows and the filter line still show the previous filter
	}
	if text == "" {
		delete(a.filters, a.Top())
	} else {
		a.filters[a.Top()] = text
	}
	return nil
}
