package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/test/apiserver"
)

// podHistory records what has happened to a pod of a job.
type podHistory struct {
	at                         replicaID
	version                    int32
	created, failedAt, evicted time.Time // zero if it has not happened
	// codes are the exit codes of the containers of a pod that has failed by itself.
	codes    []int32
	restarts int32
	// rejected is true if a node rejected the pod, so that it has failed without having run.
	rejected bool
	marked   bool // the controllers have announced that they stop it
	deleted  bool
	// isDue is true if it was evicted after faults had stopped, while the job was pending or running.
	isDue bool
}

// hasFailed reports whether the pod has run and failed by itself.
func (p *podHistory) hasFailed() bool { return !p.failedAt.IsZero() && !p.rejected }

// isOfAttempt reports whether the pod belongs to a version of a job: it was created for this version, or it ended before
// and is kept.
func (p *podHistory) isOfAttempt(version int32) bool { return p.version == version || !p.deleted }

// pod returns the recorded history of a pod. It creates the history if none exists.
func (l *jobHistory) pod(pod *corev1.Pod, now time.Time) *podHistory {
	if l.byUID[pod.UID] == nil {
		at, version := placeOfPod(pod)
		l.byUID[pod.UID] = &podHistory{at: at, version: version, created: now}
		l.pods = append(l.pods, l.byUID[pod.UID])
	}
	return l.byUID[pod.UID]
}

// recordEvents records what policies may respond to.
func (c *checks) recordEvents(l *jobHistory, change apiserver.Change, pod *corev1.Pod) {
	p := l.pod(pod, c.world.now)
	p.marked = p.marked || plan.IsMarkedOutOfSync(pod)
	p.restarts = max(p.restarts, restartCount(&pod.Status))
	if pod.Status.Phase == corev1.PodFailed && p.failedAt.IsZero() && !endedAfterDeletion(pod) {
		p.failedAt, p.codes = c.world.now, exitCodesOf(pod)
		p.rejected = len(pod.Status.ContainerStatuses) == 0
	}
	isDeletion := change.Object == nil || pod.DeletionTimestamp != nil
	if !isDeletion {
		return
	}
	p.deleted = true
	if p.evicted.IsZero() && !p.marked {
		p.evicted = c.world.now
		job := c.world.jobWithUID(metav1.GetControllerOf(pod).UID)
		isOfActiveJob := job != nil && isActivePhase(job.Status.State.Phase)
		p.isDue = c.world.calm && isOfActiveJob && !isFinished(pod)
	}
}

// endedAfterDeletion reports whether a pod ended after its deletion was requested, at least a second later. Times of pods
// have no fractions of seconds.
func endedAfterDeletion(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return false
	}
	requested := pod.DeletionTimestamp.Add(-time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
	for i := range pod.Status.ContainerStatuses {
		end := pod.Status.ContainerStatuses[i].State.Terminated
		if end != nil && end.FinishedAt.Sub(requested) >= time.Second {
			return true
		}
	}
	return false
}

// exitCodesOf returns the exit codes of the containers that have failed.
func exitCodesOf(pod *corev1.Pod) []int32 {
	var codes []int32
	for i := range pod.Status.ContainerStatuses {
		if end := pod.Status.ContainerStatuses[i].State.Terminated; end != nil && end.ExitCode != 0 {
			codes = append(codes, end.ExitCode)
		}
	}
	return codes
}

// jobWithUID returns a job, or nil if it no longer exists.
func (w *World) jobWithUID(uid types.UID) *batchv1alpha1.Job {
	for _, job := range w.state.jobs {
		if job.UID == uid {
			return job
		}
	}
	return nil
}

// occurrence is an event to which a policy may respond.
type occurrence struct {
	event busv1alpha1.Event
	task  string // "" for the whole job
	codes []int32
	// at is when it occurred, or zero if this is not recorded.
	at time.Time
}

// responseTo returns the policy that responds to an event, or nil: the first one of the task or, if none responds, of the
// job.
func responseTo(job *batchv1alpha1.Job, o occurrence) *batchv1alpha1.LifecyclePolicy {
	for i := range job.Spec.Tasks {
		if task := &job.Spec.Tasks[i]; task.Name == o.task {
			if p := firstResponse(task.Policies, o); p != nil {
				return p
			}
		}
	}
	return firstResponse(job.Spec.Policies, o)
}

