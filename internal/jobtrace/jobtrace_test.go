package jobtrace

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

const uid = types.UID("7b0c7f0e-52a5-4a51-9c3c-0c6f2b0a7a11")

var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// at returns the time some seconds after the creation of the job.
func at(seconds int) metav1.Time {
	return metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second))
}

// newJob returns a job that was created at 0 and needs two pods.
func newJob() *batchv1alpha1.Job {
	return &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "research", Name: "train", UID: uid, CreationTimestamp: at(0), Annotations: map[string]string{keys.User: "mei"}},
		Spec:       batchv1alpha1.JobSpec{Queue: "gpu", MinAvailable: 2, Tasks: []batchv1alpha1.TaskSpec{{Name: "w", Replicas: 3}}},
	}
}

// enter returns the job in another phase, which it entered some seconds after its creation.
func enter(job *batchv1alpha1.Job, phase batchv1alpha1.JobPhase, seconds int) *batchv1alpha1.Job {
	job = job.DeepCopy()
	when := at(seconds)
	job.Status.State = batchv1alpha1.JobState{Phase: phase, LastTransitionTime: when}
	conditions := []batchv1alpha1.JobCondition{{Status: phase, LastTransitionTime: &when}}
	for _, c := range job.Status.Conditions {
		if c.Status != phase {
			conditions = append(conditions, c)
		}
	}
	job.Status.Conditions = conditions
	return job
}

// restart returns the job in phase Restarting after a failure.
func restart(job *batchv1alpha1.Job, seconds int) *batchv1alpha1.Job {
	job = enter(job, batchv1alpha1.Restarting, seconds)
	job.Status.RetryCount++
	job.Status.State.Reason, job.Status.State.Message = "RestartJob", "pod w-0 failed"
	return job
}

// newGroup returns a PodGroup that was created and, unless placed is negative, placed at these times.
func newGroup(created, placed int) *schedulingv1beta1.PodGroup {
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(created)}}
	if placed >= 0 {
		group.Status.Conditions = []schedulingv1beta1.PodGroupCondition{
			{Type: schedulingv1beta1.PodGroupUnschedulableType, Status: corev1.ConditionFalse, LastTransitionTime: at(placed)},
			{Type: schedulingv1beta1.PodGroupScheduledType, Status: corev1.ConditionTrue, LastTransitionTime: at(placed)},
		}
	}
	return group
}

// newPod returns a pod that was created, bound and started at these times. A negative time has not been reached.
func newPod(created, bound, started int) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(created)}}
	if bound >= 0 {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at(bound)}}
	}
	if started >= 0 {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(started)}}}}
	}
	return pod
}

// spansOf returns the spans, one on each line: name, start, end, with an indent for each parent.
func spansOf(t Trace) string {
	depth := map[string]int{}
	var text strings.Builder
	for i := range t.Spans {
		s := &t.Spans[i]
		if s.Parent.IsValid() {
			depth[s.ID.String()] = depth[s.Parent.String()] + 1
		}
		indent := strings.Repeat("  ", depth[s.ID.String()])
		fmt.Fprintf(&text, "%s%s %.0f-%.0f\n", indent, s.Name, s.Start.Sub(epoch).Seconds(), s.End.Sub(epoch).Seconds())
	}
	return text.String()
}

