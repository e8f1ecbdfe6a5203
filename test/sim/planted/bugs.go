package main

import (
	"fmt"
	"strings"
)

// bug is a small change of production code that the simulator must find.
type bug struct {
	name string
	kind string // what the code gets wrong: a key of kinds
	file string // relative to the root of the module
	old  string // occurs exactly once in the file
	new  string
	// note says why the simulator cannot find the bug. It is empty for a bug that must be found.
	note string
}

// kinds maps each kind of bugs to a description.
var kinds = map[string]string{
	"defect":      "a defect that the product once had",
	"leadership":  "a write without leadership",
	"lost reply":  "a wrong conclusion from a missing or failed response",
	"stale read":  "a decision on outdated data",
	"identity":    "objects with the same name are confused",
	"order":       "effects happen in the wrong order, or too early",
	"accounting":  "an amount or a number is wrong",
	"undo":        "a change is not undone, or undone wrongly",
	"wake-up":     "work is not continued when it could be",
	"rule":        "a rule of scheduling or of the job's life is not followed",
	"convergence": "objects do not reach their final state",
}

// plant returns the source with the bug.
func (b *bug) plant(source string) (string, error) {
	if n := strings.Count(source, b.old); n != 1 {
		return "", fmt.Errorf("%s contains the text %q %d times", b.file, b.old, n)
	}
	return strings.Replace(source, b.old, b.new, 1), nil
}

