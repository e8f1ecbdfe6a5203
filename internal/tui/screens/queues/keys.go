package queues

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

func rowsIn(s screenapi.Screen) widget.Rows {
	if q, ok := s.(*Queues); ok {
		return &q.table
	}
	return nil
}

// keyTable returns the keys of the screen.
func keyTable() []screenapi.Binding {
	name := screenapi.Queues
	own := []screenapi.Binding{
		{Screen: name, Key: "enter", Name: "jobs", Help: "the jobs of the queue and its child queues", Footer: 10, Do: screenapi.On((*Queues).jobs)},
		{Screen: name, Key: "o", Name: "open", Help: "open the queue, so that it accepts jobs again; asks first", Footer: 20, Writes: true,
			Guard: screenapi.When((*Queues).cannotOpen), Do: screenapi.On((*Queues).open)},
		{Screen: name, Key: "C", Name: "close", Help: "close the queue and its child queues, so that they accept no new jobs; asks first", Footer: 21, Writes: true,
			Guard: screenapi.When((*Queues).cannotClose), Do: screenapi.On((*Queues).close)},
		{Screen: name, Key: "e", Name: "edit", Help: "change weight, guarantee, deserved and capability of the queue; asks first", Footer: 22, Writes: true,
			Guard: screenapi.When((*Queues).cannotEdit), Do: screenapi.On((*Queues).edit)},
		{Screen: name, Key: "m", Name: "resource", Help: "show the next resource, here and in the heat maps", Footer: 23,
			Do: func(ctx *screenapi.Context, _ screenapi.Screen) []screenapi.Effect {
				return []screenapi.Effect{screenapi.SetResource{Resource: ctx.NextResource()}}
			}},
	}
	return append(append(own, widget.RowKeys(name, rowsIn)...), widget.TopKey(name, rowsIn))
}

// family returns the names of a queue and its descendants.
func (q *Queues) family(r *row) []string {
	names := []string{r.Name}
	for _, below := range q.forest.Below(r.Name) {
		names = append(names, below.Name)
	}
	return names
}

func (q *Queues) jobs(*screenapi.Context) []screenapi.Effect {
	r := q.selected()
	if r == nil {
		return nil
	}
	if r.Name == keys.RootQueue {
		return []screenapi.Effect{screenapi.Open{Screen: screenapi.Jobs}}
	}
	return []screenapi.Effect{screenapi.Open{Screen: screenapi.Jobs}, screenapi.SetFilter{Text: "queue=" + r.Name}}
}

const (
	nothingSelected = "there is no queue under the cursor"
	nobodyToAsk     = "not connected: nothing can be changed"
)

// cannot returns the reason why no action is possible on the queue under the cursor, or "".
func (q *Queues) cannot(ctx *screenapi.Context) string {
	switch {
	case q.selected() == nil:
		return nothingSelected
	case ctx.Actions == nil:
		return nobodyToAsk
	}
	return ""
}

func (q *Queues) cannotOpen(ctx *screenapi.Context) string {
	if why := q.cannot(ctx); why != "" {
		return why
	}
	r := q.selected()
	if r.State == schedulingv1beta1.QueueStateOpen {
		return fmt.Sprintf("queue %s is open", r.Name)
	}
	return refused(ctx, r, true)
}

// refused returns the reason why the queue controller would reject opening or closing a queue, or "". The command
// line uses the same rule.
func refused(ctx *screenapi.Context, r *row, open bool) string {
	var parent *schedulingv1beta1.Queue
	if above := ctx.Snap.Queue(r.Parent); above != nil {
		parent = above.Object
	}
	if why := clusterops.SwitchRefused(r.Object, parent, open); why != nil {
		return why.What
	}
	return ""
}

func (q *Queues) cannotClose(ctx *screenapi.Context) string {
	if why := q.cannot(ctx); why != "" {
		return why
	}
	r := q.selected()
	if r.State == schedulingv1beta1.QueueStateClosed || r.State == schedulingv1beta1.QueueStateClosing {
		return fmt.Sprintf("queue %s is %s", r.Name, r.State)
	}
	return refused(ctx, r, false)
}

func (q *Queues) cannotEdit(ctx *screenapi.Context) string { return q.cannot(ctx) }

func (q *Queues) open(ctx *screenapi.Context) []screenapi.Effect {
	r := q.selected()
	return q.ask(ctx, r, screenapi.OpenIt, fmt.Sprintf("Open queue %s?", r.Name), []string{"It accepts jobs again."})
}

func (q *Queues) close(ctx *screenapi.Context) []screenapi.Effect {
	r := q.selected()
	question := fmt.Sprintf("Close queue %s?", r.Name)
	if below := q.family(r)[1:]; len(below) > 0 {
		question = fmt.Sprintf("Close queue %s and its %s (%s)?", r.Name, plural(len(below), "child queue"), strings.Join(below, ", "))
	}
	fate := "New jobs are rejected."
	if who := occupants(r); who != "" {
		fate = who + ": they stay. New jobs are rejected."
	}
	return q.ask(ctx, r, screenapi.CloseIt, question, []string{fate, "The queue is Closing until the last of its jobs has ended."})
}

// occupants describes the jobs in a queue, for example "31 running jobs and 1 waiting job". It returns "" if there
// are none.
func occupants(r *row) string {
	var parts []string
	if r.Running > 0 {
		parts = append(parts, plural(r.Running, "running job"))
	}
	if r.Waiting > 0 {
		parts = append(parts, plural(r.Waiting, "waiting job"))
	}
	return strings.Join(parts, " and ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return widget.Count(n) + " " + noun + "s"
}

func (q *Queues) ask(ctx *screenapi.Context, r *row, verb screenapi.Verb, question string, lines []string) []screenapi.Effect {
	actions, name := ctx.Actions, r.Name
	return []screenapi.Effect{screenapi.Ask{Question: question, Lines: lines, Then: []screenapi.Effect{screenapi.Run{
		Name: string(verb) + " queue " + name,
		Do:   func(ctx context.Context) (string, error) { return actions.Queue(ctx, verb, name) },
	}}}}
}

func (q *Queues) edit(ctx *screenapi.Context) []screenapi.Effect {
	r := q.selected()
	actions, name, before := ctx.Actions, r.Name, limitsOf(&r.Object.Spec)
	return []screenapi.Effect{screenapi.Input{
		Question: "Limits of queue " + name,
		Lines:    []string{"Change the weight or the limits, for example " + example(r, string(q.resource))},
		Value:    before.text(),
		Check: func(text string) error {
			_, err := parseLimits(text)
			return err
		},
		Then: func(text string) []screenapi.Effect {
			after, err := parseLimits(text)
			if err != nil {
				return []screenapi.Effect{screenapi.Notice{Text: err.Error(), Bad: true}}
			}
			edit, changes := before.change(after)
			if len(changes) == 0 {
				return []screenapi.Effect{screenapi.Notice{Text: "queue " + name + " was not changed"}}
			}
			lines := slices.Clone(changes)
			if who := occupants(r); who != "" {
				lines = append(lines, who+" in it.")
			}
			return []screenapi.Effect{screenapi.Ask{Question: fmt.Sprintf("Change %s of queue %s?", plural(len(changes), "limit"), name), Lines: lines,
				Then: []screenapi.Effect{screenapi.Run{Name: "edit queue " + name,
					Do: func(ctx context.Context) (string, error) { return actions.EditQueue(ctx, name, edit) }}}}}
		},
	}}
}

func example(r *row, resource string) string {
	return fmt.Sprintf("deserved=%s=%d", cmp.Or(resource, "cpu"), max(1, r.Object.Spec.Weight))
}