func TestSpansFollowFromTheRecordedTimes(t *testing.T) {
	t.Parallel()
	pods := []*corev1.Pod{newPod(10, 21, 25), newPod(11, 20, 30), newPod(11, -1, -1)}
	running := enter(enter(newJob(), batchv1alpha1.Pending, 0), batchv1alpha1.Running, 31)
	for _, tc := range []struct {
		name string
		run  func() (*batchv1alpha1.Job, History)
		want string
	}{
		{"completed", func() (*batchv1alpha1.Job, History) {
			done := enter(running, batchv1alpha1.Completed, 60)
			return done, History{}.Record(running, done, newGroup(1, 20), pods)
		}, `
job 0-60
  queued 0-10
  admitted 10-20
  placed 20-21
  bound 21-30
  running 30-60
`},
		{"created by a busy controller", func() (*batchv1alpha1.Job, History) {
			done := enter(running, batchv1alpha1.Completed, 60)
			return done, History{}.Record(running, done, newGroup(5, 20), pods)
		}, `
job 0-60
  queued 0-10
  admitted 10-20
  placed 20-21
  bound 21-30
  running 30-60
`},
		{"held by its user, who released it", func() (*batchv1alpha1.Job, History) {
			done := enter(running, batchv1alpha1.Completed, 90)
			return done, History{}.Record(running, done, newGroup(11, 20), []*corev1.Pod{newPod(12, 21, 25), newPod(13, 20, 30)})
		}, `
job 0-90
  held 0-11
  queued 11-12
  admitted 12-20
  placed 20-21
  bound 21-30
  running 30-90
`},
		{"held for its begin time", func() (*batchv1alpha1.Job, History) {
			held := running.DeepCopy()
			held.Annotations[keys.Begin] = "2026-11-21T12:00:05Z"
			done := enter(held, batchv1alpha1.Completed, 60)
			return done, History{}.Record(held, done, newGroup(5, 20), pods)
		}, `
job 0-60
  held 0-5
  queued 5-10
  admitted 10-20
  placed 20-21
  bound 21-30
  running 30-60
`},
		{"never admitted", func() (*batchv1alpha1.Job, History) {
			pending := enter(newJob(), batchv1alpha1.Pending, 0)
			ended := enter(pending, batchv1alpha1.Terminated, 60)
			return ended, History{}.Record(pending, ended, newGroup(0, -1), nil)
		}, `
job 0-60
  queued 0-60
`},
		{"never released", func() (*batchv1alpha1.Job, History) {
			pending := enter(newJob(), batchv1alpha1.Pending, 0)
			ended := enter(pending, batchv1alpha1.Failed, 60)
			return ended, History{}.Record(pending, ended, nil, nil)
		}, `
job 0-60
  held 0-60
`},
		{"too few pods bound", func() (*batchv1alpha1.Job, History) {
			pending := enter(newJob(), batchv1alpha1.Pending, 0)
			ended := enter(pending, batchv1alpha1.Terminated, 60)
			return ended, History{}.Record(pending, ended, newGroup(0, -1), []*corev1.Pod{newPod(10, 20, 25), newPod(10, -1, -1)})
		}, `
job 0-60
  queued 0-10
  admitted 10-60
`},
		{"stopped by its user", func() (*batchv1alpha1.Job, History) {
			stopping := enter(running, batchv1alpha1.Terminating, 50)
			ended := enter(stopping, batchv1alpha1.Terminated, 60)
			history := History{}.Record(running, stopping, newGroup(0, 20), pods)
			return ended, history.Record(stopping, ended, nil, nil)
		}, `
job 0-60
  queued 0-10
  admitted 10-20
  placed 20-21
  bound 21-30
  running 30-50
  stopping 50-60
`},
		{"one retry", func() (*batchv1alpha1.Job, History) {
			restarting := restart(running, 40)
			pending := enter(restarting, batchv1alpha1.Pending, 45)
			again := enter(pending, batchv1alpha1.Running, 55)
			done := enter(again, batchv1alpha1.Completed, 70)
			history := History{}.Record(running, restarting, newGroup(0, 20), pods).Record(restarting, pending, nil, nil).Record(pending, again, nil, nil)
			return done, history.Record(again, done, newGroup(46, 48), []*corev1.Pod{newPod(47, 49, 54), newPod(47, 50, 53)})
		}, `
job 0-70
  queued 0-10
  admitted 10-20
  placed 20-21
  bound 21-30
  running 30-40
  retry 40-70
    restarting 40-45
    queued 45-47
    admitted 47-48
    placed 48-50
    bound 50-54
    running 54-70
`},
		{"a retry of one pod while another runs on", func() (*batchv1alpha1.Job, History) {
			restarting := restart(running, 40)
			pending := enter(restarting, batchv1alpha1.Pending, 45)
			again := enter(pending, batchv1alpha1.Running, 55)
			done := enter(again, batchv1alpha1.Completed, 70)
			history := History{}.Record(running, restarting, newGroup(0, 20), pods)
			return done, history.Record(again, done, newGroup(0, 20), []*corev1.Pod{pods[0], newPod(46, 49, 53)})
		}, `
job 0-70
  queued 0-10
  admitted 10-20
  placed 20-21
  bound 21-30
  running 30-40
  retry 40-70
    restarting 40-45
    queued 45-46
    admitted 46-49
    bound 49-53
    running 53-70
`},
		{"too many retries", func() (*batchv1alpha1.Job, History) {
			restarting := restart(running, 40)
			failed := enter(restarting, batchv1alpha1.Failed, 45)
			return failed, History{}.Record(running, restarting, newGroup(0, 20), pods).Record(restarting, failed, nil, nil)
		}, `
job 0-45
  queued 0-10
  admitted 10-20
  placed 20-21
  bound 21-30
  running 30-40
  retry 40-45
    restarting 40-45
`},
		{"a retry that began under an earlier process", func() (*batchv1alpha1.Job, History) {
			again := enter(enter(restart(running, 40), batchv1alpha1.Pending, 45), batchv1alpha1.Running, 55)
			done := enter(again, batchv1alpha1.Completed, 70)
			return done, History{}.Record(again, done, newGroup(46, 48), []*corev1.Pod{newPod(47, 49, 54), newPod(47, 50, 53)})
		}, `
job 0-70
  retry 40-70
    restarting 40-45
    queued 45-47
    admitted 47-48
    placed 48-50
    bound 50-54
    running 54-70
`},
		{"an end that began under an earlier process", func() (*batchv1alpha1.Job, History) {
			stopping := enter(running, batchv1alpha1.Aborting, 50)
			ended := enter(stopping, batchv1alpha1.Aborted, 60)
			return ended, History{}.Record(stopping, ended, newGroup(0, 20), nil)
		}, `
job 0-60
  queued 0-20
  placed 20-31
  running 31-60
`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), spansOf(Compute(tc.run()))); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheRootDescribesTheJob(t *testing.T) {
	t.Parallel()
	running := enter(newJob(), batchv1alpha1.Running, 20)
	restarting := restart(running, 40)
	failed := enter(restarting, batchv1alpha1.Failed, 50)
	failed.Status.Failure = &batchv1alpha1.JobFailure{Reason: "PodFailed", Message: "pod 0 of task w failed with exit code 3"}
	failed.Status.Evictions = &batchv1alpha1.JobEvictions{Times: 1, Pods: 2, Last: batchv1alpha1.JobEviction{At: at(30), Reason: "Preempted", Message: "for job urgent", Pods: 2}}
	trace := Compute(failed, History{}.Record(running, restarting, nil, nil).Record(restarting, failed, nil, nil))
	root := trace.Spans[0]
	attributes := map[string]string{}
	for _, a := range root.Attributes {
		attributes[string(a.Key)] = a.Value.String()
	}
	want := map[string]string{
		"k8s.namespace.name": "research", "vc.job.name": "train", "vc.job.uid": string(uid), "vc.job.queue": "gpu", "vc.job.user": "mei",
		"vc.job.phase": "Failed", "vc.job.reason": "PodFailed", "vc.job.pods": "3", "vc.job.min_available": "2", "vc.job.retries": "1", "vc.job.user_restarts": "0",
	}
	if diff := cmp.Diff(want, attributes); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	if root.Error != failed.Status.Failure.Message {
		t.Errorf("error %q", root.Error)
	}
	var events []string
	for _, e := range root.Events {
		events = append(events, fmt.Sprintf("%s at %.0f: %s", e.Name, e.At.Sub(epoch).Seconds(), e.Attributes[0].Value.AsString()))
	}
	if diff := cmp.Diff([]string{"restart at 40: RestartJob", "eviction at 30: Preempted"}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestAJobThatCompletedHasNoError(t *testing.T) {
	t.Parallel()
	done := enter(newJob(), batchv1alpha1.Completed, 20)
	if got := Compute(done, nil).Spans[0].Error; got != "" {
		t.Errorf("error %q", got)
	}
}

func TestTheIDsFollowFromTheUID(t *testing.T) {
	t.Parallel()
	done := enter(newJob(), batchv1alpha1.Completed, 20)
	first, second := Compute(done, nil), Compute(done, nil)
	if first.ID.String() != "7b0c7f0e52a54a519c3c0c6f2b0a7a11" {
		t.Errorf("trace %s: must be the UID without hyphens", first.ID)
	}
	if diff := cmp.Diff(first, second, cmp.Comparer(func(x, y time.Time) bool { return x.Equal(y) }), cmp.AllowUnexported(first.Spans[0].Attributes[0].Value)); diff != "" {
		t.Errorf("computed twice (-first +second):\n%s", diff)
	}
	if id := TraceID("not a UUID"); !id.IsValid() {
		t.Error("a UID that is no UUID has no trace ID")
	}
	resumed := done.DeepCopy()
	resumed.Status.Version++
	if again := Compute(resumed, nil); again.ID != first.ID || again.Spans[0].ID == first.Spans[0].ID {
		t.Error("a resumed job must keep its trace and have a new root")
	}
}

// TestSpansAreNested computes traces from random times. Clocks may differ between components, so any order is possible.
func TestSpansAreNested(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() int { return random.IntN(110) - 10 }
	for range 2000 {
		before := enter(enter(newJob(), batchv1alpha1.Pending, draw()), batchv1alpha1.Running, draw())
		var history History
		for range random.IntN(3) {
			next := restart(before, draw())
			history = history.Record(before, next, newGroup(draw(), draw()), []*corev1.Pod{newPod(draw(), draw(), draw()), newPod(draw(), draw(), draw())})
			before = enter(enter(next, batchv1alpha1.Pending, draw()), batchv1alpha1.Running, draw())
		}
		done := enter(before, batchv1alpha1.Failed, 100)
		trace := Compute(done, history.Record(before, done, newGroup(draw(), draw()), []*corev1.Pod{newPod(draw(), draw(), draw())}))
		checkNested(t, trace)
	}
}

func checkNested(t *testing.T, trace Trace) {
	t.Helper()
	byID := map[string]*Span{}
	for i := range trace.Spans {
		s := &trace.Spans[i]
		parent := byID[s.Parent.String()]
		switch {
		case byID[s.ID.String()] != nil:
			t.Fatalf("two spans have the same ID:\n%s", spansOf(trace))
		case s.Start.After(s.End), (parent == nil) != (i == 0):
			t.Fatalf("%s ends before it begins, or has no parent:\n%s", s.Name, spansOf(trace))
		case parent != nil && (s.Start.Before(parent.Start) || s.End.After(parent.End)):
			t.Fatalf("%s is longer than its parent:\n%s", s.Name, spansOf(trace))
		}
		byID[s.ID.String()] = s
	}
}

func TestAHistoryIsBounded(t *testing.T) {
	t.Parallel()
	job := enter(newJob(), batchv1alpha1.Running, 1)
	job.Spec.MaxRetry = 4 * maxAttempts
	var history History
	for i := range 3 * maxAttempts {
		next := restart(job, i)
		history = history.Record(job, next, nil, nil)
		job = enter(next, batchv1alpha1.Running, i)
	}
	if len(history) != maxAttempts || history[maxAttempts-1].Number != 3*maxAttempts-1 {
		t.Errorf("%d attempts, the last is %d", len(history), history[len(history)-1].Number)
	}
}

// A failure after which maxRetry permits no restart counts in retryCount, but no attempt follows it.
func TestTheLastFailureThatMaxRetryPermitsIsOneAttempt(t *testing.T) {
	t.Parallel()
	job := enter(newJob(), batchv1alpha1.Running, 1)
	job.Spec.MaxRetry = 2
	restarting := restart(job, 5)
	history := History{}.Record(job, restarting, nil, nil)
	again := enter(restarting, batchv1alpha1.Running, 8)
	exceeding := restart(again, 12)
	history = history.Record(again, exceeding, nil, nil)
	history = history.Record(exceeding, enter(exceeding, batchv1alpha1.Failed, 13), nil, nil)
	if len(history) != 2 || history[1].Number != 1 || !history[1].End.Equal(at(12).Time) {
		t.Errorf("history %+v", history)
	}
}
