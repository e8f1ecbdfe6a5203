package scheduler

import (
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// buildDecisions converts the results of the cycle into decisions.
func (e *Engine) buildDecisions(s *cycle.Cycle) decision.Decisions {
	out := &s.Out
	out.Now = s.Now
	for _, j := range s.Bound {
		addBinds(s, j)
	}
	e.recordStarts(s)
	e.reportLingering(s)
	e.updateForecasts(s)
	e.advised, e.looked = 0, s.Looked
	slices.SortFunc(s.Touched, func(a, b *framework.Job) int {
		if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.Gang.Name, b.Gang.Name)
	})
	for _, j := range s.Touched {
		addNominations(s, j)
		if at := e.writeStatus(s, j); !at.IsZero() {
			e.gangs.due[j] = at
		} else {
			delete(e.gangs.due, j)
		}
		e.reportGangFigures(s, j)
		j.ClearResults()
	}
	out.Stats.GangsGone = e.gangs.takeDeletedGangs()
	for _, at := range e.gangs.due {
		out.WakeAt = earlierTime(out.WakeAt, at)
	}
	e.reportLoosePods(s)
	e.reportQueues(s)
	e.reportHyperNodes(s)
	out.Stats.GangsTried, out.Stats.GangsPlaced, out.Stats.GangsFailed = s.Tried, s.Won, s.Broken
	out.Stats.GangsParked, out.Stats.TasksPlaced = len(e.gangs.waiting), len(out.Binds)
	// Another cycle is needed after evictions, which may free resources once they are assumed, and for pods that should
	// have ended, because their resources no longer count as about to be freed in the next cycle. All other results
	// come back as changes.
	out.Again = len(out.Evicts)+len(out.Lingering) > 0
	return *out
}

func gangObject(g *model.Gang) decision.Object {
	return decision.Object{Namespace: g.Namespace, Name: g.Name, UID: g.UID}
}

func podObject(t *model.Task) decision.Object {
	return decision.Object{Namespace: t.Namespace, Name: t.Name, UID: t.UID}
}

func addBinds(s *cycle.Cycle, j *framework.Job) {
	gang := gangObject(j.Gang)
	check := gangCheckOf(j)
	for i, p := range j.Placed {
		bind := decision.Bind{
			Check: check,
			Pod:   podObject(p.Task), Node: s.View.Nodes.Name[p.Node], Gang: gang, GangRemaining: len(j.Placed) - i - 1,
			Annotations: s.PodAnnotations(j, p.Task, p.Node),
		}
		if p.Task.Shape.Attached != nil && s.Attacher != nil {
			bind.Attach = s.Attacher.Decided(p.Task, p.Node)
		}
		s.Out.Binds = append(s.Out.Binds, bind)
		s.Out.Stats.TaskWaits = append(s.Out.Stats.TaskWaits, s.Now.Sub(p.Task.Created))
	}
	if disregarded := uncheckedParts(s, j); len(disregarded) > 0 && j.AllocatedTasks() == 0 {
		s.Out.Events = append(s.Out.Events, decision.Event{
			Gang: gang, Type: corev1.EventTypeWarning, Reason: "NotJudged",
			Message: "the pods were placed without checking " + strings.Join(disregarded, ", ") + ", because this data is not available yet",
		})
	}
}

// gangCheckOf returns the minimums of the PodGroup that the binds rely on, or nil if the gang has no more pods than its
// minimum. If it has more, the minimum may have been raised before these pods were created, and the scheduler may not
// have received that change yet (#6010).
func gangCheckOf(j *framework.Job) *decision.GangCheck {
	if len(j.Tasks) <= j.MinMember {
		return nil
	}
	return &decision.GangCheck{MinMember: j.MinMember, MinTaskMember: j.MinTaskMember}
}

