package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/plan"
	"github.com/vc-batch/vc/internal/queueusage"
	"github.com/vc-batch/vc/internal/usererror"
)

// forecastTime is the maximum time to wait for the scheduler's simulation before asking for confirmation. Without an
// answer, only the job counts in the queues' status are shown.
const forecastTime = 3 * time.Second

// maxTold is the maximum number of jobs that the description of an effect lists.
const maxTold = 5

// effect is a change to queues, whose consequences are shown to the user before it is made.
type effect struct {
	f *cli.Factory
	// before holds the current queues; after holds the changed queues in the same order.
	before, after []*schedulingv1beta1.Queue
	// trees holds the queue hierarchy, so that a change to a parent includes the queues below it; it may be nil.
	trees *queueusage.Forest
	// fate describes what happens to the jobs in a queue regardless of the scheduler's answer; it may be empty.
	fate string
	// unthinkable is true if the scheduler cannot simulate the change, because the queues would no longer exist.
	unthinkable bool
}

// effectText holds the description of an effect.
type effectText struct {
	// lines has one line for each queue with jobs, which describes what happens to them, followed by lines about jobs
	// in other queues.
	lines []string
	// described lists the queues that have a line.
	described []string
	// runs is true if jobs are running in one of the queues; evicts is true if the scheduler would evict pods.
	runs, evicts bool
}

// describeEffect describes the effect. It omits queues without running or pending jobs. If ask is set, it requests a
// simulation from the scheduler. If ask is not set, or the scheduler does not answer, it describes only job counts.
func (e *effect) describeEffect(ctx context.Context, ask bool) effectText {
	var t effectText
	families := map[string][]*schedulingv1beta1.Queue{}
	for _, q := range e.before {
		families[q.Name] = e.familyOf(q)
		t.runs = t.runs || sumCounts(families[q.Name], queueusage.RunningGroups) > 0
	}
	var answer *insightv1alpha1.PlanStatus
	why := ""
	if ask && !e.unthinkable && slices.ContainsFunc(e.before, func(q *schedulingv1beta1.Queue) bool { return jobCountsText(families[q.Name]...) != "" }) {
		if p, err := e.requestPlan(ctx); err == nil {
			answer = &p.Status
			t.evicts = answer.VictimCount > 0
		} else {
			why = "evictions are unknown: " + firstLine(err)
		}
	}
	for i, q := range e.before {
		if text := jobCountsText(families[q.Name]...); text != "" {
			t.lines = append(t.lines, e.queueLine(q, e.after, i, families[q.Name], text, answer))
			t.described = append(t.described, q.Name)
		}
	}
	switch {
	case len(t.lines) == 0:
	case answer != nil:
		t.lines = append(t.lines, e.otherQueueLines(answer, families)...)
	case why != "":
		t.lines = append(t.lines, why)
	}
	return t
}

// queueLine describes the effect on one queue.
func (e *effect) queueLine(q *schedulingv1beta1.Queue, after []*schedulingv1beta1.Queue, i int, family []*schedulingv1beta1.Queue, busy string, answer *insightv1alpha1.PlanStatus) string {
	parts := []string{fmt.Sprintf("queue %s: %s", q.Name, busy)}
	if e.fate != "" {
		parts = append(parts, e.fate)
	}
	if answer != nil && sumCounts(family, queueusage.RunningGroups) > 0 {
		of := func(v *insightv1alpha1.Victim) bool { return containsName(family, v.Queue) }
		parts = append(parts, evictedText(answer.Victims, of, "no job"))
	}
	if i < len(after) {
		if over := excessText(after[i]); over != "" && over != excessText(q) {
			parts = append(parts, over+": no new job starts until the usage is within the limit")
		}
	}
	return strings.Join(parts, "; ")
}

// familyOf returns a queue and the queues below it, except for queues that have their own line.
func (e *effect) familyOf(q *schedulingv1beta1.Queue) []*schedulingv1beta1.Queue {
	family := []*schedulingv1beta1.Queue{q}
	if e.trees == nil {
		return family
	}
	for _, child := range e.trees.Children(q.Name) {
		if !containsName(e.before, child.Name) {
			family = append(family, e.familyOf(child)...)
		}
	}
	return family
}

func containsName(queues []*schedulingv1beta1.Queue, name string) bool {
	return slices.ContainsFunc(queues, func(q *schedulingv1beta1.Queue) bool { return q.Name == name })
}

func sumCounts(queues []*schedulingv1beta1.Queue, count func(*schedulingv1beta1.Queue) int32) int32 {
	var sum int32
	for _, q := range queues {
		sum += count(q)
	}
	return sum
}

