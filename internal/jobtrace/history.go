package jobtrace

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// maxAttempts is the maximum number of attempts in a history. If there are more, the oldest are dropped.
const maxAttempts = 64

// Attempt holds the times of one attempt to run a job. A zero time is unknown or was never reached.
type Attempt struct {
	// Number is 0 for the first attempt, and the number of the restart for all others.
	Number int32
	// Gated is true if the job has a dependency, a begin time or a hold.
	Gated bool
	// Begin is the creation of the job, or the beginning of the restart.
	Begin time.Time
	// Restarted is the time when the pods of the previous attempt were gone.
	Restarted time.Time
	// Queued is the creation of the PodGroup. Before that, the job was held.
	Queued time.Time
	// Admitted is the creation of the first pod, which follows the admission to the queue.
	Admitted time.Time
	// Placed is the time when the scheduler had found nodes for the minimum number of pods.
	Placed time.Time
	// Bound and Running are the times when the minimum number of pods was bound to nodes, and had a started container.
	Bound, Running time.Time
	// Stopping is the time when the job began to stop its pods, and End is when the attempt was over.
	Stopping, End time.Time
	// Reason and Message describe why the attempt ended.
	Reason, Message string
}

// History holds the attempts to run a job, oldest first.
type History []Attempt

// Record returns the history after a change of the job's phase. before and after are the job before and after the change.
// group is the PodGroup, or nil, and pods are the pods at the time of the change. The history h may be overwritten.
func (h History) Record(before, after *batchv1alpha1.Job, group *schedulingv1beta1.PodGroup, pods []*corev1.Pod) History {
	at := truncate(after.Status.State.LastTransitionTime.Time)
	to := after.Status.State.Phase
	isRecorded := len(h) > 0 && h[len(h)-1].Number == before.Attempt()
	switch {
	case wasActive(before.Status.State.Phase) && endsAttempt(to):
		attempt := newAttempt(before, group, pods)
		attempt.Reason, attempt.Message = after.Status.State.Reason, after.Status.State.Message
		if isStopping(to) {
			attempt.Stopping = at
		} else {
			attempt.End = at
		}
		h = append(h, attempt)
	case !HasEnded(to):
	case !isRecorded:
		attempt := newAttempt(before, group, pods)
		attempt.End = at
		h = append(h, attempt)
	case h[len(h)-1].End.IsZero():
		h[len(h)-1].End = at
	}
	if excess := len(h) - maxAttempts; excess > 0 {
		h = slices.Delete(h, 0, excess)
	}
	return h
}

// HasEnded reports whether a job in this phase has ended.
func HasEnded(phase batchv1alpha1.JobPhase) bool {
	switch phase {
	case batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated, batchv1alpha1.Aborted:
		return true
	}
	return false
}

// wasActive reports whether an attempt is under way in this phase.
func wasActive(phase batchv1alpha1.JobPhase) bool {
	return phase == "" || phase == batchv1alpha1.Pending || phase == batchv1alpha1.Running
}

// endsAttempt reports whether an attempt is over when the job enters this phase.
func endsAttempt(phase batchv1alpha1.JobPhase) bool {
	return phase == batchv1alpha1.Restarting || isStopping(phase) || HasEnded(phase)
}

// isStopping reports whether a job in this phase stops its pods before it ends.
func isStopping(phase batchv1alpha1.JobPhase) bool {
	switch phase {
	case batchv1alpha1.Aborting, batchv1alpha1.Completing, batchv1alpha1.Terminating:
		return true
	}
	return false
}

// newAttempt returns the current attempt of a job, without its end.
func newAttempt(job *batchv1alpha1.Job, group *schedulingv1beta1.PodGroup, pods []*corev1.Pod) Attempt {
	a := Attempt{Number: job.Attempt(), Gated: isGated(job), Begin: truncate(job.CreationTimestamp.Time)}
	if a.Number > 0 {
		a.Begin = phaseTime(job, batchv1alpha1.Restarting)
		a.Restarted = a.notBefore(phaseTime(job, batchv1alpha1.Pending))
	}
	if group != nil {
		a.Queued = a.notBefore(group.CreationTimestamp.Time)
		a.Placed = a.notBefore(placedTime(group))
	}
	a.readPods(pods, int(job.Spec.MinAvailable))
	if a.Running.IsZero() {
		a.Running = a.notBefore(phaseTime(job, batchv1alpha1.Running))
	}
	return a
}

// isGated reports whether a job has a dependency, a begin time or a hold. A hold leaves no trace after it was removed.
func isGated(job *batchv1alpha1.Job) bool {
	for _, key := range []string{keys.Dependency, keys.Begin, keys.Hold} {
		if job.Annotations[key] != "" {
			return true
		}
	}
	return job.Status.Gate != nil
}

// readPods reads the times of the pods that the attempt created. minimum is the number of pods that the job needs.
func (a *Attempt) readPods(pods []*corev1.Pod, minimum int) {
	var created, bound, started []time.Time
	for _, pod := range pods {
		if a.notBefore(pod.CreationTimestamp.Time).IsZero() {
			continue // a pod of an earlier attempt that runs on
		}
		created = appendKnown(created, pod.CreationTimestamp.Time)
		bound = appendKnown(bound, boundTime(pod))
		started = appendKnown(started, startTime(pod))
	}
	needed := min(max(minimum, 1), len(created))
	a.Admitted = nthTime(created, 1)
	a.Bound = nthTime(bound, needed)
	a.Running = nthTime(started, needed)
}

// notBefore returns a time, or the zero time if it belongs to an earlier attempt.
func (a *Attempt) notBefore(t time.Time) time.Time {
	if t = truncate(t); t.Before(a.Begin) {
		return time.Time{}
	}
	return t
}

// truncate drops fractions of a second.
func truncate(t time.Time) time.Time { return t.Truncate(time.Second) }

func appendKnown(times []time.Time, t time.Time) []time.Time {
	if t.IsZero() {
		return times
	}
	return append(times, truncate(t))
}

// nthTime returns the n-th of some times, counted from 1, or the zero time if there are fewer.
func nthTime(times []time.Time, n int) time.Time {
	if n < 1 || n > len(times) {
		return time.Time{}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times[n-1]
}

// phaseTime returns when a job last entered a phase.
func phaseTime(job *batchv1alpha1.Job, phase batchv1alpha1.JobPhase) time.Time {
	for _, c := range job.Status.Conditions {
		if c.Status == phase && c.LastTransitionTime != nil {
			return truncate(c.LastTransitionTime.Time)
		}
	}
	return time.Time{}
}

// placedTime returns when the scheduler found nodes for the minimum number of pods of a gang.
func placedTime(group *schedulingv1beta1.PodGroup) time.Time {
	for i := range group.Status.Conditions {
		c := &group.Status.Conditions[i]
		if c.Type == schedulingv1beta1.PodGroupScheduledType && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// boundTime returns when a pod was bound to its node. If its condition is missing, this is when the kubelet saw the pod.
func boundTime(pod *corev1.Pod) time.Time {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return time.Time{}
}

// startTime returns when the first container of a pod started.
func startTime(pod *corev1.Pod) time.Time {
	var first time.Time
	add := func(t metav1.Time) {
		if !t.IsZero() && (first.IsZero() || t.Time.Before(first)) {
			first = t.Time
		}
	}
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		for _, state := range []*corev1.ContainerState{&status.State, &status.LastTerminationState} {
			if state.Running != nil {
				add(state.Running.StartedAt)
			}
			if state.Terminated != nil {
				add(state.Terminated.StartedAt)
			}
		}
	}
	return first
}
