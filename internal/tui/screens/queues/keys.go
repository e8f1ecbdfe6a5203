package queues

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/document"
	"github.com/vc-batch/vc/internal/tui/screens/history"
	"github.com/vc-batch/vc/internal/tui/widget"
)

func tableRows(s screenapi.Screen) widget.Rows {
	if q, ok := s.(*Queues); ok {
		return &q.table
	}
	return nil
}

// keyBindings returns the keys of the screen.
func keyBindings() []screenapi.Binding {
	name := screenapi.Queues
	own := []screenapi.Binding{
		{Screen: name, Key: "enter", Name: "jobs", Help: "show the jobs of the queue and its child queues", Footer: 10, Do: screenapi.DoForScreen((*Queues).openJobsOfQueue)},
		{Screen: name, Key: "o", Name: "open", Help: "open the queue, so that it accepts jobs again; asks for confirmation", Footer: 20, Writes: true,
			Guard: screenapi.GuardForScreen((*Queues).openRefusal), Do: screenapi.DoForScreen((*Queues).confirmOpen)},
		{Screen: name, Key: "C", Name: "close", Help: "close the queue and its child queues, so that they accept no new jobs; asks for confirmation", Footer: 21, Writes: true,
			Guard: screenapi.GuardForScreen((*Queues).closeRefusal), Do: screenapi.DoForScreen((*Queues).confirmClose)},
		{Screen: name, Key: "e", Name: "edit", Help: "change weight, guarantee, deserved and capability of the queue; asks for confirmation", Footer: 22, Writes: true,
			Guard: screenapi.GuardForScreen((*Queues).editRefusal), Do: screenapi.DoForScreen((*Queues).editLimits)},
		{Screen: name, Key: "ctrl+e", Name: "editor", Help: "edit the queue in your editor, with the same checks as vcctl queue edit", Writes: true,
			Guard: screenapi.GuardForScreen((*Queues).editRefusal), Do: screenapi.DoForScreen((*Queues).openEditor)},
		{Screen: name, Key: "m", Name: "resource", Help: "show the next resource, here and in the heat maps", Footer: 23,
			Do: func(ctx *screenapi.Context, _ screenapi.Screen) []screenapi.Effect {
				return []screenapi.Effect{screenapi.SetResource{Resource: ctx.NextResource()}}
			}},
		history.OpenBinding(name, func(s screenapi.Screen) string {
			if r := s.(*Queues).selectedQueue(); r != nil {
				return r.Name
			}
			return ""
		}),
	}
	own = append(own, document.OpenBindings(name, func(s screenapi.Screen) (kind, namespace, object string) {
		if r := s.(*Queues).selectedQueue(); r != nil {
			return "Queue", "", r.Name
		}
		return "", "", ""
	})...)
	own = append(append(own, widget.RowKeys(name, tableRows)...), widget.FirstRowKey(name, tableRows))
	return append(own, widget.SortKeys(name, tableRows, (&Queues{}).tableColumns(), own)...)
}

// namesBelow returns the names of a queue and its descendants.
func (q *Queues) namesBelow(r *row) []string {
	names := []string{r.Name}
	for _, below := range q.forest.DescendantsOf(r.Name) {
		names = append(names, below.Name)
	}
	return names
}

func (q *Queues) openJobsOfQueue(*screenapi.Context) []screenapi.Effect {
	r := q.selectedQueue()
	if r == nil {
		return nil
	}
	if r.Name == keys.RootQueue {
		return []screenapi.Effect{screenapi.Open{Screen: screenapi.Jobs}}
	}
	return []screenapi.Effect{screenapi.Open{Screen: screenapi.Jobs, Filter: "queue=" + r.Name}}
}

const (
	nothingSelected = "no queue is selected"
	nobodyToAsk     = "not connected to the cluster: changes are not possible"
)

// actionRefusal returns the reason why no action is possible on the queue under the cursor, or "".
func (q *Queues) actionRefusal(ctx *screenapi.Context) string {
	switch {
	case q.selectedQueue() == nil:
		return nothingSelected
	case ctx.Actions == nil:
		return nobodyToAsk
	}
	return ""
}

func (q *Queues) openRefusal(ctx *screenapi.Context) string {
	if why := q.actionRefusal(ctx); why != "" {
		return why
	}
	r := q.selectedQueue()
	if r.State == schedulingv1beta1.QueueStateOpen {
		return fmt.Sprintf("queue %s is open", r.Name)
	}
	return switchRefused(ctx, r, true)
}

// switchRefused returns the reason why the queue controller would reject opening or closing a queue, or "". The command
// line uses the same rule.
func switchRefused(ctx *screenapi.Context, r *row, open bool) string {
	var parent *schedulingv1beta1.Queue
	if above := ctx.Snap.Queue(r.Parent); above != nil {
		parent = above.Object
	}
	if why := clusterops.SwitchRefused(r.Object, parent, open); why != nil {
		return why.What
	}
	return ""
}

func (q *Queues) closeRefusal(ctx *screenapi.Context) string {
	if why := q.actionRefusal(ctx); why != "" {
		return why
	}
	r := q.selectedQueue()
	if r.State == schedulingv1beta1.QueueStateClosed || r.State == schedulingv1beta1.QueueStateClosing {
		return fmt.Sprintf("queue %s is %s", r.Name, r.State)
	}
	return switchRefused(ctx, r, false)
}

