package tui

import "github.com/vc-batch/vc/internal/tui/screenapi"

// apply applies a screen's effects. It changes the dashboard immediately and queues requests for all other effects.
func (a *App) apply(effects []screenapi.Effect, from screenapi.Screen) {
	for _, effect := range effects {
		a.one(effect, from)
	}
}

func (a *App) one(effect screenapi.Effect, from screenapi.Screen) {
	switch e := effect.(type) {
	case screenapi.Open:
		a.open(e)
	case screenapi.Back:
		a.back()
	case screenapi.SetFilter:
		if err := a.filter(e.Text); err != nil {
			a.say(screenapi.Notice{Text: err.Error(), Bad: true})
		}
	case screenapi.Ask:
		a.overlay = &question{ask: e, from: from, line: newLine("")}
	case screenapi.Input:
		a.overlay = &input{ask: e, from: from, line: newLine(e.Value)}
	case screenapi.Choose:
		a.overlay = newChooser(e, from)
	case screenapi.Notice:
		a.say(e)
	case screenapi.SetMine:
		a.ctx.Mine = e.Mine
		a.refreshAll()
	case screenapi.SetNamespace:
		a.ctx.Namespace = e.Namespace
		a.refreshAll()
	case screenapi.SetResource:
		a.ctx.Resource = e.Resource
		a.refreshAll()
	case screenapi.SetTheme:
		if err := a.setTheme(e.Name); err != nil {
			a.say(screenapi.Notice{Text: err.Error(), Bad: true})
		}
	case screenapi.Copy:
		a.say(screenapi.Notice{Text: e.What + " copied"})
		a.out = append(a.out, Request{e, from})
	case screenapi.StopLogs:
		a.ctx.Logs = nil
		a.out = append(a.out, Request{e, from})
	default:
		a.out = append(a.out, Request{e, from})
	}
}

// open shows a screen: the tab if the effect has no target, otherwise a new screen above the current one.
func (a *App) open(e screenapi.Open) {
	spec, ok := a.specs[e.Screen]
	if !ok {
		a.say(screenapi.Notice{Text: "no such screen: " + e.Screen, Bad: true})
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
		targeted, ok := s.(screenapi.Targeted)
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
	a.apply(top.Update(&a.ctx, screenapi.Left{}), top)
}

func (a *App) push(s screenapi.Screen) {
	a.stack = append(a.stack, s)
	a.enter()
}

// enter sends Entered to the top screen, preceded by Refresh if the screen is stale.
func (a *App) enter() {
	if a.stale[a.Top()] {
		a.tell(screenapi.Refresh{})
	}
	a.tell(screenapi.Entered{})
}

// back closes the top screen, unless it is a tab.
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

// forget drops the state of a closed screen, unless it is a tab.
func (a *App) forget(closed screenapi.Screen) {
	if a.roots[closed.Name()] == closed {
		return
	}
	delete(a.filters, closed)
	delete(a.stale, closed)
}

// filter filters the screen on top. If the filter is invalid, the previous one stays.
func (a *App) filter(text string) error {
	top, ok := a.Top().(screenapi.Filterer)
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