func firstResponse(policies []batchv1alpha1.LifecyclePolicy, o occurrence) *batchv1alpha1.LifecyclePolicy {
	for i := range policies {
		if respondsTo(&policies[i], o) {
			return &policies[i]
		}
	}
	return nil
}

// respondsTo reports whether a policy responds to an event. A policy without a timeout does not respond to pending pods,
// because all pods are pending at first.
func respondsTo(p *batchv1alpha1.LifecyclePolicy, o occurrence) bool {
	if p.ExitCode != nil {
		return slices.Contains(o.codes, *p.ExitCode)
	}
	if o.event == busv1alpha1.PodPendingEvent && p.Timeout == nil {
		return false
	}
	return hasEvent(p, o.event)
}

// hasEvent reports whether a policy names an event, or all events.
func hasEvent(p *batchv1alpha1.LifecyclePolicy, event busv1alpha1.Event) bool {
	events := p.AnsweredEvents()
	return slices.Contains(events, event) || slices.Contains(events, busv1alpha1.AnyEvent)
}

// hasEffect reports whether the response to an event changes anything. A restart of a task needs an event of this task,
// and a restart of pods needs an event of these pods.
func hasEffect(p *batchv1alpha1.LifecyclePolicy, o occurrence) bool {
	switch p.Action {
	case busv1alpha1.RestartTaskAction:
		return o.task != ""
	case busv1alpha1.RestartPodAction:
		return o.task != "" && o.event != busv1alpha1.TaskCompletedEvent
	}
	return true
}

// delayOf returns the timeout of a policy.
func delayOf(p *batchv1alpha1.LifecyclePolicy) time.Duration {
	if p.Timeout == nil {
		return 0
	}
	return p.Timeout.Duration
}

// occurred returns all events of the current version of a job so far.
func (l *jobHistory) occurred(job *batchv1alpha1.Job) []occurrence {
	version := job.Status.Version
	var all []occurrence
	for _, p := range l.pods {
		if p.version != version {
			continue
		}
		all = append(all, occurrence{event: busv1alpha1.PodPendingEvent, task: p.at.task, at: p.created})
		if p.hasFailed() {
			all = append(all, occurrence{event: busv1alpha1.PodFailedEvent, task: p.at.task, codes: p.codes, at: p.failedAt})
		}
		if !p.evicted.IsZero() {
			all = append(all, occurrence{event: busv1alpha1.PodEvictedEvent, task: p.at.task, at: p.evicted})
		}
	}
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		if l.hasSucceeded(task) {
			all = append(all, occurrence{event: busv1alpha1.TaskCompletedEvent, task: task.Name})
		}
		if limit := restartLimit(task); limit > 0 && l.countRestarts(task.Name, version) >= limit {
			all = append(all, occurrence{event: busv1alpha1.TaskFailedEvent, task: task.Name})
		}
	}
	if l.groupUnknown[version] {
		all = append(all, occurrence{event: busv1alpha1.JobUnknownEvent})
	}
	return all
}

// restartLimit returns the number of restarts of containers at which a task fails, or -1.
func restartLimit(task *batchv1alpha1.TaskSpec) int32 {
	if task.MaxRetry == 0 {
		return 3
	}
	return task.MaxRetry
}

// countRestarts returns the restarts of the containers in all pods that a task has had in a version of the job.
func (l *jobHistory) countRestarts(task string, version int32) int32 {
	sum := int32(0)
	for _, p := range l.pods {
		if p.at.task == task && p.version == version {
			sum += p.restarts
		}
	}
	return sum
}

// hasResponse reports whether a policy takes an action in response to an event that has occurred in the current version of
// a job, and long enough ago. clock is by how much the clock of a program may be ahead.
func (l *jobHistory) hasResponse(action busv1alpha1.Action, job *batchv1alpha1.Job, now time.Time, clock time.Duration) bool {
	return slices.ContainsFunc(l.occurred(job), func(o occurrence) bool {
		p := responseTo(job, o)
		if p == nil || p.Action != action {
			return false
		}
		// Times in objects have no fractions of seconds, and kubelets may have reported the end of a pod late.
		isLateReport := o.event == busv1alpha1.PodFailedEvent
		return hasEffect(p, o) && (isLateReport || !now.Add(clock+time.Second).Before(o.at.Add(delayOf(p))))
	})
}

