package tui

import (
	"time"

	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// undoFor is how long a change can be undone.
const undoFor = 30 * time.Second

// lastChange is the last change that can be undone, and the time and the screen of that change.
type lastChange struct {
	undo func(*screenapi.Context) *screenapi.Run
	at   time.Time
	from screenapi.Screen
}

// rememberChange stores the Run that reverts a change, if it can be reverted.
func (a *App) rememberChange(run *screenapi.Run, from screenapi.Screen) {
	if run.Undo != nil {
		a.last = lastChange{undo: run.Undo, at: a.ctx.Now, from: from}
	}
}

// undoRefusal returns the reason why there is nothing to undo, or "".
func (a *App) undoRefusal(*screenapi.Context, screenapi.Screen) string {
	switch {
	case a.last.undo == nil:
		return "nothing to undo; undo reverts hold, release, suspend, cordon, uncordon, and changes of priorities and queues"
	case a.ctx.Now.Sub(a.last.at) >= undoFor:
		return "the last change is more than 30 seconds old, so this key can no longer undo it"
	}
	return ""
}

// undoLastChange reverts the last change.
func (a *App) undoLastChange() {
	last := a.last
	a.last = lastChange{}
	a.applyEffects([]screenapi.Effect{*last.undo(&a.ctx)}, last.from)
}
