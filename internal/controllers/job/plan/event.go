package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/podtermination"
)

// defaultTaskRetry is the number of container restarts after which a task without maxRetry fails.
const defaultTaskRetry = 3

// event is an occurrence to which a policy may respond.
type event struct {
	kind  busv1alpha1.Event
	at    time.Time
	task  int     // -1 for the whole job
	where []Place // places of the affected pods
	codes []int32 // exit codes of the failed containers
	lost  []types.UID
	text  string
	cause *Cause // the reason why a pod failed or was lost
	// inferred is true if the event was found only by comparing the number of pods with the status.
	inferred bool
	// undated is true if the objects contain no time for the event; at is then the time when it was first observed.
	undated bool
}

// rank orders events that occurred within the same second. Events that end the job successfully come before events that
// result from its end.
var rank = map[busv1alpha1.Event]int{
	busv1alpha1.TaskCompletedEvent: 0, busv1alpha1.PodFailedEvent: 1, busv1alpha1.PodEvictedEvent: 2, busv1alpha1.TaskFailedEvent: 3, busv1alpha1.JobUnknownEvent: 4, busv1alpha1.PodPendingEvent: 5,
}

// hasPolicies reports whether the job or one of its tasks has policies.
func hasPolicies(job *batchv1alpha1.Job) bool {
	if len(job.Spec.Policies) > 0 {
		return true
	}
	return slices.ContainsFunc(job.Spec.Tasks, func(t batchv1alpha1.TaskSpec) bool { return len(t.Policies) > 0 })
}

// collectEvents returns the events of the job's current version that are visible in the objects, in the order in which
// to respond to them.
func (b *builder) collectEvents() []event {
	if !hasPolicies(b.job) {
		return nil
	}
	list := b.podEvents()
	list = append(list, b.lostEvents()...)
	list = append(list, b.taskEvents()...)
	if pg := b.in.PodGroup; pg != nil && pg.Status.Phase == schedulingv1beta1.PodGroupUnknown && b.groupIsCurrent() {
		list = append(list, event{kind: busv1alpha1.JobUnknownEvent, undated: true, task: -1, text: "some pods of the gang no longer exist"})
	}
	b.dateEvents(list)
	slices.SortStableFunc(list, func(x, y event) int {
		return cmp.Or(x.at.Compare(y.at), cmp.Compare(rank[x.kind], rank[y.kind]))
	})
	return list
}

// dateEvents sets the time of undated events to the time when they were first observed.
func (b *builder) dateEvents(list []event) {
	for i := range list {
		e := &list[i]
		if !e.undated {
			continue
		}
		key := fmt.Sprintf("%s/%d/%d", e.kind, e.task, b.job.Status.Version)
		e.at = b.in.Now
		if since, seen := b.in.Since[key]; seen {
			e.at = since
		}
		if b.plan.Since == nil {
			b.plan.Since = map[string]time.Time{}
		}
		b.plan.Since[key] = e.at
	}
}

// podEvents returns the PodFailed, PodEvicted and PodPending events of existing pods.
func (b *builder) podEvents() []event {
	var list []event
	for m := range b.census.inRange() {
		isHandled := m.marked || m.ours
		if isHandled || m.version != b.job.Status.Version {
			continue
		}
		e := event{task: m.place.Task, where: []Place{m.place}}
		switch {
		case m.gone && WasEvicted(m.pod):
			e.kind, e.at = busv1alpha1.PodEvictedEvent, podtermination.DeletionRequestedAt(m.pod)
			e.text = fmt.Sprintf("pod %s was evicted", m.pod.Name)
			e.cause = new(causeOfLoss(b.placeDisplayName(m.place), m.pod))
		case m.podPhaseOf() == corev1.PodFailed:
			e.kind, e.at, e.codes = busv1alpha1.PodFailedEvent, podtermination.FinishTime(m.pod), exitCodes(m.pod)
			e.text = fmt.Sprintf("pod %s failed%s", m.pod.Name, exitCodesText(e.codes))
			e.cause = new(b.causeOfMember(m))
		case m.isLivePod() && (m.podPhaseOf() == corev1.PodPending || m.podPhaseOf() == ""):
			e.kind, e.at = busv1alpha1.PodPendingEvent, m.pod.CreationTimestamp.Time
			e.text = fmt.Sprintf("pod %s is pending", m.pod.Name)
		default:
			continue
		}
		list = append(list, e)
	}
	return list
}

