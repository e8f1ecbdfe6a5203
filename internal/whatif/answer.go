package whatif

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// simulationEngine is an engine for simulations. It is never the engine that makes the real decisions.
type simulationEngine interface {
	WhatIf(now time.Time, c *model.Cluster, h scheduler.Hypothesis) decision.Decisions
}

// stage identifies the next slice of an answer.
type stage int

const (
	warm        stage = iota // a new engine loads the whole model
	tryPending               // with the planned objects; PodGroups are not admitted yet
	tryAdmitted              // with the planned objects and the pods of admitted PodGroups
)

// RejectedStatus returns the status of a plan that is not simulated at all.
func (t *Simulation) RejectedStatus(now time.Time) (status insightv1alpha1.PlanStatus, is bool) {
	at := metav1.NewTime(now)
	return insightv1alpha1.PlanStatus{AnsweredAt: &at, Problem: t.problem, Hint: t.hint}, t.problem != ""
}

// RunAllSlices runs all slices of the answer.
func (t *Simulation) RunAllSlices(now time.Time, e simulationEngine, c *model.Cluster) insightv1alpha1.PlanStatus {
	for {
		if status, done := t.RunOneSlice(now, e, c); done {
			return status
		}
	}
}

// RunOneSlice runs one slice of the answer and restores the model. done reports whether the answer is complete. The
// model may change between slices.
func (t *Simulation) RunOneSlice(now time.Time, e simulationEngine, c *model.Cluster) (status insightv1alpha1.PlanStatus, done bool) {
	if status, is := t.RejectedStatus(now); is {
		return status, true
	}
	if t.stage == warm && len(t.queues) == 0 {
		t.stage = tryPending
		e.WhatIf(now, c, scheduler.Hypothesis{})
		return insightv1alpha1.PlanStatus{}, false
	}
	t.avoidNameClashes(c)
	if len(t.queues) > 0 { // both simulations must start from the same state
		t.before = e.WhatIf(now, c, scheduler.Hypothesis{})
	}
	after := e.WhatIf(now, c, t.newHypothesis(c))
	if t.stage != tryAdmitted && t.markAdmitted(&after) {
		t.stage = tryAdmitted
		return insightv1alpha1.PlanStatus{}, false
	}
	return t.planStatus(now, &after, c), true
}

// planStatus returns the answer after the engine has decided.
func (t *Simulation) planStatus(now time.Time, after *decision.Decisions, c *model.Cluster) insightv1alpha1.PlanStatus {
	at := metav1.NewTime(now)
	status := insightv1alpha1.PlanStatus{AnsweredAt: &at}
	for i := range t.items {
		if it := &t.items[i]; it.job != nil {
			t.setJobAnswer(it, after, c)
		}
	}
	for i := range t.items {
		if it := &t.items[i]; it.of != nil {
			it.setMemberAnswer()
		}
	}
	var admitted map[string]int
	if len(t.queues) > 0 {
		t.setOtherAnswers(&status, &t.before, after, c)
		admitted = t.countAdmitted(&t.before, after, c)
	}
	for i := range t.items {
		it := &t.items[i]
		if it.queue != nil {
			it.answer.Message = queueMessage(it, &status, admitted)
		}
		status.Answers = append(status.Answers, it.answer)
		if verdictRank(it.answer.Verdict) > verdictRank(status.Verdict) {
			status.Verdict = it.answer.Verdict
		}
	}
	return status
}

func verdictRank(v insightv1alpha1.Verdict) int {
	switch v {
	case insightv1alpha1.VerdictStarts:
		return 1
	case insightv1alpha1.VerdictWaits:
		return 2
	case insightv1alpha1.VerdictNever:
		return 3
	}
	return 0
}

// avoidNameClashes renames planned pods and PodGroups if existing objects already use their names.
func (t *Simulation) avoidNameClashes(c *model.Cluster) {
	for i := range t.items {
		job := t.items[i].job
		if job == nil {
			continue
		}
		if there := c.Gangs[job.group.Namespace+"/"+job.group.Name]; there != nil {
			job.group.Name = string(job.group.UID) + "." + job.group.Name
			for _, pod := range job.pods {
				metav1.SetMetaDataAnnotation(&pod.ObjectMeta, keys.GroupName, job.group.Name)
			}
		}
		taken := false
		for _, pod := range job.pods {
			taken = taken || c.TaskNamed(pod.Namespace, pod.Name) != nil
		}
		for _, pod := range job.pods {
			if taken {
				pod.Name = string(job.group.UID) + "." + pod.Name
			}
		}
	}
}

