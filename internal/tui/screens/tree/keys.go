package tree

import (
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/jobactions"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/document"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// ScreenSpec returns the description of the screen.
func ScreenSpec() screenapi.Spec {
	return screenapi.Spec{Name: screenapi.Tree, New: New, Keys: keyBindings()}
}

func keyBindings() []screenapi.Binding {
	name := screenapi.Tree
	rows := func(s screenapi.Screen) widget.Rows { return &s.(*Tree).table }
	isOpenable := screenapi.GuardForScreen(func(t *Tree, _ *screenapi.Context) string {
		r, ok := t.table.Selected()
		switch {
		case !ok:
			return "no row is selected"
		case r.pod == nil && !r.isFoldable():
			return r.title + " has no pods"
		}
		return ""
	})
	keys := []screenapi.Binding{
		{Screen: name, Key: "enter", Also: []string{"-"}, Name: "log or fold", Help: "show the log of the pod under the cursor; on other rows, hide or show the rows below", Footer: 4, Guard: isOpenable, Do: screenapi.DoForScreen((*Tree).openOrFold)},
		{Screen: name, Key: "t", Name: "close", Help: "close the tree", Footer: 45, Do: screenapi.DoForScreen(func(*Tree, *screenapi.Context) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Back{}}
		})},
		{Screen: name, Key: "w", Name: "why", Help: "show why the job is waiting, its estimated start, and changes that would start it", Footer: 5, Do: screenapi.DoForScreen(func(t *Tree, _ *screenapi.Context) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Open{Screen: screenapi.Explain, Target: string(t.uid)}}
		})},
		{Screen: name, Key: "s", Also: []string{"a"}, Name: "shell", Help: "open a shell in the pod under the cursor; exit it to return", Footer: 6, Writes: true, Guard: screenapi.GuardForScreen((*Tree).shellRefusal),
			Do: screenapi.DoForScreen(func(t *Tree, ctx *screenapi.Context) []screenapi.Effect {
				return []screenapi.Effect{widget.OpenShell(ctx.Actions, t.selectedPod())}
			})},
	}
	keys = append(keys, document.OpenBindings(name, func(s screenapi.Screen) (kind, namespace, object string) {
		return s.(*Tree).selectedObject()
	})...)
	keys = append(keys, widget.TextKeys(name, rows)...)
	keys = append(keys, widget.FirstRowKey(name, rows), widget.ColumnsKey(name, rows))
	return append(keys, jobactions.BindingsFor(name, func(_ *screenapi.Context, s screenapi.Screen) []*snapshot.Job {
		t := s.(*Tree)
		if t.job == nil || t.gone {
			return nil
		}
		return []*snapshot.Job{t.job}
	})...)
}

// shellRefusal returns the reason why no shell can be opened, or "".
func (t *Tree) shellRefusal(*screenapi.Context) string {
	switch p := t.selectedPod(); {
	case p == nil:
		return "the row under the cursor is not a pod"
	case p.Exited:
		return p.Name + " has ended"
	case p.Started.IsZero():
		return p.Name + " has not started"
	}
	return ""
}
