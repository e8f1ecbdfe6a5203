package tui

import "github.com/vc-batch/vc/internal/tui/screenapi"

// applyEffects applies a screen's effects. It changes the dashboard immediately and queues requests for all other
// effects.
func (a *App) applyEffects(effects []screenapi.Effect, from screenapi.Screen) {
	for _, effect := range effects {
		a.applyOneEffect(effect, from)
	}
}

func (a *App) applyOneEffect(effect screenapi.Effect, from screenapi.Screen) {
	switch e := effect.(type) {
	case screenapi.Open:
		a.openScreen(e)
	case screenapi.Back:
		a.closeScreen()
	case screenapi.SetFilter:
		if err := a.setFilter(e.Text); err != nil {
			a.showNotice(screenapi.Notice{Text: err.Error(), Bad: true})
		}
	case screenapi.Ask:
		a.overlay = &question{ask: e, from: from, line: newLine("")}
	case screenapi.Input:
		a.overlay = &input{ask: e, from: from, line: newLine(e.Value)}
	case screenapi.Choose:
		a.overlay = newChooser(e, from)
	case screenapi.Notice:
		a.showNotice(e)
	case screenapi.SetMine:
		a.ctx.Mine = e.Mine
		a.refreshAll()
	case screenapi.SetNamespace:
		a.ctx.Namespace = e.Namespace
		a.refreshAll()
	case screenapi.SetResource:
		a.ctx.Resource = e.Resource
		a.refreshAll()
	case screenapi.ToggleCompact:
		a.setCompact(!a.ctx.Compact)
		a.refreshAll()
	case screenapi.SetTheme:
		if err := a.setTheme(e.Name); err != nil {
			a.showNotice(screenapi.Notice{Text: err.Error(), Bad: true})
		}
	case screenapi.Copy:
		a.showNotice(screenapi.Notice{Text: e.What + " copied"})
		a.out = append(a.out, Request{e, from})
	case screenapi.StopLogs:
		a.ctx.Logs = nil
		a.out = append(a.out, Request{e, from})
	default:
		a.out = append(a.out, Request{e, from})
	}
}

// openScreen shows a screen: the tab if the effect has neither a target nor a filter, otherwise a new screen above the
// current one.
func (a *App) openScreen(e screenapi.Open) {
	spec, ok := a.specs[e.Screen]
	if !ok {
		a.showNotice(screenapi.Notice{Text: "no such screen: " + e.Screen, Bad: true})
		return
	}
	if e.Target == "" && e.Filter == "" && spec.Number != "" {
		a.leaveScreen()
		for _, closed := range a.stack {
			a.dropScreenState(closed)
		}
		a.stack = a.stack[:0]
		a.pushScreen(a.ensureRootScreen(spec.Name))
		return
	}
	for at, s := range a.stack {
		targeted, ok := s.(screenapi.Targeted)
		if ok && s.Name() == e.Screen && targeted.Target() == e.Target {
			for len(a.stack) > at+1 {
				a.closeScreen()
			}
			return
		}
	}
	a.leaveScreen()
	s := a.newScreen(spec, e.Target)
	a.stale[s] = true
	a.pushScreen(s)
	if e.Filter == "" {
		return
	}
	a.opened[s] = e.Filter
	if err := a.setFilter(e.Filter); err != nil {
		a.showNotice(screenapi.Notice{Text: err.Error(), Bad: true})
	}
}

func (a *App) leaveScreen() {
	top := a.VisibleScreen()
	a.applyEffects(top.Update(&a.ctx, screenapi.Left{}), top)
}

func (a *App) pushScreen(s screenapi.Screen) {
	a.stack = append(a.stack, s)
	a.enterScreen()
}

// enterScreen sends Entered to the top screen, preceded by Refresh if the screen is stale.
func (a *App) enterScreen() {
	if a.stale[a.VisibleScreen()] {
		a.sendEventToTop(screenapi.Refresh{})
	}
	a.sendEventToTop(screenapi.Entered{})
}

// closeScreen closes the top screen, unless it is a tab.
func (a *App) closeScreen() {
	if len(a.stack) < 2 {
		return
	}
	a.leaveScreen()
	top := a.VisibleScreen()
	a.dropScreenState(top)
	a.stack = a.stack[:len(a.stack)-1]
	a.enterScreen()
}

// dropScreenState drops the state of a closed screen, unless it is a tab.
func (a *App) dropScreenState(closed screenapi.Screen) {
	if a.isRoot(closed) {
		return
	}
	delete(a.filters, closed)
	delete(a.opened, closed)
	delete(a.stale, closed)
}

// setFilter filters the screen on top. If the filter is invalid, the previous one stays.
func (a *App) setFilter(text string) error {
	top, ok := a.VisibleScreen().(screenapi.Filterer)
	if !ok {
		return nil
	}
	if err := top.SetFilter(&a.ctx, text); err != nil {
		return err // the rows and the filter line still show the previous filter
	}
	if text == "" {
		delete(a.filters, a.VisibleScreen())
	} else {
		a.filters[a.VisibleScreen()] = text
	}
	return nil
}
