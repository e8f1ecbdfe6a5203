package tui

import "github.com/vc-batch/vc/internal/tui/screen"

// apply does what a screen wants: what concerns the dashboard at once, what concerns
// the world by a request.
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

// open shows a screen: a tab when nothing particular is meant, else one above.
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

// enter tells the screen on top that it is shown.
func (a *App) enter() {
	if a.stale[a.Top()] {
		a.tell(screen.Refresh{})
	}
	a.tell(screen.Entered{})
}

// back closes the screen on top; a tab stays.
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

// forget lets go of a screen that is closed; those of tabs are kept as they were left.
func (a *App) forget(closed screen.Screen) {
	if a.roots[closed.Name()] == closed {
		return
	}
	delete(a.filters, closed)
	delete(a.stale, closed)
}

// filter filters the screen on top; one that cannot be read leaves the filter as it was.
func (a *App) filter(text string) error {
	top, ok := a.Top().(screen.Filterer)
	if !ok {
		return nil
	}
	if err := top.SetFilter(&a.ctx, text); err != nil {
		return err // the rows are still those of the filter before, and so is what the line says
	}
	if text == "" {
		delete(a.filters, a.Top())
	} else {
		a.filters[a.Top()] = text
	}
	return nil
}