func (q *Queues) editRefusal(ctx *screenapi.Context) string { return q.actionRefusal(ctx) }

func (q *Queues) confirmOpen(ctx *screenapi.Context) []screenapi.Effect {
	r := q.selectedQueue()
	return q.confirmSwitch(ctx, r, screenapi.OpenIt, fmt.Sprintf("Open queue %s?", r.Name), []string{"The queue will accept jobs again."})
}

func (q *Queues) confirmClose(ctx *screenapi.Context) []screenapi.Effect {
	r := q.selectedQueue()
	question := fmt.Sprintf("Close queue %s?", r.Name)
	if below := q.namesBelow(r)[1:]; len(below) > 0 {
		question = fmt.Sprintf("Close queue %s and its %s (%s)?", r.Name, countWithNoun(len(below), "child queue"), strings.Join(below, ", "))
	}
	fate := "New jobs will be rejected."
	if who := describeJobs(r); who != "" {
		fate = who + " will stay in the queue. New jobs will be rejected."
	}
	return q.confirmSwitch(ctx, r, screenapi.CloseIt, question, []string{fate, "The queue stays in state Closing until its last job ends."})
}

// describeJobs describes the jobs in a queue, for example "31 running jobs and 1 waiting job". It returns "" if there
// are none.
func describeJobs(r *row) string {
	var parts []string
	if r.Running > 0 {
		parts = append(parts, countWithNoun(r.Running, "running job"))
	}
	if r.Waiting > 0 {
		parts = append(parts, countWithNoun(r.Waiting, "waiting job"))
	}
	return strings.Join(parts, " and ")
}

func countWithNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return widget.FormatCount(n) + " " + noun + "s"
}

func (q *Queues) confirmSwitch(ctx *screenapi.Context, r *row, verb screenapi.Verb, question string, lines []string) []screenapi.Effect {
	undo := screenapi.OpenIt
	if verb == screenapi.OpenIt {
		undo = screenapi.CloseIt
	}
	run := runSwitch(ctx.Actions, verb, r.Name)
	name := r.Name
	run.Undo = func(ctx *screenapi.Context) *screenapi.Run { return runSwitch(ctx.Actions, undo, name) }
	return []screenapi.Effect{screenapi.Ask{Question: question, Lines: lines, Then: []screenapi.Effect{*run}}}
}

// runSwitch returns the Run that opens or closes a queue.
func runSwitch(actions screenapi.Actions, verb screenapi.Verb, name string) *screenapi.Run {
	return &screenapi.Run{Name: string(verb) + " queue " + name, Do: func(ctx context.Context) (string, error) { return actions.Queue(ctx, verb, name) }}
}

// openEditor opens the selected queue in the user's editor.
func (q *Queues) openEditor(ctx *screenapi.Context) []screenapi.Effect {
	name, edit := q.selectedQueue().Name, ctx.Actions.EditQueueObject
	return []screenapi.Effect{screenapi.Shell{Name: "edit queue " + name, Do: func(ctx context.Context, in io.Reader, out, errOut io.Writer) (string, error) {
		return edit(ctx, name, in, out, errOut)
	}}}
}

func (q *Queues) editLimits(ctx *screenapi.Context) []screenapi.Effect {
	r := q.selectedQueue()
	actions, name, before := ctx.Actions, r.Name, limitsFromSpec(&r.Object.Spec)
	return []screenapi.Effect{screenapi.Input{
		Question: "Limits of queue " + name,
		Lines:    []string{"Change the weight or the limits, for example " + exampleLimits(r, string(q.resource))},
		Value:    before.formatLimits(),
		Check: func(text string) error {
			_, err := parseLimits(text)
			return err
		},
		Then: func(text string) []screenapi.Effect {
			after, err := parseLimits(text)
			if err != nil {
				return []screenapi.Effect{screenapi.Notice{Text: err.Error(), Bad: true}}
			}
			edit, changes := before.changesFromTo(after)
			revert, _ := after.changesFromTo(before)
			if len(changes) == 0 {
				return []screenapi.Effect{screenapi.Notice{Text: "queue " + name + " was not changed"}}
			}
			lines := slices.Clone(changes)
			if who := describeJobs(r); who != "" {
				lines = append(lines, who+" in it.")
			}
			run := runEdit(actions, name, edit)
			run.Undo = func(ctx *screenapi.Context) *screenapi.Run { return runEdit(ctx.Actions, name, revert) }
			return []screenapi.Effect{screenapi.Ask{Question: fmt.Sprintf("Change %s of queue %s?", countWithNoun(len(changes), "limit"), name), Lines: lines, Then: []screenapi.Effect{*run}}}
		},
	}}
}

// runEdit returns the Run that changes the limits of a queue.
func runEdit(actions screenapi.Actions, name string, edit screenapi.QueueEdit) *screenapi.Run {
	return &screenapi.Run{Name: "edit queue " + name, Do: func(ctx context.Context) (string, error) { return actions.EditQueue(ctx, name, edit) }}
}

func exampleLimits(r *row, resource string) string {
	return fmt.Sprintf("deserved=%s=%d", cmp.Or(resource, "cpu"), max(1, r.Object.Spec.Weight))
}
