package main

// controllerBugs lists the bugs in the controllers of jobs, queues and flows.
var controllerBugs = []bug{
	{
		name: "existing-pod-is-an-error", kind: "lost reply", file: "internal/controllers/job/apply.go",
		old: "case metav1.IsControlledBy(&there, a.job):\n\t\ta.known.recordCreatedPod(&there, a.now())\n\t\treturn nil",
		new: "case metav1.IsControlledBy(&there, a.job):\n\t\treturn a.deleteObject(ctx, &there)",
	},
	{
		name: "status-conflict-is-ignored", kind: "lost reply", file: "internal/controllers/job/apply.go",
		old: "\tif err := a.api.Status().Update(ctx, &update); err != nil {",
		new: "\tif err := a.api.Status().Update(ctx, &update); err != nil && !apierrors.IsConflict(err) {",
	},
	{
		name: "failed-deletion-is-success", kind: "lost reply", file: "internal/controllers/job/apply.go",
		old: "\t\treturn nil\n\t}\n\treturn client.IgnoreNotFound(err)\n}\n\n// deleteGroup",
		new: "\t\treturn nil\n\t}\n\t_ = client.IgnoreNotFound(err)\n\treturn nil\n}\n\n// deleteGroup",
	},
	{
		name: "failed-annotation-is-success", kind: "lost reply", file: "internal/controllers/job/apply.go",
		old: "\tif err != nil && !isPodGone {\n\t\treturn err\n\t}\n\tif pod.DeletionTimestamp != nil {",
		new: "\tif err != nil && !isPodGone {\n\t\treturn nil\n\t}\n\tif pod.DeletionTimestamp != nil {",
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
		name: "commands-are-read-from-the-cache", kind: "stale read", file: "internal/controllers/job/commands.go",
		old: "err := r.api.Get(ctx, client.ObjectKeyFromObject(&cached[i]), &c)",
		new: "err := r.cache.Get(ctx, client.ObjectKeyFromObject(&cached[i]), &c)",
	},
	{
		name: "deleted-podgroup-is-used", kind: "stale read", file: "internal/controllers/job/read.go",
		old: "if group.UID == known.groupGone && group.DeletionTimestamp == nil {",
		new: "if group.UID == known.groupGone && group.DeletionTimestamp != nil {",
	},
	{
		name: "restarted-controllers-trust-lost-pods", kind: "stale read", file: "internal/controllers/job/fence.go",
		old: "return now.Sub(r.started) < catchUp &&",
		new: "return now.Sub(r.started) < 0 &&",
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
		name: "outdated-podgroup-is-current", kind: "identity", file: "internal/controllers/job/plan/group.go",
		old: "return err != nil || int32(version) >= b.job.Status.Version",
		new: "return err != nil || version >= 0",
	},
	{
		name: "new-pods-have-the-old-version", kind: "identity", file: "internal/controllers/job/plan/plan.go",
		old: "\tif do.kill != killTarget {\n\t\tstatus.Version++",
		new: "\tif do.kill != killTarget {\n\t\tstatus.Version += 0",
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
		name: "job-deleted-before-its-time", kind: "order", file: "internal/controllers/job/plan/plan.go",
		old: "\t\tcase left > 0:\n\t\t\tb.requestPlanAfter(left)",
		new: "\t\tcase left > 30*time.Second:\n\t\t\tb.requestPlanAfter(left)",
	},
	{
		name: "dependent-tasks-start-at-once", kind: "order", file: "internal/controllers/job/plan/dependencies.go",
		old: "\treturn met == len(d.Name)",
		new: "\treturn met <= len(d.Name)",
	},
	{
		name: "steps-do-not-wait-for-completion", kind: "order", file: "internal/controllers/jobflow/plan.go",
		old: "case s != nil && s.State == batchv1alpha1.Completed:\n\t\tcase",
		new: "case s != nil && s.State != batchv1alpha1.Pending:\n\t\tcase",
	},
	{
		name: "killed-pod-counts-as-gone", kind: "order", file: "internal/controllers/job/plan/census.go",
		old: "\treturn c.pending + c.running + c.unknown + c.terminating",
		new: "\treturn c.pending + c.running + c.unknown",
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
		name: "running-job-lacks-its-minimum", kind: "accounting", file: "internal/controllers/job/plan/phase.go",
		old: "if n.requiredStarted(job) <= n.running+n.succeeded+n.failed {",
		new: "if n.requiredStarted(job) <= n.running+n.succeeded+n.failed+n.pending {",
	},
	{
		name: "success-off-by-one", kind: "accounting", file: "internal/controllers/job/plan/phase.go",
		old: "if n.succeeded >= job.Spec.MinAvailable {",
		new: "if n.succeeded+1 >= job.Spec.MinAvailable {",
	},
	{
		name: "unfinished-pods-are-enough", kind: "accounting", file: "internal/controllers/job/plan/phase.go",
		old: "want != nil && n.succeeded >= *want {",
		new: "want != nil && n.succeeded+n.running >= *want {",
	},
	{
		name: "queue-counts-admitted-gangs-as-pending", kind: "accounting", file: "internal/controllers/queue/plan.go",
		old: "case schedulingv1beta1.PodGroupInqueue:\n\t\t\tc.inqueue++",
		new: "case schedulingv1beta1.PodGroupInqueue:\n\t\t\tc.pending++",
	},
	{
		name: "replica-off-by-one", kind: "accounting", file: "internal/controllers/job/plan/census.go",
		old: "m.inRange = index < job.Spec.Tasks[t].Replicas",
		new: "m.inRange = index <= job.Spec.Tasks[t].Replicas",
	},
	{
		name: "resumed-job-keeps-its-failures", kind: "undo", file: "internal/controllers/job/plan/phase.go",
		old: " && job.Status.State.Reason != string(busv1alpha1.ResumeJobAction)\n",
		new: "\n",
	},
	{
		name: "postponed-status-is-dropped", kind: "wake-up", file: "internal/controllers/job/reconciler.go",
		old: "if a.later > 0 && (result.RequeueAfter == 0 || a.later < result.RequeueAfter) {",
		new: "if a.later > 0 && a.later < result.RequeueAfter {",
	},
	{
		name: "changed-pods-do-not-wake-job", kind: "wake-up", file: "internal/controllers/job/handler.go",
		old: "\t\t\tif affectsPlan(e.ObjectOld.(*corev1.Pod), e.ObjectNew.(*corev1.Pod)) {",
		new: "\t\t\tif affectsPlan(e.ObjectOld.(*corev1.Pod), e.ObjectNew.(*corev1.Pod)) && e.ObjectNew.(*corev1.Pod).Status.Phase != corev1.PodSucceeded {",
	},
	{
		name: "postponed-counters-are-forgotten", kind: "wake-up", file: "internal/controllers/queue/reconciler.go",
		old: "return reconcile.Result{RequeueAfter: wait}, nil",
		new: "return reconcile.Result{}, nil",
	},
	{
		name: "deleted-podgroups-do-not-wake-queue", kind: "wake-up", file: "internal/controllers/queue/reconciler.go",
		old: "e event.DeleteEvent, q workQueue) { wake(e.Object, q) }",
		new: "_ event.DeleteEvent, _ workQueue) {}",
	},
	{
		name: "parent-does-not-wake-children", kind: "wake-up", file: "internal/controllers/queue/reconciler.go",
		old: "\trequests := make([]reconcile.Request, len(list.Items))",
		new: "\trequests := make([]reconcile.Request, min(0, len(list.Items)))",
	},
	{
		name: "ended-jobs-do-not-wake-flow", kind: "wake-up", file: "internal/controllers/jobflow/reconciler.go",
		old: "UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { wake(e.ObjectNew, q) },",
		new: "UpdateFunc: func(_ context.Context, _ event.UpdateEvent, _ queue) {},",
	},
	{
		name: "commands-do-not-wake-job", kind: "wake-up", file: "internal/controllers/job/commands.go",
		old: "\tif !index.IsJobCommand(c) {\n\t\treturn nil\n\t}\n\treturn",
		new: "\tif !index.IsJobCommand(c) || c.Name != \"\" {\n\t\treturn nil\n\t}\n\treturn",
	},
	{
		name: "admission-does-not-wake-job", kind: "wake-up", file: "internal/controllers/job/handler.go",
		old: "\t\t\twake(e.ObjectNew, q, priority)",
		new: "\t\t\t_ = priority",
	},
	{
		name: "delayed-policy-is-forgotten", kind: "wake-up", file: "internal/controllers/job/plan/decide.go",
		old: "\t\t\t\tb.requestPlanAfter(left)\n\t\t\t\tb.delayed = true",
		new: "\t\t\t\tb.delayed = true",
	},
	{
		name: "lifetime-is-forgotten", kind: "wake-up", file: "internal/controllers/job/plan/plan.go",
		old: "\t\tcase left > 0:\n\t\t\tb.requestPlanAfter(left)",
		new: "\t\tcase left > 0:",
	},
	{
		name: "job-ends-by-an-old-list", kind: "stale read", file: "internal/controllers/job/plan/plan.go",
		old:  "if b.isInputOutdated() && b.haveAllPodsEnded() {",
		new:  "if false && b.haveAllPodsEnded() {",
		note: "a first list without a pod of a job that is being stopped is rare; the script job-ends-by-an-old-list has one",
	},
	{
		name: "quota-is-taken-from-deleted-minimum", kind: "rule", file: "internal/controllers/job/plan/holes.go",
		old:  "case b.isMinimumBeingDeleted(needed):",
		new:  "case false && b.isMinimumBeingDeleted(needed):",
		note: "a quota that is full while a pod of a minimum is being deleted is rare; the tests of the plan have this case",
	},
	{
		name: "succeeded-pods-run-again", kind: "rule", file: "internal/controllers/job/plan/plan.go",
		old: "b.markPodsToStop(true)\n\tb.countAndSettle()",
		new: "b.markPodsToStop(false)\n\tb.countAndSettle()",
	},
	{
		name: "max-retry-off-by-one", kind: "rule", file: "internal/controllers/job/plan/phase.go",
		old: "return job.Status.RetryCount >= job.Spec.MaxRetry && job.Status.State.Reason",
		new: "return job.Status.RetryCount > job.Spec.MaxRetry && job.Status.State.Reason",
	},
	{
		name: "restarts-of-containers-are-unlimited", kind: "rule", file: "internal/controllers/job/plan/hopeless.go",
		old: "|| restartCount(m.pod) <= limit ||",
		new: "|| restartCount(m.pod) <= 100*limit ||",
	},
	{
		name: "stuck-job-does-not-end", kind: "rule", file: "internal/controllers/job/plan/hopeless.go",
		old: "\tif waiting == \"\" {\n\t\treturn nil\n\t}\n\tc := Cause",
		new: "\tif waiting != \"\" || waiting == \"\" {\n\t\treturn nil\n\t}\n\tc := Cause",
	},
	{
		name: "closed-queue-does-not-close-children", kind: "rule", file: "internal/controllers/queue/plan.go",
		old: "\treturn parent != nil && parent.Name != keys.RootQueue && isClosedOrClosing(parent)",
		new: "\treturn parent != nil && parent.Name == keys.RootQueue && isClosedOrClosing(parent)",
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
	{
		name: "opened-by-its-parent-stays-closed", kind: "convergence", file: "internal/controllers/queue/plan.go",
		old: "\tcase opened && isClosedOrClosing(q) && byParent:",
		new: "\tcase opened && isClosedOrClosing(q) && byParent && q.Name == \"\":",
	},
	{
		name: "empty-queue-stays-closing", kind: "convergence", file: "internal/controllers/queue/plan.go",
		old: "\tcase schedulingv1beta1.QueueStateClosing:\n\t\treturn closing",
		new: "\tcase schedulingv1beta1.QueueStateClosing:\n\t\treturn state",
	},
	{
		name: "plugin-objects-stay", kind: "convergence", file: "internal/controllers/job/plan/plan.go",
		old: "\tif len(status.ControlledResources) != before {",
		new: "\tif len(status.ControlledResources) > before {",
	},
	{
		name: "gated-job-without-pods-runs", kind: "rule", file: "internal/controllers/job/plan/hopeless.go",
		old: "if phase == batchv1alpha1.Running && b.isWaitingAtGate() {",
		new: "if phase == batchv1alpha1.Running && b.isWaitingAtGate() && n.pending > 0 {",
	},
	{
		name: "begin-time-is-ignored", kind: "rule", file: "internal/controllers/job/plan/gate.go",
		old: "case begin.After(now):",
		new: "case begin.After(now) && d.code != \"\":",
	},
	{
		name: "dependency-is-met-by-a-failure", kind: "rule", file: "internal/controllers/job/plan/gate.go",
		old: "case term.Kind == batchv1alpha1.AfterOK && !o.ok:",
		new: "case term.Kind == batchv1alpha1.AfterOK && o.partly:",
	},
	{
		name: "released-job-is-not-planned", kind: "wake-up", file: "internal/controllers/job/plan/gate.go",
		old: "if !g.until.IsZero() {\n\t\tb.requestPlanAfter",
		new: "if !g.until.IsZero() && g.code != reason.BeginTime {\n\t\tb.requestPlanAfter",
	},
	{
		name: "exit-code-of-first-container", kind: "rule", file: "internal/controllers/job/plan/event.go",
		old: "if t != nil && t.ExitCode != 0 && !slices.Contains(codes, t.ExitCode) {",
		new: "if t != nil && i == 0 && t.ExitCode != 0 && !slices.Contains(codes, t.ExitCode) {",
	},
	{
		name: "exit-code-is-ignored", kind: "rule", file: "internal/controllers/job/plan/policy.go",
		old: "return *p.ExitCode != 0 && slices.Contains(e.codes, *p.ExitCode)",
		new: "return *p.ExitCode == 0 && slices.Contains(e.codes, *p.ExitCode)",
	},
	{
		name: "any-event-is-ignored", kind: "rule", file: "internal/controllers/job/plan/policy.go",
		old: "return event == e.kind || event == busv1alpha1.AnyEvent",
		new: "return event == e.kind",
	},
	{
		name: "pending-pods-need-no-timeout", kind: "rule", file: "internal/controllers/job/plan/policy.go",
		old: "if e.kind == busv1alpha1.PodPendingEvent && p.Timeout == nil {",
		new: "if e.kind == busv1alpha1.PodPendingEvent && p.Timeout == nil && p.Event != busv1alpha1.AnyEvent {",
	},
	{
		name: "policy-of-job-comes-first", kind: "rule", file: "internal/controllers/job/plan/policy.go",
		old: "\tif e.task >= 0 {\n",
		new: "\tif a, ok := firstMatchingPolicy(job.Spec.Policies, e); ok {\n\t\treturn a, true\n\t}\n\tif e.task >= 0 {\n",
	},
	{
		name: "task-fails-one-restart-late", kind: "accounting", file: "internal/controllers/job/plan/event.go",
		old: "limit > 0 && t.restarts >= limit {",
		new: "limit > 0 && t.restarts > limit {",
	},
	{
		name: "restarts-count-as-lost-pods", kind: "accounting", file: "internal/controllers/job/plan/phase.go",
		old: "if n.pending > total-n.requiredStarted(job) {",
		new: "if n.pending+job.Status.RetryCount > total-n.requiredStarted(job) {",
	},
	{
		name: "conflict-means-gone", kind: "lost reply", file: "internal/local/simnode/due.go",
		old: "err == nil && what == stepRemove, apierrors.IsNotFound(err):",
		new: "err == nil && what == stepRemove, apierrors.IsNotFound(err), apierrors.IsConflict(err):",
	},
	{
		name: "elastic-gang-needs-all-its-pods", kind: "rule", file: "internal/controllers/job/plan/group.go",
		old: "spec.MinMember = min(job.Spec.MinAvailable, possible)",
		new: "spec.MinMember = possible",
	},
	{
		name: "minimum-requests-all-pods", kind: "accounting", file: "internal/controllers/job/plan/group.go",
		old: "\tleft := job.Spec.MinAvailable\n",
		new: "\tleft := countReplicas(job)\n",
	},
	{
		name: "job-in-closed-queue-does-not-end", kind: "convergence", file: "internal/controllers/job/plan/sync.go",
		old: "if phase, failed, why := b.judgePhase(&n); phase != b.currentPhase() {",
		new: "if phase, failed, why := b.judgePhase(&n); phase != b.currentPhase() && (b.in.Queue == nil || b.in.Queue.Status.State == schedulingv1beta1.QueueStateOpen) {",
	},
	{
		name: "flow-skips-a-step", kind: "rule", file: "internal/controllers/jobflow/plan.go",
		old: "case s != nil && s.State == batchv1alpha1.Completed:\n\t\tcase s == nil",
		new: "case s != nil && s.State == batchv1alpha1.Completed && step != &p.in.Flow.Spec.Flows[1]:\n\t\tcase s == nil",
	},
	{
		name: "cronjob-creates-nothing", kind: "rule", file: "internal/controllers/cronjob/plan.go",
		old: "\tp.Create = newJob(c, name, due)\n",
		new: "\t_ = newJob(c, name, due)\n",
	},
	{
		name: "cronjob-does-not-wake", kind: "wake-up", file: "internal/controllers/cronjob/plan.go",
		old: "p.RequeueAfter = next.Sub(now) + lateness",
		new: "p.RequeueAfter = 0",
	},
}
