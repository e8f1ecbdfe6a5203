package main

// schedulerBugs lists the bugs in the scheduler, its model, its feed and its outbox, and in the fence of leaders.
var schedulerBugs = []bug{
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
		name: "fence-closes-late", kind: "leadership", file: "internal/daemon/leaderfence/leaderfence.go",
		old: "now.Sub(f.renewed) > f.limit",
		new: "now.Sub(f.renewed) > 3*f.limit",
	},
	{
		name: "lost-reply-of-bind-is-failure", kind: "lost reply", file: "internal/outbox/pods.go",
		old: "case uid == pod.UID && boundTo == node:\n\t\treturn nil",
		new: "case uid == pod.UID && boundTo == node:\n\t\treturn conflict",
	},
	{
		name: "lost-connection-is-success", kind: "lost reply", file: "internal/outbox/verdict.go",
		old: "return transient // the connection was refused or lost, or our own deadline passed",
		new: "return done",
	},
	{
		name: "failed-bind-is-not-reported", kind: "lost reply", file: "internal/outbox/pods.go",
		old: "o.reportAfterPause(err, model.BindFailed{UID: pod.UID, Err: err.Error()})",
		new: "_ = model.BindFailed{UID: pod.UID, Err: err.Error()}",
	},
	{
		name: "failed-eviction-is-not-reported", kind: "lost reply", file: "internal/outbox/pods.go",
		old: "o.reportAfterPause(err, model.EvictFailed{UID: pod.UID, Err: err.Error()})",
		new: "_ = model.EvictFailed{UID: pod.UID, Err: err.Error()}",
	},
	{
		name: "failed-status-is-not-written-again", kind: "lost reply", file: "internal/outbox/status.go",
		old: "o.reportAfterPause(err, model.GangStatusFailed{UID: gang.UID})",
		new: "_ = model.GangStatusFailed{UID: gang.UID}",
	},
	{
		name: "refused-bind-is-success", kind: "lost reply", file: "internal/outbox/pods.go",
		old: "\t\t\tif apierrors.IsConflict(err) {\n\t\t\t\treturn o.explainConflict(ctx, pod, node, err)",
		new: "\t\t\tif apierrors.IsConflict(err) || apierrors.IsNotFound(err) {\n\t\t\t\treturn nil",
	},
	{
		name: "raised-minimum-is-not-checked", kind: "stale read", file: "internal/outbox/verify.go",
		old: "if int(pg.Spec.MinMember) > check.MinMember {",
		new: "if int(pg.Spec.MinMember) > check.MinMember+100 {",
	},
	{
		name: "missed-deletion-after-relist", kind: "stale read", file: "internal/feed/sink.go",
		old: "deltas = append(deltas, s.gone(name, s.seen[name]))",
		new: "",
	},
	{
		name: "watched-deletion-is-dropped", kind: "stale read", file: "internal/feed/sink.go",
		old: "\t\tdelete(s.seen, name)\n\t\ts.feed.Put(s.gone(name, uid))",
		new: "\t\t_ = uid",
	},
	{
		name: "bind-without-uid", kind: "identity", file: "internal/outbox/pods.go",
		old: "Name: pod.Name, UID: pod.UID, Annotations: notes}",
		new: "Name: pod.Name, Annotations: notes}",
	},
	{
		name: "status-of-an-older-podgroup", kind: "identity", file: "internal/outbox/status.go",
		old: `{"op": "test", "path": "/metadata/uid", "value": gang.UID},`,
		new: `{"op": "test", "path": "/metadata/name", "value": gang.Name},`,
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
		name: "promise-frees-idle-resources", kind: "accounting", file: "internal/scheduler/overlay/overlay.go",
		old: "if t.Value > o.Idle[i] || t.Value > o.Future[i] {",
		new: "if t.Value > o.Future[i] {",
	},
	{
		name: "succeeded-pods-are-missing", kind: "accounting", file: "internal/model/gang.go",
		old: "return g.AllocatedTasks() + g.Count[Succeeded] }",
		new: "return g.AllocatedTasks() }",
	},
	{
		name: "queue-status-lacks-bound-pods", kind: "accounting", file: "internal/model/status.go",
		old: "func (s Status) IsAllocated() bool { return s == Binding || s == Bound || s == Running }",
		new: "func (s Status) IsAllocated() bool { return s == Bound || s == Running }",
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
		old: "c.moveTaskTo(t, t.seen.node, t.seen.status)",
		new: "",
	},
	{
		name: "decisions-are-not-assumed", kind: "undo", file: "internal/daemon/cycleloop/cycleloop.go",
		old: "decision.Assume(l.Cluster, &d)",
		new: "_ = decision.Assume",
	},
	{
		name: "assumed-bind-survives-deletion", kind: "undo", file: "internal/model/taskchanges.go",
		old: "\tc.removeTaskFromSums(t)\n\tc.forgetAttached(t)\n\tif t.Gang != nil {",
		new: "\tif t.assumedNode == NoNode {\n\t\tc.removeTaskFromSums(t)\n\t}\n\tc.forgetAttached(t)\n\tif t.Gang != nil {",
	},
	{
		name: "simulated-queue-stays-empty", kind: "undo", file: "internal/scheduler/cycle/couldstart.go",
		old: "\tdefer s.vacateQueues(j)()",
		new: "\ts.vacateQueues(j)",
	},
	{
		name: "withdrawn-promise-keeps-its-node", kind: "undo", file: "internal/model/assumptions.go",
		old: "\tcase node == \"\" && t.Status == Pipelined:\n\t\tc.moveTaskTo(t, NoNode, Pending)",
		new: "\tcase node == \"\" && t.Status == Pipelined:",
	},
	{
		name: "removed-pod-stays-on-its-node", kind: "undo", file: "internal/model/taskchanges.go",
		old: "\t\tc.trackLeaving(t, false)\n\t\tc.countTaskOnNode(t, -1)",
		new: "\t\tc.trackLeaving(t, false)",
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
		name: "closed-queue-admits", kind: "rule", file: "internal/scheduler/queue/ledger.go",
		old: "mine.Known, mine.Open = q.Known, q.Open",
		new: "mine.Known, mine.Open = q.Known, q.Known",
	},
	{
		name: "task-minimum-is-ignored", kind: "rule", file: "internal/scheduler/framework/job.go",
		old: "\treturn j.Need() == 0 && len(j.RoleNeeds()) == 0 &&",
		new: "\treturn j.Need() == 0 &&",
	},
	{
		name: "gang-without-request-is-not-admitted", kind: "rule", file: "internal/scheduler/action/enqueue/enqueue.go",
		old: "\tif !s.CheckQueueOpen(j) {\n\t\treturn false\n\t}\n\tif v := s.Rules.CheckAdmissible(j)",
		new: "\tif !s.CheckQueueOpen(j) || (!j.HasMinResources && j.MinMember > 1) {\n\t\treturn false\n\t}\n\tif v := s.Rules.CheckAdmissible(j)",
	},
	{
		name: "overwritten-queue-status-stays", kind: "lost reply", file: "internal/model/queuechanges.go",
		old: "q.Published.Unconfirmed = !observed.IsSameStatus(&q.Published)",
		new: "q.Published.Unconfirmed = false",
	},
	{
		name: "overwritten-gang-status-stays", kind: "lost reply", file: "internal/model/gangchanges.go",
		old: "g.unconfirmed = !isSameGangStatus(&d.Status, &g.Status)",
		new: "g.unconfirmed = false",
	},
	{
		name: "partial-gang-is-released-late", kind: "rule", file: "internal/scheduler/policy/gang/release.go",
		old:  "at := last.Add(p.window)",
		new:  "at := last.Add(3 * p.window)",
		note: "other pods end so soon that the rest of a gang nearly always finds a node within the bind window",
	},
}