// uncheckedParts returns the parts of the gang's placed pods that were not checked.
func uncheckedParts(s *cycle.Cycle, j *framework.Job) (names []string) {
	for i, p := range j.Placed {
		if s.Attacher != nil || (i > 0 && p.Task.Shape == j.Placed[i-1].Task.Shape) {
			continue
		}
		for _, name := range p.Task.Shape.Unsupported {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// addNominations adds nominations that reserve promised resources, and cancels promises that are neither used nor
// renewed.
func addNominations(s *cycle.Cycle, j *framework.Job) {
	if len(j.Promised)+len(j.Released) == 0 {
		return
	}
	kept := map[*model.Task]bool{}
	for _, p := range j.Placed {
		kept[p.Task] = true
	}
	for _, p := range j.Promised {
		kept[p.Task] = true
		if p.Task.Status == model.Pipelined && p.Task.Node == p.Node {
			continue
		}
		s.Out.Nominations = append(s.Out.Nominations, decision.Nomination{
			Pod: podObject(p.Task), Node: s.View.Nodes.Name[p.Node], Publish: len(s.Out.Evicts) > 0 || p.Task.Nominated != "", // also update a published nomination that moves
		})
	}
	for _, t := range j.Released {
		if !kept[t] {
			s.Out.Nominations = append(s.Out.Nominations, decision.Nomination{Pod: podObject(t), Publish: t.Nominated != ""})
		}
	}
}

// writeStatus writes the gang's status, event and pod conditions if their meaning changed. It returns when to check
// again.
func (e *Engine) writeStatus(s *cycle.Cycle, j *framework.Job) time.Time {
	status, write, again := e.buildStatus(s, j)
	reportIgnoredAnnotations(s, j)
	reportCappedPriority(s, j)
	hyperNode := changedHyperNode(s, j)
	if write || hyperNode != nil {
		e.rememberForecast(j, status.Explanation)
		s.Out.Gangs = append(s.Out.Gangs, decision.GangStatus{Gang: gangObject(j.Gang), Status: status, HyperNode: hyperNode, Annotated: len(j.Annotations) > 0})
		if event := statusEvent(j, &status); event.Reason != "" {
			s.Out.Events = append(s.Out.Events, event)
		}
	}
	if at := addPodConditions(s, j); !at.IsZero() {
		again = earlierTime(again, at)
	}
	return again
}

// statusEvent returns the event for a status. The event is empty if the gang is waiting for the same reason as before.
func statusEvent(j *framework.Job, status *schedulingv1beta1.PodGroupStatus) decision.Event {
	switch {
	case status.Phase == schedulingv1beta1.PodGroupRunning && j.Status.Phase != schedulingv1beta1.PodGroupRunning:
		return decision.Event{Gang: gangObject(j.Gang), Type: corev1.EventTypeNormal, Reason: "Scheduled", Message: "pod group is ready"}
	case j.Verdict.Extra: // the gang is running, so no warning is needed
		return decision.Event{}
	case status.Explanation == nil || explain.HaveSameMeaning(status.Explanation, j.Status.Explanation):
		return decision.Event{}
	}
	message := explain.ConditionMessage(&j.Verdict)
	for _, c := range j.Status.Conditions {
		if c.Type == schedulingv1beta1.PodGroupUnschedulableType && c.Status == corev1.ConditionTrue && c.Message == message {
			return decision.Event{} // the change, such as another spared pod, is not part of the event
		}
	}
	return decision.Event{Gang: gangObject(j.Gang), Type: corev1.EventTypeWarning, Reason: string(schedulingv1beta1.PodGroupUnschedulableType), Message: message}
}

// addPodConditions writes the reason why a gang is waiting as a condition on its pending pods, once the gang has waited
// for patience. Before that, it returns when to check again.
func addPodConditions(s *cycle.Cycle, j *framework.Job) (again time.Time) {
	v := &j.Verdict
	if v.Code == "" || v.Code == reason.NotEnoughPods || len(j.Pending) == 0 {
		return time.Time{}
	}
	if ripe := j.Since.Add(patience); s.Now.Before(ripe) {
		return ripe
	}
	condition := model.PodCondition{Reason: explain.PodReason(v, j.In.Grows()), Message: explain.PodMessage(v)}
	for _, t := range j.Pending {
		if t.Condition != condition {
			s.Out.PodConditions = append(s.Out.PodConditions, decision.PodCondition{Pod: podObject(t), Reason: condition.Reason, Message: condition.Message})
		}
	}
	return time.Time{}
}

// reportQueues writes the queue statuses that changed, each at most once per countsEvery.
func (e *Engine) reportQueues(s *cycle.Cycle) {
	waiting := e.countWaitingGangs(s)
	e.reportDeletedQueues(s)
	for _, q := range s.Ledger.Queues {
		if !q.Known {
			continue
		}
		e.reportQueueFigures(s, q)
		old := &q.Published
		fresh := decision.QueueStatus{
			Queue: q.Name, Allocated: explain.ResourceList(q.Allocated, s.Cluster.Resources), Deserved: explain.ResourceList(q.Deserved, s.Cluster.Resources),
			Terminating:  explain.ResourceList(q.Ending, s.Cluster.Resources),
			SharePercent: int32(min(math.Round(100*finiteOrZero(q.Share)), maxSharePercent)), Waiting: old.Waiting,
			Invalid: invalidCondition(q, s.Now),
		}
		if waiting != nil {
			fresh.Waiting = waiting[q]
		}
		published := fresh.Published(s.Now)
		writeAt, needed := queueWriteTime(&published, old)
		if !needed {
			continue
		}
		if s.Now.Before(writeAt) {
			s.WakeAt(writeAt)
			continue
		}
		s.Out.Queues = append(s.Out.Queues, fresh)
		reportInvalidQueue(s, q, fresh.Invalid)
	}
}

// queueWriteTime returns when the new status of a queue may be written. needed is false if the API server already shows it.
func queueWriteTime(published, old *model.QueuePublished) (at time.Time, needed bool) {
	if old.Unwritten || !published.IsSameStatus(old) {
		return nextCountsTime(old), true
	}
	return old.RewriteTime()
}

// nextCountsTime returns the earliest time at which a changed status of a queue may be written.
func nextCountsTime(old *model.QueuePublished) time.Time {
	if !old.Decided {
		return time.Time{}
	}
	return old.At.Add(countsEvery)
}

// maxSharePercent is the maximum published share of a queue that holds much more than it deserves.
const maxSharePercent = 1000

// countWaitingGangs counts, by queue, the gangs that are waiting for their minimum. It returns nil if the last count is
// recent or still valid.
func (e *Engine) countWaitingGangs(s *cycle.Cycle) map[*queue.Queue]int32 {
	c := &e.gangs
	if c.uncounted = c.uncounted || len(s.Touched) > 0; !c.uncounted {
		return nil
	}
	if at := c.countedAt.Add(countsEvery); s.Now.Before(at) {
		s.WakeAt(at)
		return nil
	}
	c.countedAt, c.uncounted = s.Now, false
	waiting := map[*queue.Queue]int32{}
	for _, j := range c.waiting {
		if j.WaitsToStart() {
			waiting[j.In]++
		}
	}
	return waiting
}

func finiteOrZero(v float64) float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	return v
}