// lostEvents returns the events about pods that no longer exist. These are pods whose deletion was observed, and
// missing pods that the status still counts.
func (b *builder) lostEvents() []event {
	var list []event
	seen := make(map[int]int32, len(b.job.Spec.Tasks))
	for _, l := range b.in.Lost {
		task := b.findTaskIndex(l.Task)
		if task < 0 || l.Version != b.job.Status.Version || l.Index >= b.job.Spec.Tasks[task].Replicas {
			continue
		}
		place := Place{Task: task, Index: l.Index}
		if m := b.census.taken[place]; m == nil || m.pod.UID == l.UID {
			seen[task]++
		} else if m.podPhaseOf() == corev1.PodRunning {
			continue // the pod runs again, which cancels a delayed response
		}
		e := event{kind: busv1alpha1.PodEvictedEvent, at: l.At, task: task, where: []Place{place}, lost: []types.UID{l.UID},
			cause: b.causeOfLost(&l, place), text: fmt.Sprintf("pod %s was evicted", l.Name)}
		if l.Failed {
			e.kind, e.codes, e.text = busv1alpha1.PodFailedEvent, l.Codes, fmt.Sprintf("pod %s failed%s", l.Name, exitCodesText(l.Codes))
		}
		list = append(list, e)
	}
	for task := range b.job.Spec.Tasks {
		if missing := b.countMissingPods(task) - seen[task]; missing > 0 {
			text := fmt.Sprintf("%d of the pods of task %s were evicted", missing, b.job.Spec.Tasks[task].Name)
			list = append(list, event{kind: busv1alpha1.PodEvictedEvent, at: b.in.Now, task: task, inferred: true, where: b.firstMissingPlaces(task, maxPlaces),
				cause: &Cause{code: reason.Evicted, text: text}, text: text})
		}
	}
	return list
}

// countMissingPods returns the number of missing pods of a task. A pod is missing if the status counts it although it
// does not exist, and if it cannot be a finished pod that was deleted.
func (b *builder) countMissingPods(task int) int32 {
	spec := &b.job.Spec.Tasks[task]
	var then, finishedThen, now, finishedNow int32
	for phase, n := range b.job.Status.TaskStatusCount[spec.Name].Phase {
		then += n
		if phase == corev1.PodSucceeded || phase == corev1.PodFailed {
			finishedThen += n
		}
	}
	if then == 0 {
		return 0
	}
	for _, m := range b.census.members {
		if m.place.Task != task {
			continue
		}
		// A pod that is being deleted has its own event, unless the controller stopped the pod. In that case, the
		// status does not count it.
		if m.gone && (m.marked || m.version < b.job.Status.Version) {
			continue
		}
		switch {
		case !m.inRange: // a user has scaled the task down, and the status counts the pod
			then--
			if m.hasFinished() {
				finishedThen--
			}
		case m.hasFinished():
			now++
			finishedNow++
		default:
			now++
		}
	}
	return min(then, spec.Replicas) - now - max(0, finishedThen-finishedNow)
}

// taskTally counts the pods of a task that matter for its events.
type taskTally struct {
	// succeeded counts the succeeded pods. current is true if one of them has the job's version, and last is the latest
	// time at which one of them finished.
	succeeded int32
	current   bool
	last      time.Time
	// restarts counts the restarts of containers in live pods, and restarted lists the places of these pods.
	restarts  int32
	restarted []Place
}

// addMember counts a pod.
func (t *taskTally) addMember(m *member, version int32) {
	isCurrent := m.version == version
	switch {
	case m.podPhaseOf() == corev1.PodSucceeded:
		t.succeeded++
		t.current = t.current || isCurrent
		if at := podtermination.FinishTime(m.pod); at.After(t.last) {
			t.last = at
		}
	case m.isLivePod() && isCurrent:
		if n := restartCount(m.pod); n > 0 {
			t.restarts += n
			t.restarted = append(t.restarted, m.place)
		}
	}
}

// taskEvents returns the TaskCompleted and TaskFailed events.
func (b *builder) taskEvents() []event {
	tallies := make([]taskTally, len(b.job.Spec.Tasks))
	for m := range b.census.inRange() {
		if !m.gone && !m.marked {
			tallies[m.place.Task].addMember(m, b.job.Status.Version)
		}
	}
	var list []event
	for task := range tallies {
		t, spec := &tallies[task], &b.job.Spec.Tasks[task]
		absent := b.countRecorded(task)
		if spec.Replicas > 0 && t.succeeded+absent.succeeded >= spec.Replicas-absent.cancelled && t.current {
			list = append(list, event{kind: busv1alpha1.TaskCompletedEvent, at: t.last, task: task, text: fmt.Sprintf("task %s completed", spec.Name)})
		}
		limit := cmp.Or(spec.MaxRetry, defaultTaskRetry)
		if spec.Replicas > 0 && limit > 0 && t.restarts >= limit {
			text := fmt.Sprintf("containers of task %s restarted %d times; the limit is %d", spec.Name, t.restarts, limit)
			list = append(list, event{kind: busv1alpha1.TaskFailedEvent, undated: true, task: task, where: t.restarted,
				cause: &Cause{code: reason.PodFailed, text: text}, text: text})
		}
	}
	return list
}

func restartCount(pod *corev1.Pod) int32 {
	var n int32
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			n += statuses[i].RestartCount
		}
	}
	return n
}

// exitCodes returns the distinct nonzero exit codes of all containers.
func exitCodes(pod *corev1.Pod) []int32 {
	var codes []int32
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			t := statuses[i].State.Terminated
			if t != nil && t.ExitCode != 0 && !slices.Contains(codes, t.ExitCode) {
				codes = append(codes, t.ExitCode)
			}
		}
	}
	return codes
}

func exitCodesText(codes []int32) string {
	if len(codes) == 0 {
		return ""
	}
	return fmt.Sprintf(" with exit code %d", codes[0])
}