// bugs lists all planted bugs.
var bugs = []bug{
	{
		name: "failed-pods-block-gang", kind: "defect", file: "internal/controllers/job/plan/shrink.go",
		old: "return b.withoutFailed(b.withoutHeldBack(b.withoutAbsent()))",
		new: "return b.withoutHeldBack(b.withoutAbsent())",
	},
	{
		name: "gang-without-pods-reserves-queue", kind: "defect", file: "internal/scheduler/cycle/couldstart.go",
		old:  "return s.mayStillArrive(j) && s.templatesFit(j) && !s.exceedsEmptyNodes(j), true",
		new:  "return true, true",
		note: "The workload lacks admitted PodGroups whose pods are never created.",
	},
	{
		name: "ending-pods-free-the-queue", kind: "defect", file: "internal/scheduler/queue/ledger.go",
		old: "q.Own.Occupied[i] = v - float64(from.Promised.Get(i)) + q.Own.Ending[i]",
		new: "q.Own.Occupied[i] = v - float64(from.Promised.Get(i))",
	},
	{
		name: "preemptor-bound-before-victims-end", kind: "defect", file: "internal/scheduler/placement/gang.go",
		old: `if v := s.Rules.MayStart(j); v.Code != "" {`,
		new: `if v := s.Rules.MayStart(j); v.Code != "" && s.trial.Swap == nil {`,
	},
	{
		name: "lingering-pods-free-the-queue", kind: "defect", file: "internal/scheduler/queue/ledger.go",
		old: "q.Own.Ending[i] += q.Own.Lingering[i]",
		new: "",
	},
	{
		name: "scheduler-writes-without-fence", kind: "leadership", file: "internal/outbox/engine.go",
		old: "if err := e.fence(); err != nil {",
		new: "if err := e.fence(); err != nil && w.attempt > 0 {",
	},
	{
		name: "retry-without-fence", kind: "leadership", file: "internal/outbox/engine.go",
		old: "if err := e.fence(); err != nil {",
		new: "if err := e.fence(); err != nil && w.attempt == 0 {",
	},
	{
		name: "lost-reply-of-bind-is-failure", kind: "lost reply", file: "internal/outbox/pods.go",
		old: "case uid == pod.UID && boundTo == node:\n\t\treturn nil",
		new: "case uid == pod.UID && boundTo == node:\n\t\treturn conflict",
	},
	{
		name: "server-errors-are-final", kind: "lost reply", file: "internal/outbox/verdict.go",
		old:  "apierrors.IsInternalError(err), apierrors.IsUnexpectedServerError(err):\n\t\treturn transient",
		new:  "apierrors.IsInternalError(err), apierrors.IsUnexpectedServerError(err):\n\t\treturn refused",
		note: "Harmless: a reported failure leads to the same decision in a later cycle.",
	},
	{
		name: "lost-connection-is-success", kind: "lost reply", file: "internal/outbox/verdict.go",
		old: "return transient // the connection was refused or lost, or our own deadline passed",
		new: "return done",
	},
	{
		name: "failed-bind-is-not-reported", kind: "lost reply", file: "internal/outbox/pods.go",
		old:  "o.reportAfterPause(err, model.BindFailed{UID: pod.UID, Err: err.Error()})",
		new:  "_ = model.BindFailed{UID: pod.UID, Err: err.Error()}",
		note: "The faults never reject a bind for good: the lease is lost before 14 attempts have failed.",
	},
	{
		name: "failed-eviction-is-not-reported", kind: "lost reply", file: "internal/outbox/pods.go",
		old:  "o.reportAfterPause(err, model.EvictFailed{UID: pod.UID, Err: err.Error()})",
		new:  "_ = model.EvictFailed{UID: pod.UID, Err: err.Error()}",
		note: "The faults never reject a deletion for good: the lease is lost before 14 attempts have failed.",
	},
	{
		name: "failed-status-is-not-written-again", kind: "lost reply", file: "internal/outbox/status.go",
		old:  "o.reportAfterPause(err, model.GangStatusFailed{UID: gang.UID})",
		new:  "_ = model.GangStatusFailed{UID: gang.UID}",
		note: "The faults never reject a status for good: the lease is lost before 14 attempts have failed.",
	},
	{
		name: "existing-pod-is-an-error", kind: "lost reply", file: "internal/controllers/job/apply.go",
		old: "case metav1.IsControlledBy(&there, a.job):\n\t\ta.known.recordCreatedPod(&there, a.now())\n\t\treturn nil",
		new: "case metav1.IsControlledBy(&there, a.job):\n\t\treturn a.deleteObject(ctx, &there)",
	},
	{
		name: "new-process-trusts-its-cache", kind: "stale read", file: "internal/controllers/job/fence.go",
		old: "if a.known.fenced || a.known.written > 0 {",
		new: "if a.known.fenced || a.known.written >= 0 {",
	},
	{
		name: "own-write-to-job-is-ignored", kind: "stale read", file: "internal/controllers/job/memory.go",
		old: "return err == nil && v < r.written && now.Sub(r.writtenAt) < waitForCache",
		new: "return err == nil && v < r.written && now.Sub(r.writtenAt) < 0",
	},
	{
		name: "created-pods-are-forgotten", kind: "stale read", file: "internal/controllers/job/memory.go",
		old:  "in.Pods = append(in.Pods, c.pod)",
		new:  "_ = c.pod",
		note: "Harmless: pods have fixed names, so creating one again finds the first one.",
	},
	{
		name: "killed-pods-are-forgotten", kind: "stale read", file: "internal/controllers/job/memory.go",
		old: "in.Killed[uid] = true",
		new: "",
	},
	{
		name: "doubtful-pods-are-not-read-again", kind: "stale read", file: "internal/controllers/job/plan/decide.go",
		old: "if (e.inferred || b.in.Doubt) && !b.in.Fresh {",
		new: "if (e.inferred || b.in.Doubt) && b.in.Fresh {",
	},
	{
		name: "raised-minimum-is-not-checked", kind: "stale read", file: "internal/outbox/verify.go",
		old:  "if int(pg.Spec.MinMember) > check.MinMember {",
		new:  "if int(pg.Spec.MinMember) > check.MinMember+100 {",
		note: "The workload lacks users who raise minAvailable while pods are pending.",
	},
	{
		name: "missed-deletion-after-relist", kind: "stale read", file: "internal/feed/sink.go",
		old: "deltas = append(deltas, s.gone(name, s.seen[name]))",
		new: "",
	},
	{
		name: "recreated-object-keeps-old-uid", kind: "identity", file: "internal/feed/sink.go",
		old:  "if before, known := s.seen[name]; known && before != uid {",
		new:  "if before, known := s.seen[name]; known && before == uid && uid == \"\" {",
		note: "Harmless: model.TaskSet handles re-created pods itself, and names of PodGroups contain the UID of the job.",
	},
	{
		name: "generated-pod-names", kind: "identity", file: "internal/controllers/job/plan/pod.go",
		old: "Name: pluginapi.PodNameFor(job, place.Task, place.Index), Namespace: job.Namespace,",
		new: "GenerateName: pluginapi.PodNameFor(job, place.Task, place.Index) + \"-\", Namespace: job.Namespace,",
	},
	{
		name: "delete-without-uid", kind: "identity", file: "internal/controllers/job/apply.go",
		old: "err := a.api.Delete(ctx, o, client.Preconditions{UID: &uid})",
		new: "_ = uid\n\terr := a.api.Delete(ctx, o)",
	},
	{
		name: "pods-of-older-version-count", kind: "identity", file: "internal/controllers/job/plan/event.go",
		old: "if isHandled || m.version != b.job.Status.Version {",
		new: "if isHandled || m.version < 0 {",
	},
	{
		name: "pods-stopped-before-status", kind: "order", file: "internal/controllers/job/plan/plan.go",
		old: "b.updateCounters(status)\n\tb.writeStatus(status)\n\tb.stopPods()\n\tif do.next",
		new: "b.updateCounters(status)\n\tb.stopPods()\n\tb.writeStatus(status)\n\tif do.next",
	},
	{
		name: "command-deleted-before-effect", kind: "order", file: "internal/controllers/job/plan/plan.go",
		old: "if asked.command != nil && do.next == \"\" {",
		new: "if asked.command != nil {",
	},
	{
		name: "podgroup-deleted-while-completing", kind: "order", file: "internal/controllers/job/plan/plan.go",
		old:  "b.markPodsToStop(true)\n\tb.countAndSettle()\n\tb.stopPods()",
		new:  "b.markPodsToStop(true)\n\tb.countAndSettle()\n\tb.stopPods()\n\tif b.in.PodGroup != nil {\n\t\tb.appendWrites(DeleteGroup{Group: b.in.PodGroup})\n\t}",
		note: "Harmless: the pods are being stopped, and count for the queue by their annotation.",
	},
	{
		name: "job-ends-before-its-pods", kind: "order", file: "internal/controllers/job/plan/phase.go",
		old: "if isEnding && n.countLivePods() == 0 {",
		new: "if isEnding {",
	},
	{
		name: "pods-created-before-admission", kind: "order", file: "internal/controllers/job/plan/sync.go",
		old: "if !IsGroupAdmitted(group) {",
		new: "if !IsGroupAdmitted(group) && len(b.census.members) > 0 {",
	},
	{
		name: "restart-before-pods-are-gone", kind: "order", file: "internal/controllers/job/plan/plan.go",
		old: "if b.stopsAnyPod() || b.marksAnyPod() {",
		new: "if b.marksAnyPod() {",
	},
	{
		name: "capability-off-by-one-cpu", kind: "accounting", file: "internal/scheduler/queue/ledger.go",
		old: "if held(i)+float64(t.Value) > limit[i]+Epsilon && (index < 0",
		new: "if held(i)+float64(t.Value) > limit[i]+1000 && (index < 0",
	},
	{
		name: "minimum-off-by-one", kind: "accounting", file: "internal/scheduler/framework/job.go",
		old: "return max(j.MinMember-j.ReadyTasks(), 0)",
		new: "return max(j.MinMember-1-j.ReadyTasks(), 0)",
	},
	{
		name: "failed-pods-hold-their-node", kind: "accounting", file: "internal/model/convert.go",
		old: "whatever its exit code\n\t\treturn Failed",
		new: "whatever its exit code\n\t\treturn Unknown",
	},
	{
		name: "ending-pods-free-their-node", kind: "accounting", file: "internal/model/status.go",
		old: "return s.IsAllocated() || s.IsLeaving() || s == Unknown",
		new: "return s.IsAllocated() || s == Unknown",
	},
	{
		name: "ancestors-do-not-limit", kind: "accounting", file: "internal/scheduler/policy/capacity/capacity.go",
		old: "\t\tif !r.tree {\n\t\t\treturn\n\t\t}\n\t}\n}\n\n// effectiveSums",
		new: "\t\tif !r.tree || true {\n\t\t\treturn\n\t\t}\n\t}\n}\n\n// effectiveSums",
	},
	{
		name: "restarts-are-not-counted", kind: "accounting", file: "internal/controllers/job/plan/plan.go",
		old: "case do.retry:\n\t\tstatus.RetryCount++",
		new: "case do.retry && b.job.Spec.MaxRetry < 0:\n\t\tstatus.RetryCount++",
	},
	{
		name: "gang-counters-keep-removed-pods", kind: "accounting", file: "internal/controllers/job/plan/census.go",
		old: "if m.gone || m.stop {\n\t\t\tn.terminating++\n\t\t\tcontinue\n\t\t}",
		new: "if m.stop {\n\t\t\tn.terminating++\n\t\t\tcontinue\n\t\t}",
	},
	{
		name: "promise-frees-idle-resources", kind: "accounting", file: "internal/scheduler/overlay/overlay.go",
		old: "if t.Value > o.Idle[i] || t.Value > o.Future[i] {",
		new: "if t.Value > o.Future[i] {",
	},
	{
		name: "failed-placement-keeps-nodes", kind: "undo", file: "internal/scheduler/overlay/overlay.go",
		old: "\tstale := o.moved\n",
		new: "\tstale := o.moved[:0]\n",
	},
	{
		name: "failed-placement-keeps-queue", kind: "undo", file: "internal/scheduler/placement/round.go",
		old: "\t\tr.job.ReleasePlacement(r.placed[i])\n\t}\n\tr.s.View.Rollback(mark)",
		new: "\t}\n\tr.s.View.Rollback(mark)",
	},
	{
		name: "failed-bind-keeps-its-node", kind: "undo", file: "internal/model/assumptions.go",
		old:  "c.moveTaskTo(t, t.seen.node, t.seen.status)",
		new:  "",
		note: "The faults never reject a bind for good: the lease is lost before 14 attempts have failed.",
	},
	{
		name: "decisions-are-not-assumed", kind: "undo", file: "internal/daemon/cycleloop/cycleloop.go",
		old: "decision.Assume(l.Cluster, &d)",
		new: "_ = decision.Assume",
	},
	{
		name: "assumed-bind-survives-deletion", kind: "undo", file: "internal/model/taskchanges.go",
		old: "\tc.recordLost(t.Gang, t, t.Status, t.Node)\n\tc.removeTaskFromSums(t)",
		new: "\tc.recordLost(t.Gang, t, t.Status, t.Node)\n\tif t.assumedNode == NoNode {\n\t\tc.removeTaskFromSums(t)\n\t}",
	},
	{
		name: "scheduler-forgets-its-wake-up", kind: "wake-up", file: "internal/daemon/cycleloop/cycleloop.go",
		old:  "l.wake = d.WakeAt",
		new:  "l.wake = time.Time{}",
		note: "Harmless: the periodic cycle runs at most a second later.",
	},
	{
		name: "freed-nodes-do-not-wake", kind: "wake-up", file: "internal/scheduler/wakeup.go",
		old: "\tfor _, shape := range j.ParkedShapes {\n\t\thelp, known",
		new: "\tfor _, shape := range j.ParkedShapes[:0] {\n\t\thelp, known",
	},
	{
		name: "freed-queue-does-not-wake", kind: "wake-up", file: "internal/scheduler/wakeup.go",
		old: "return w.gangs.stamps[j.In].version != j.QueueStamp && j.IsQueueBound()",
		new: "return false && j.IsQueueBound()",
	},
	{
		name: "postponed-status-is-dropped", kind: "wake-up", file: "internal/controllers/job/reconciler.go",
		old: "if a.later > 0 && (result.RequeueAfter == 0 || a.later < result.RequeueAfter) {",
		new: "if a.later > 0 && a.later < result.RequeueAfter {",
	},
	{
		name: "conflict-is-not-retried", kind: "wake-up", file: "internal/controllers/job/reconciler.go",
		old:  "return reconcile.Result{RequeueAfter: coalesce}, nil",
		new:  "return reconcile.Result{}, nil",
		note: "Harmless: the change that causes the conflict also queues the job.",
	},
	{
		name: "changed-pods-do-not-wake-job", kind: "wake-up", file: "internal/controllers/job/handler.go",
		old: "\t\t\tif affectsPlan(e.ObjectOld.(*corev1.Pod), e.ObjectNew.(*corev1.Pod)) {",
		new: "\t\t\tif affectsPlan(e.ObjectOld.(*corev1.Pod), e.ObjectNew.(*corev1.Pod)) && e.ObjectNew.(*corev1.Pod).Status.Phase != corev1.PodSucceeded {",
	},
	{
		name: "rejected-write-is-not-sent-again", kind: "wake-up", file: "internal/outbox/engine.go",
		old: "queued := e.queues.requeueWrite(w)",
		new: "queued := w.attempt > 1 || e.queues.requeueWrite(w)",
	},
	{
		name: "taints-are-ignored", kind: "rule", file: "internal/scheduler/fit/fit.go",
		old: "\tif f.Taints {\n",
		new: "\tif f.Taints && len(info.Taints) > 9 {\n",
	},
	{
		name: "cordoned-nodes-are-used", kind: "rule", file: "internal/scheduler/fit/fit.go",
		old: "if f.Cordon && info.Unschedulable && !toleratesTaint(",
		new: "if f.Cordon && !info.Unschedulable && len(info.Taints) > 9 && !toleratesTaint(",
	},
	{
		name: "equal-priority-is-evicted", kind: "rule", file: "internal/scheduler/policy/priority/priority.go",
		old: "return g == a.Taker.Gang || g.Priority < a.Taker.Priority },\n\t\tMay: func(victims []*model.Task) (bool, string) {\n\t\t\tfor _, v := range victims {\n\t\t\t\tif taker, victim := comparedPriorities(a, v); victim >= taker {",
		new: "return g == a.Taker.Gang || g.Priority <= a.Taker.Priority },\n\t\tMay: func(victims []*model.Task) (bool, string) {\n\t\t\tfor _, v := range victims {\n\t\t\t\tif taker, victim := comparedPriorities(a, v); victim > taker {",
	},
	{
		name: "succeeded-pods-run-again", kind: "rule", file: "internal/controllers/job/plan/plan.go",
		old: "func (b *builder) continueStopping() {\n\tb.markPodsToStop(true)",
		new: "func (b *builder) continueStopping() {\n\tb.markPodsToStop(false)",
	},
	{
		name: "policy-answers-own-deletion", kind: "rule", file: "internal/controllers/job/memory.go",
		old:  "if lost, ok := plan.LostFromPod(pod, now); ok && !ours {",
		new:  "if lost, ok := plan.LostFromPod(pod, now); ok && (ours || !ours) {",
		note: "Harmless: such pods are annotated, or have an older version than the job.",
	},
	{
		name: "max-retry-off-by-one", kind: "rule", file: "internal/controllers/job/plan/phase.go",
		old: "return job.Status.RetryCount >= job.Spec.MaxRetry && job.Status.State.Reason",
		new: "return job.Status.RetryCount > job.Spec.MaxRetry && job.Status.State.Reason",
	},
	{
		name: "closed-queue-admits", kind: "rule", file: "internal/scheduler/queue/ledger.go",
		old: "mine.Known, mine.Open = q.Known, q.Open",
		new: "mine.Known, mine.Open = q.Known, q.Known",
	},
	{
		name: "useless-command-stays", kind: "convergence", file: "internal/controllers/job/plan/plan.go",
		old: "if asked.command != nil && do.next == \"\" {",
		new: "if asked.command != nil && do.next == \"\" && do.sync {",
	},
	{
		name: "pods-of-removed-replicas-stay", kind: "convergence", file: "internal/controllers/job/plan/sync.go",
		old: "m.stopMark = !m.inRange || (m.isLivePod() && notNeeded)",
		new: "m.stopMark = m.isLivePod() && notNeeded",
	},
	{
		name: "ended-job-keeps-podgroup", kind: "convergence", file: "internal/controllers/job/plan/plan.go",
		old: "if b.in.PodGroup != nil && b.in.PodGroup.DeletionTimestamp == nil {\n\t\tb.appendWrites(DeleteGroup{Group: b.in.PodGroup})\n\t}\n\tb.updateCounters(status)",
		new: "b.updateCounters(status)",
	},
	{
		name: "outdated-podgroup-is-kept", kind: "convergence", file: "internal/controllers/job/plan/sync.go",
		old: "case group != nil && !b.groupIsCurrent():\n\t\tb.appendWrites(DeleteGroup{Group: group})\n\t\treturn",
		new: "case group != nil && !b.groupIsCurrent():\n\t\treturn",
	},
	{
		name: "minimum-is-not-refreshed", kind: "convergence", file: "internal/controllers/job/plan/sync.go",
		old: "changed := refreshGroupSpec(group, b.gangForScheduler(), b.in.Priorities, b.mayTaskHavePods); changed {",
		new: "changed := refreshGroupSpec(group, b.gangForScheduler(), b.in.Priorities, b.mayTaskHavePods); changed && spec.MinMember > 1000 {",
	},
}