// otherQueueLines describes the jobs in other queues that would start or be evicted.
func (e *effect) otherQueueLines(answer *insightv1alpha1.PlanStatus, families map[string][]*schedulingv1beta1.Queue) []string {
	var lines []string
	elsewhere := func(v *insightv1alpha1.Victim) bool {
		for _, family := range families {
			if containsName(family, v.Queue) {
				return false
			}
		}
		return true
	}
	if text := evictedText(answer.Victims, elsewhere, ""); text != "" {
		lines = append(lines, "in other queues, "+text)
	}
	if n := len(answer.Starts); n > 0 {
		var names []string
		for i := range answer.Starts {
			names = append(names, answer.Starts[i].Namespace+"/"+answer.Starts[i].Name)
		}
		lines = append(lines, fmt.Sprintf("%s would start: %s", countWithNoun(n, "waiting job", "waiting jobs"), joinFirstNames(names)))
	}
	return lines
}

// evictionVerb returns the verb that describes an eviction for the given reason.
func evictionVerb(reason string) string {
	switch reason {
	case "reclaim":
		return "reclaimed"
	case "preempt":
		return "preempted"
	}
	return "evicted"
}

// evictedText describes how many jobs lose pods, and which jobs. It returns the text none if no victim matches.
func evictedText(victims []insightv1alpha1.Victim, of func(*insightv1alpha1.Victim) bool, none string) string {
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
		if now := evictionVerb(v.Reason); word == "" || word == now {
			word = now
		} else {
			word = "evicted"
		}
	}
	if len(names) == 0 {
		if none == "" {
			return ""
		}
		return none + " would be evicted immediately"
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%s)", name, countWithNoun(pods[name], "pod", "pods"))
	}
	return fmt.Sprintf("%d would be %s: %s", len(names), word, joinFirstNames(names))
}

// joinFirstNames joins at most maxTold of the names and appends the number of the others.
func joinFirstNames(names []string) string {
	if len(names) > maxTold {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxTold], ", "), len(names)-maxTold)
	}
	return strings.Join(names, ", ")
}

// jobCountsText describes how many jobs are running and waiting in a queue and in the queues below it. It returns "" if
// none exist.
func jobCountsText(family ...*schedulingv1beta1.Queue) string {
	running, waiting := int(sumCounts(family, queueusage.RunningGroups)), int(sumCounts(family, queueusage.WaitingGroups))
	where := " in it"
	if own := family[0]; len(family) > 1 {
		if where = " in it and its child queues"; queueusage.RunningGroups(own)+queueusage.WaitingGroups(own) == 0 {
			where = " in its child queues"
		}
	}
	runs := countWithNoun(running, "running job", "running jobs")
	switch {
	case running == 0 && waiting == 0:
		return ""
	case waiting == 0:
		return runs + where
	case running == 0:
		return countWithNoun(waiting, "waiting job", "waiting jobs") + where
	}
	return fmt.Sprintf("%s%s and %s", runs, where, strconv.Itoa(waiting)+" waiting")
}

func firstLine(err error) string {
	var human *usererror.Error
	if errors.As(err, &human) {
		return human.What
	}
	text, _, _ := strings.Cut(cli.HumanizeError(err, cli.Connection{}).What, "\n")
	return text
}

// requestPlan requests a simulation of the changed queues from the scheduler.
func (e *effect) requestPlan(ctx context.Context) (*insightv1alpha1.Plan, error) {
	namespace, err := e.f.Namespace()
	if err != nil {
		return nil, err
	}
	var objects []runtime.RawExtension
	for _, q := range e.after {
		object, err := plan.NewQueueObject(q)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return plan.RequestPlan(ctx, e.f, namespace, objects, forecastTime)
}

// confirmEffects shows the effects and asks for confirmation. If ask is false or this is a dry run, it only shows the
// effects.
func confirmEffects(ctx context.Context, f *cli.Factory, c *cli.Confirm, dryRun *cli.DryRun, what string, t effectText, ask bool, queues []*schedulingv1beta1.Queue) error {
	if dryRun.IsDryRun() || !ask || len(queues) == 0 {
		for _, line := range t.lines {
			fmt.Fprintln(f.Streams.Err, line)
		}
		return nil
	}
	lines := t.lines
	for _, q := range queues {
		if !slices.Contains(t.described, q.Name) {
			lines = append(lines, "queue "+q.Name)
		}
	}
	return c.AskUser(ctx, f, what, lines)
}