// checkResponses checks that the status of an active job does not count failed pods or completed tasks to which policies
// without a timeout respond: the response comes before all other consequences.
func (c *checks) checkResponses(l *jobHistory, t transition, job *batchv1alpha1.Job) {
	isStopped := t.to == batchv1alpha1.Failed || t.to == batchv1alpha1.Completed
	isActive := isActivePhase(t.to) || isStopped
	if !isActivePhase(t.from) || !isActive || l.resumed {
		return // a resumed job keeps the results of earlier versions
	}
	if p := l.responseToFailures(job); p != nil && job.Status.Failed > 0 {
		c.world.fail("job %s is %s and its status counts %d failed pods, although the policy for %s has not been applied: %s", job.Name, t.to, job.Status.Failed, describeTrigger(p), p.Action)
	}
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		if task.Replicas == 0 || job.Status.TaskStatusCount[task.Name].Phase[corev1.PodSucceeded] < task.Replicas || l.hasMarked(task.Name, job.Status.Version) {
			continue
		}
		o := occurrence{event: busv1alpha1.TaskCompletedEvent, task: task.Name}
		if p := responseTo(job, o); p != nil && p.Timeout == nil && hasEffect(p, o) {
			c.world.fail("job %s is %s and task %s has completed, although the policy for %s has not been applied: %s", job.Name, t.to, task.Name, describeTrigger(p), p.Action)
		}
	}
}

// responseToFailures returns a policy without a timeout that responds to the failure of a pod, if such a policy responds to
// each failed pod that the status may count. Otherwise, it returns nil.
func (l *jobHistory) responseToFailures(job *batchv1alpha1.Job) *batchv1alpha1.LifecyclePolicy {
	var found *batchv1alpha1.LifecyclePolicy
	for _, p := range l.pods {
		if p.version != job.Status.Version || p.failedAt.IsZero() || !hasPlace(job, p.at) {
			continue
		}
		o := occurrence{event: busv1alpha1.PodFailedEvent, task: p.at.task, codes: p.codes}
		found = responseTo(job, o)
		if found == nil || found.Timeout != nil || p.marked {
			return nil
		}
	}
	return found
}

// hasMarked reports whether the controllers have announced that they stop a pod of a task.
func (l *jobHistory) hasMarked(task string, version int32) bool {
	return slices.ContainsFunc(l.pods, func(p *podHistory) bool { return p.at.task == task && p.version == version && p.marked })
}

// maxResponseDelay is the longest time in which the controllers respond to an event without faults. If the policy has a
// timeout, it begins after the timeout.
const maxResponseDelay = time.Minute

// checkPolicies checks, after faults have stopped, that policies respond to the events of jobs in time.
func (w *World) checkPolicies() {
	if !w.calm {
		return
	}
	for _, name := range slices.SortedFunc(maps.Keys(w.state.jobs), compareNames) {
		job := w.state.jobs[name]
		l := w.checks.historyOf(job.UID)
		visible := map[string]occurrence{}
		if isActivePhase(job.Status.State.Phase) && job.DeletionTimestamp == nil {
			visible = w.visibleEvents(l, job)
		}
		maps.DeleteFunc(l.due, func(key string, _ time.Time) bool { _, isVisible := visible[key]; return !isVisible })
		for _, key := range slices.Sorted(maps.Keys(visible)) {
			w.checkResponseInTime(l, job, key, visible[key])
		}
	}
}

// checkResponseInTime fails if an event has been visible without interruption for too long, although a policy responds to
// it.
func (w *World) checkResponseInTime(l *jobHistory, job *batchv1alpha1.Job, key string, o occurrence) {
	if l.due[key].IsZero() {
		l.due[key] = w.now
	}
	p := responseTo(job, o)
	if p == nil || !hasEffect(p, o) {
		return
	}
	// A program whose clock was behind may have scheduled the response too late.
	if w.now.Sub(l.due[key]) > delayOf(p)+maxResponseDelay+w.slowestClock {
		w.fail("job %s is %s, although for %s, the policy for %s should have caused %s: %s", job.Name, orPending(job.Status.State.Phase),
			w.now.Sub(l.due[key]), describeTrigger(p), p.Action, key)
	}
}