// newHypothesis returns the changes that add the planned objects to the model, and the changes that revert them.
func (t *Simulation) newHypothesis(c *model.Cluster) scheduler.Hypothesis {
	var h scheduler.Hypothesis
	add := func(do, undo model.Delta) {
		h.Make = append(h.Make, do)
		h.Undo = append([]model.Delta{undo}, h.Undo...)
	}
	for _, queue := range t.queues {
		add(model.QueueFrom(queue), c.QueueRestoringDelta(queue.Name))
	}
	for i := range t.items {
		job := t.items[i].job
		if job == nil {
			continue
		}
		for _, claim := range job.claims {
			add(model.ObjectSet{Object: claim}, model.ObjectGone{Object: claim})
		}
		group := job.group
		add(model.GangFrom(group), model.GangGone{Namespace: group.Namespace, Name: group.Name, UID: group.UID})
		if group.Status.Phase == schedulingv1beta1.PodGroupPending && !job.podsFirst {
			continue // as in a real cluster, pods are created after their group is admitted
		}
		for _, pod := range job.pods {
			add(model.TaskFrom(pod, true), model.TaskGone{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID})
		}
	}
	return h
}

// markAdmitted marks the planned gangs that were admitted, and reports whether there were any.
func (t *Simulation) markAdmitted(d *decision.Decisions) bool {
	some := false
	for i := range t.items {
		job := t.items[i].job
		if job == nil {
			continue
		}
		if p := scheduler.OutcomeOf(d, job.group.UID); p.Status != nil && p.Status.Phase != schedulingv1beta1.PodGroupPending {
			job.group.Status.Phase, some = schedulingv1beta1.PodGroupInqueue, true
		}
	}
	return some
}

// setJobAnswer sets the answer for a job.
func (t *Simulation) setJobAnswer(it *item, d *decision.Decisions, c *model.Cluster) {
	a, group := &it.answer, it.job.group
	a.MinMember, a.Pods = group.Spec.MinMember, int32(len(it.job.pods))
	p := scheduler.OutcomeOf(d, group.UID)
	places := newPlacements(it.job.pods)
	it.places = nil
	for i := range p.Binds {
		places.addPlacedPod(p.Binds[i].Pod.UID, p.Binds[i].Node, false)
		it.places = append(it.places, place{p.Binds[i].Pod.UID, p.Binds[i].Node, false})
	}
	for i := range d.Nominations {
		if n := &d.Nominations[i]; n.Node != "" {
			places.addPlacedPod(n.Pod.UID, n.Node, true)
			it.places = append(it.places, place{n.Pod.UID, n.Node, true})
		}
	}
	a.Placements, a.Starting = places.sortedPlacements(), places.pods
	a.Victims, a.VictimCount = listVictims(p.Evicts, c)
	if p.Status != nil {
		a.Explanation = p.Status.Explanation
	}
	switch {
	case p.Starts() && places.later == 0:
		a.Verdict, a.Message, a.Explanation = insightv1alpha1.VerdictStarts, "would start now: "+places.describePlacements(a.Pods), nil
	case p.Starts() || len(p.Evicts) > 0 || places.later > 0:
		a.Verdict, a.Message = insightv1alpha1.VerdictStarts, "would start "+describeWhen(p.Evicts)+": "+places.describePlacements(a.Pods)
	case a.Explanation != nil && a.Explanation.Never:
		a.Verdict, a.Message = insightv1alpha1.VerdictNever, "can never start with its current request: "+a.Explanation.Message
	case a.Explanation != nil:
		a.Verdict, a.Message = insightv1alpha1.VerdictWaits, "would wait: "+a.Explanation.Message
	case it.job.podsFirst && a.Pods < a.MinMember:
		a.Verdict, a.Message = insightv1alpha1.VerdictWaits, fmt.Sprintf("would wait: %d pods must start together, but the plan contains only %d", a.MinMember, a.Pods)
	default:
		a.Verdict, a.Message = insightv1alpha1.VerdictWaits, "would wait; the scheduler has no explanation yet"
	}
}

