package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/plan"
)

// forecastTime bounds the wait for the scheduler's word about a change that waits to be
// confirmed. Without an answer the counts of the queues' status are told.
const forecastTime = 3 * time.Second

// maxTold is how many jobs an effect names.
const maxTold = 5

// effect is a change of queues that wants to be told before it is made.
type effect struct {
	f *cli.Factory
	// before are the queues as they are, after as they would be.
	before, after []*schedulingv1beta1.Queue
	// fate is what becomes of what runs and waits in a queue, whatever the scheduler says; it may be empty.
	fate string
	// unthinkable says that no plan can be made of it: the queues would not exist any more.
	unthinkable bool
}

// lines says, a line a queue, what runs in it and what would become of that; then who
// else would start or go. Nothing is said of queues in which nothing runs or waits. Only
// with ask the scheduler is asked; else, and when it does not answer, counts are all there is.
func (e *effect) lines(ctx context.Context, ask bool) []string {
	var busyOnes []*schedulingv1beta1.Queue
	for _, q := range e.before {
		if busy(q) != "" {
			busyOnes = append(busyOnes, q)
		}
	}
	if len(busyOnes) == 0 {
		return nil
	}
	var answer *insightv1alpha1.PlanStatus
	why := ""
	if ask && !e.unthinkable {
		if p, err := e.ask(ctx); err == nil {
			answer = &p.Status
		} else {
			why = "who would be evicted is not known: " + firstLine(err)
		}
	}
	var lines []string
	for _, q := range busyOnes {
		parts := []string{fmt.Sprintf("queue %s: %s", q.Name, busy(q))}
		if e.fate != "" {
			parts = append(parts, e.fate)
		}
		if answer != nil && q.Status.Running > 0 {
			parts = append(parts, evicted(answer.Victims, func(v *insightv1alpha1.Victim) bool { return v.Queue == q.Name }, "none of them"))
		}
		lines = append(lines, strings.Join(parts, "; "))
	}
	if answer != nil {
		return append(lines, e.others(answer)...)
	}
	if why != "" {
		lines = append(lines, why)
	}
	return lines
}

// others says who in other queues would start or go.
func (e *effect) others(answer *insightv1alpha1.PlanStatus) []string {
	var lines []string
	elsewhere := func(v *insightv1alpha1.Victim) bool {
		return !slices.ContainsFunc(e.before, func(q *schedulingv1beta1.Queue) bool { return q.Name == v.Queue })
	}
	if text := evicted(answer.Victims, elsewhere, ""); text != "" {
		lines = append(lines, "in other queues "+text)
	}
	if n := len(answer.Starts); n > 0 {
		var names []string
		for i := range answer.Starts {
			names = append(names, answer.Starts[i].Namespace+"/"+answer.Starts[i].Name)
		}
		lines = append(lines, fmt.Sprintf("%s would start: %s", plural(n, "job that waits", "jobs that wait"), few(names)))
	}
	return lines
}

// done is the word for an eviction by its reason.
func done(reason string) string {
	switch reason {
	case "reclaim":
		return "reclaimed"
	case "preempt":
		return "preempted"
	}
	return "evicted"
}

// evicted says how many jobs lose pods, and which; of those of no victim it says none.
func evicted(victims []insightv1alpha1.Victim, of func(*insightv1alpha1.Victim) bool, none string) string {
	var names []string
	pods := map[string]int{}
	word := ""
	for i := range victims {
		v := &victims[i]
		if !of(v) {
			continue
		}
		name := v.Namespace + "/" + cmp.Or(v.Job, v.Pod)
		if pods[name] == 0 {
			names = append(names, name)
		}
		pods[name]++
		if now := done(v.Reason); word == "" || word == now {
			word = now
		} else {
			word = "evicted"
		}
	}
	if len(names) == 0 {
		if none == "" {
			return ""
		}
		return none + " would be evicted at once"
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%s)", name, plural(pods[name], "pod", "pods"))
	}
	return fmt.Sprintf("%d would be %s: %s", len(names), word, few(names))
}

// few names the first ones.
func few(names []string) string {
	if len(names) > maxTold {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxTold], ", "), len(names)-maxTold)
	}
	return strings.Join(names, ", ")
}

// busy says how many jobs run and wait in a queue; "" when none do.
func busy(q *schedulingv1beta1.Queue) string {
	running, waiting := int(q.Status.Running), int(waitingIn(q))
	runs := plural(running, "job runs", "jobs run")
	switch {
	case running == 0 && waiting == 0:
		return ""
	case waiting == 0:
		return runs + " in it"
	case running == 0:
		return plural(waiting, "job waits", "jobs wait") + " in it"
	}
	return fmt.Sprintf("%s in it and %d %s", runs, waiting, verb(int32(waiting), "waits", "wait"))
}

func firstLine(err error) string {
	var human *cli.Error
	if errors.As(err, &human) {
		return human.What
	}
	text, _, _ := strings.Cut(cli.Humanize(err, cli.Connection{}).What, "\n")
	return text
}

// ask lets the scheduler think of the queues as they would be.
func (e *effect) ask(ctx context.Context) (*insightv1alpha1.Plan, error) {
	namespace, err := e.f.Namespace()
	if err != nil {
		return nil, err
	}
	var objects []runtime.RawExtension
	for _, q := range e.after {
		object, err := plan.QueueObject(q)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return plan.Ask(ctx, e.f, namespace, objects, forecastTime)
}

// runs says whether jobs run in one of the queues.
func runs(queues []*schedulingv1beta1.Queue) bool {
	return slices.ContainsFunc(queues, func(q *schedulingv1beta1.Queue) bool { return q.Status.Running > 0 })
}

// confirm asks whether to go on when there is something to ask about: lines of effects and
// jobs that run, or a selector that chose the queues. A dry run is told the effects, and not asked.
func confirm(f *cli.Factory, c *cli.Confirm, dryRun *cli.DryRun, what string, lines []string, ask bool, queues []*schedulingv1beta1.Queue) error {
	switch {
	case dryRun.Any():
		for _, line := range lines {
			fmt.Fprintln(f.Streams.Err, line)
		}
		return nil
	case !ask || len(queues) == 0:
		return nil
	}
	for _, q := range queues {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "queue "+q.Name+":") }) {
			lines = append(lines, "queue "+q.Name)
		}
	}
	return c.Ask(f, what, lines)
}