// visibleEvents returns the events of a job that follow from the existing objects, and evictions since faults have stopped
// to which policies without a timeout respond. Keys identify events in violations.
func (w *World) visibleEvents(l *jobHistory, job *batchv1alpha1.Job) map[string]occurrence {
	events := map[string]occurrence{}
	version := job.Status.Version
	restarts, done := map[string]int32{}, map[string]int32{}
	for _, pod := range w.state.pods {
		at, podVersion := placeOfPod(pod)
		isCurrent := isOwnedBy(pod, job.UID) && podVersion == version && hasPlace(job, at)
		if !isCurrent || plan.IsMarkedOutOfSync(pod) {
			continue
		}
		if event := w.eventOfPod(pod, l.byUID[pod.UID]); event != "" {
			events[fmt.Sprintf("%s of pod %s with UID %s", event, pod.Name, pod.UID)] = occurrence{event: event, task: at.task, codes: l.byUID[pod.UID].codes}
		}
		switch {
		case pod.DeletionTimestamp != nil:
		case pod.Status.Phase == corev1.PodSucceeded:
			done[at.task]++
		case !isFinished(pod):
			restarts[at.task] += restartCount(&pod.Status)
		}
	}
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		if task.Replicas > 0 && done[task.Name] >= task.Replicas {
			events["completion of task "+task.Name] = occurrence{event: busv1alpha1.TaskCompletedEvent, task: task.Name}
		}
		if limit := restartLimit(task); limit > 0 && restarts[task.Name] >= limit {
			events["failure of task "+task.Name] = occurrence{event: busv1alpha1.TaskFailedEvent, task: task.Name}
		}
	}
	group := w.state.groups[types.NamespacedName{Namespace: job.Namespace, Name: plan.GroupName(job)}]
	if group != nil && group.Status.Phase == schedulingv1beta1.PodGroupUnknown && versionOf(group.Annotations) == version {
		events["lost pods of the PodGroup"] = occurrence{event: busv1alpha1.JobUnknownEvent}
	}
	maps.Copy(events, l.dueEvictions(job))
	return events
}

// eventOfPod returns the event that the state of a pod is, or "".
func (w *World) eventOfPod(pod *corev1.Pod, p *podHistory) busv1alpha1.Event {
	switch {
	case pod.DeletionTimestamp != nil:
		if p.failedAt.IsZero() && pod.Status.Phase != corev1.PodSucceeded {
			return busv1alpha1.PodEvictedEvent
		}
	case p.hasFailed():
		return busv1alpha1.PodFailedEvent
	case !p.rejected && (pod.Status.Phase == corev1.PodPending || pod.Status.Phase == ""):
		return busv1alpha1.PodPendingEvent
	}
	return ""
}

// dueEvictions returns the evictions since faults have stopped to which a policy without a timeout must respond, even after
// the pods are gone.
func (l *jobHistory) dueEvictions(job *batchv1alpha1.Job) map[string]occurrence {
	events := map[string]occurrence{}
	for i, p := range l.pods {
		isCurrent := p.version == job.Status.Version && hasPlace(job, p.at)
		if !p.isDue || !isCurrent || p.evicted.Before(l.acted) {
			continue
		}
		o := occurrence{event: busv1alpha1.PodEvictedEvent, task: p.at.task}
		if response := responseTo(job, o); response != nil && response.Timeout == nil {
			events[fmt.Sprintf("eviction of pod %d of the job, for %s-%d", i, p.at.task, p.at.index)] = o
		}
	}
	return events
}

// recordAction records when a job has left the phases in which policies respond. Afterwards, its events are new ones.
func (l *jobHistory) recordAction(t transition, job *batchv1alpha1.Job, now time.Time) {
	l.resumed = l.resumed || strings.Contains(job.Status.State.Reason, string(busv1alpha1.ResumeJobAction))
	if !isActivePhase(t.to) {
		l.acted = now
		clear(l.due)
	}
}