// describeWhen describes what must happen before the pods get their nodes.
func describeWhen(evicts []decision.Evict) string {
	switch len(evicts) {
	case 0:
		return "after terminating pods end"
	case 1:
		return "after 1 evicted pod ends"
	}
	return fmt.Sprintf("after %d evicted pods end", len(evicts))
}

// setOtherAnswers records which other gangs start and which other pods are evicted because of the plan.
func (t *Simulation) setOtherAnswers(status *insightv1alpha1.PlanStatus, before, after *decision.Decisions, c *model.Cluster) {
	ours, known := map[types.UID]bool{}, map[types.UID]bool{}
	for i := range t.items {
		if job := t.items[i].job; job != nil {
			ours[job.group.UID] = true
		}
	}
	for i := range before.Binds {
		known[before.Binds[i].Pod.UID] = true
	}
	for i := range before.Evicts {
		known[before.Evicts[i].Pod.UID] = true
	}
	var evicts []decision.Evict
	for _, e := range after.Evicts {
		if !known[e.Pod.UID] && !ours[e.Preemptor.UID] {
			evicts = append(evicts, e)
		}
	}
	status.Victims, status.VictimCount = listVictims(evicts, c)
	at := map[types.UID]int{}
	for _, b := range after.Binds {
		if known[b.Pod.UID] || ours[b.Gang.UID] {
			continue
		}
		i, seen := at[b.Gang.UID]
		if !seen {
			i = len(status.Starts)
			at[b.Gang.UID] = i
			status.Starts = append(status.Starts, startingGang(&b, c))
		}
		status.Starts[i].Pods++
	}
}

// countAdmitted returns, for each queue, how many other gangs are admitted because of the plan. This includes queues
// that the plan does not edit, because an edited queue that gets less leaves more for others. The gangs have no pods
// yet. They start when their controllers have created the pods and resources are free.
func (t *Simulation) countAdmitted(before, after *decision.Decisions, c *model.Cluster) map[string]int {
	not := map[types.UID]bool{}
	for i := range t.items {
		if job := t.items[i].job; job != nil {
			not[job.group.UID] = true
		}
	}
	for i := range before.Gangs {
		if before.Gangs[i].Status.Phase == schedulingv1beta1.PodGroupInqueue {
			not[before.Gangs[i].Gang.UID] = true
		}
	}
	in := map[string]int{}
	for i := range after.Gangs {
		g := &after.Gangs[i]
		was := c.Gangs[g.Gang.Namespace+"/"+g.Gang.Name]
		isAdmitted := g.Status.Phase == schedulingv1beta1.PodGroupInqueue
		wasWaiting := was != nil && was.Status.Phase != schedulingv1beta1.PodGroupInqueue
		if isAdmitted && wasWaiting && !not[g.Gang.UID] {
			in[was.Queue.Name]++
		}
	}
	return in
}

// queueMessage describes the changes to a queue. It counts the starts and evictions caused by the whole plan.
func queueMessage(it *item, status *insightv1alpha1.PlanStatus, admitted map[string]int) string {
	what := "would be created"
	switch {
	case len(it.answer.Changes) > 0:
		what = strings.Join(it.answer.Changes, ", ")
	case it.old:
		what = "unchanged"
	}
	next := ": "
	switch starts, goes := len(status.Starts), status.VictimCount; {
	case starts > 0 || goes > 0:
		what += fmt.Sprintf(": %s would start and %s would be evicted immediately", countWithNoun(starts, "waiting job"), countWithNoun(int(goes), "pod"))
		next = "; "
	case len(admitted) == 0:
		what += ": no existing job would start and no pod would be evicted immediately"
	}
	if len(admitted) > 0 {
		what += next + describeAdmitted(admitted)
	}
	return what
}

// describeAdmitted describes how many jobs would be admitted to which queues.
func describeAdmitted(admitted map[string]int) string {
	var parts []string
	for _, queue := range slices.Sorted(maps.Keys(admitted)) {
		jobs := strconv.Itoa(admitted[queue])
		if len(parts) == 0 {
			jobs = countWithNoun(admitted[queue], "waiting job") + " would be admitted"
		}
		parts = append(parts, jobs+" to queue "+queue)
	}
	return strings.Join(parts, ", ") + ", and would start when resources are free"
}

func countWithNoun(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
