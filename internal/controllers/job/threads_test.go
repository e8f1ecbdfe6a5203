package job

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
)

// The tests in this file reproduce problems of other projects (docs/reference/volcano-issues.md) that must not occur here, as lives of a
// job in a separate world.

// mustSettle settles the world or fails the test.
func (w *world) mustSettle(t *testing.T) *batchv1alpha1.Job {
	t.Helper()
	if err := w.settle(); err != nil {
		t.Fatalf("%v:\n%s", err, strings.Join(w.told(), "\n"))
	}
	return w.truth()
}

func restartOn(event busv1alpha1.Event, action busv1alpha1.Action) batchv1alpha1.LifecyclePolicy {
	return batchv1alpha1.LifecyclePolicy{Event: event, Action: action}
}

func TestSuspendingTenTimesDoesNotFailAJob(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(2, restartOn(busv1alpha1.PodFailedEvent, busv1alpha1.RestartJobAction)))
	w.mustSettle(t)
	for i := range 10 {
		w.command(2*i, busv1alpha1.AbortJobAction)
		if phase := w.mustSettle(t).Status.State.Phase; phase != batchv1alpha1.Aborted {
			t.Fatalf("suspended for the %dth time: %s", i+1, phase)
		}
		w.command(2*i+1, busv1alpha1.ResumeJobAction)
		if phase := w.mustSettle(t).Status.State.Phase; phase != batchv1alpha1.Running {
			t.Fatalf("resumed for the %dth time: %s", i+1, phase)
		}
	}
	w.finish("job-w-0", 1)
	if s := w.mustSettle(t).Status; s.State.Phase != batchv1alpha1.Running || s.RetryCount != 1 || s.UserRestarts != 10 {
		t.Errorf("%s, %d retries, %d restarts by hand: a failure after that is the first", s.State.Phase, s.RetryCount, s.UserRestarts)
	}
}

func TestAPodThatIsPendingTooLongIsMadeAgainAloneAndTheGroupStays(t *testing.T) {
	t.Parallel()
	policy := restartOn(busv1alpha1.PodPendingEvent, busv1alpha1.RestartPodAction)
	policy.Timeout = &metav1.Duration{Duration: time.Minute}
	job := simpleJob(2, policy)
	job.Spec.MaxRetry = 100
	w := newWorld(job)
	turn := func() {
		w.turn(t, watched...)
		w.schedule(schedulingv1beta1.PodGroupInqueue)
		if pod := w.pod("job-w-0"); pod != nil && pod.Status.Phase == corev1.PodPending {
			w.kubelet("job-w-0", 0)
		}
		if pod := w.pod("job-w-1"); pod != nil && pod.DeletionTimestamp != nil {
			w.kubelet("job-w-1", 0)
		}
	}
	for w.pod("job-w-1") == nil {
		turn()
	}
	kept, stuck := w.pod("job-w-0").UID, w.pod("job-w-1").UID
	group := w.group()
	for range 80 {
		turn()
		if pod := w.pod("job-w-1"); pod != nil && pod.UID != stuck {
			if w.pod("job-w-0").UID != kept || w.group() != group {
				t.Error("the other pod or the group was replaced, too")
			}
			return
		}
	}
	t.Errorf("the pod is still the one that cannot run:\n%s", strings.Join(w.told(), "\n"))
}

// group returns the unique name of the job's PodGroup.
func (w *world) group() string {
	for _, group := range apiserver.All[*schedulingv1beta1.PodGroup](w.server) {
		return string(group.UID)
	}
	return ""
}

func TestPendingPodsThatAreEvictedRestartAJobOnceEach(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(2, restartOn(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction)))
	for range 3 {
		w.turn(t, watched...)
		w.schedule(schedulingv1beta1.PodGroupInqueue)
	}
	w.turn(t, watched...)
	w.evict("job-w-1") // a pending pod is removed immediately
	if s := w.mustSettle(t).Status; s.RetryCount != 1 || s.State.Phase != batchv1alpha1.Running {
		t.Errorf("%s after %d restarts for one eviction:\n%s", s.State.Phase, s.RetryCount, strings.Join(w.told(), "\n"))
	}
}

func TestAnEvictionDoesNotUndoASuspension(t *testing.T) {
	t.Parallel()
	for name, evictFirst := range map[string]bool{"the command comes first": false, "the eviction comes first": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(simpleJob(2, restartOn(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction)))
			w.mustSettle(t)
			if evictFirst {
				w.evict("job-w-0")
				w.turn(t, watched...)
			}
			w.command(1, busv1alpha1.AbortJobAction)
			w.evict("job-w-0")
			w.evict("job-w-1")
			if s := w.mustSettle(t).Status; s.State.Phase != batchv1alpha1.Aborted || len(w.podNames()) > 0 {
				t.Errorf("%s with pods %v:\n%s", s.State.Phase, w.podNames(), strings.Join(w.told(), "\n"))
			}
		})
	}
}

// TestASuspendedJobThatIsCancelledHasEnded verifies that clients that wait for the end of the job see it end.
func TestASuspendedJobThatIsCancelledHasEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(2))
	w.mustSettle(t)
	w.command(1, busv1alpha1.AbortJobAction)
	w.mustSettle(t)
	w.command(2, busv1alpha1.TerminateJobAction)
	if s := w.mustSettle(t).Status; s.State.Phase != batchv1alpha1.Terminated || s.Failure != nil || len(w.podNames()) > 0 {
		t.Errorf("%s, failure %v, with pods %v:\n%s", s.State.Phase, s.Failure, w.podNames(), strings.Join(w.told(), "\n"))
	}
}

func TestACancelledSlurmJobKeepsWhatItsDeletedPodsReported(t *testing.T) {
	t.Parallel()
	job := simpleJob(2)
	job.Annotations = map[string]string{keys.Slurm: "{}"}
	w := newWorld(job)
	w.mustSettle(t)
	w.message = "steps"
	w.command(1, busv1alpha1.TerminateJobAction)
	s := w.mustSettle(t).Status
	if s.State.Phase != batchv1alpha1.Terminated || len(w.podNames()) > 0 || len(s.Reports) != 2 || s.Reports[0].Message != "steps" || s.Reports[0].FinishTime == nil {
		t.Errorf("%s with pods %v and reports %v", s.State.Phase, w.podNames(), s.Reports)
	}
	if known := w.reconciler.states.findState(w.truth().UID); known == nil || len(known.reports) > 0 {
		t.Errorf("the controller still holds the reports: %v", known)
	}
}

func TestTheEndOfAnOldJobsPodsDoesNotEndTheNewOneOfItsName(t *testing.T) {
	t.Parallel()
	policy := restartOn(busv1alpha1.PodEvictedEvent, busv1alpha1.TerminateJobAction)
	w := newWorld(simpleJob(2, policy))
	w.mustSettle(t)
	w.server.Remove(w.truth())
	w.turn(t, watched...) // its pods are deleted
	w.server.Save(simpleJob(2, policy))
	s := w.mustSettle(t).Status
	if s.State.Phase != batchv1alpha1.Running || s.Version != 0 || s.Running != 2 {
		t.Errorf("%s, version %d, %d running:\n%s", s.State.Phase, s.Version, s.Running, strings.Join(w.told(), "\n"))
	}
}

func TestAJobThatFailsForTheLastTimeLeavesNoPodRunning(t *testing.T) {
	t.Parallel()
	job := simpleJob(3, restartOn(busv1alpha1.PodFailedEvent, busv1alpha1.RestartPodAction))
	job.Spec.MaxRetry = 2
	w := newWorld(job)
	w.mustSettle(t)
	for range 2 {
		w.finish("job-w-0", 1)
		w.mustSettle(t)
	}
	if phase := w.truth().Status.State.Phase; phase != batchv1alpha1.Failed {
		t.Fatal(phase)
	}
	for _, name := range w.podNames() {
		if !finished(w.pod(name)) {
			t.Errorf("%s still runs", name)
		}
	}
}

func TestTimesOfAStatusMoveOnlyWithThePhase(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(3))
	begun := w.mustSettle(t).Status
	if begun.RunningDuration == nil || len(begun.Conditions) != 2 {
		t.Fatalf("%+v", begun)
	}
	w.finish("job-w-0", 0) // the counters change, the phase does not
	now := w.mustSettle(t).Status
	if now.Succeeded != 1 || !now.State.LastTransitionTime.Equal(&begun.State.LastTransitionTime) || *now.RunningDuration != *begun.RunningDuration ||
		len(now.Conditions) != 2 || !now.Conditions[1].LastTransitionTime.Equal(begun.Conditions[1].LastTransitionTime) {
		t.Errorf("was %+v,\nis %+v", begun, now)
	}
}

func TestNothingIsRememberedOfJobsThatAreGone(t *testing.T) {
	t.Parallel()
	named := func() *batchv1alpha1.Job {
		job := simpleJob(1)
		job.Name = "passing" // no other test uses its series
		return job
	}
	w := newWorld(named())
	for i := range 20 {
		w.mustSettle(t)
		w.finish("passing-w-0", int32(i%2))
		w.mustSettle(t)
		w.server.Remove(w.truth())
		for range 2 {
			w.turn(t, watched...)
		}
		if jobs, names := len(w.reconciler.states.jobs), len(w.reconciler.states.names); jobs+names > 0 {
			t.Fatalf("%d jobs and %d names are remembered", jobs, names)
		}
		w.server.Save(named())
	}
	for _, counter := range []*prometheus.CounterVec{completedJobs, failedJobs} {
		if counter.DeletePartialMatch(prometheus.Labels{"job_name": "ns/passing"}) > 0 {
			t.Error("a series is left of a job that is gone")
		}
	}
}

func TestAPodThatItsNodeRefusesIsMadeAgainAndCostsTheJobNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(2, restartOn(busv1alpha1.AnyEvent, busv1alpha1.RestartJobAction)))
	for len(w.podNames()) == 0 {
		w.turn(t, watched...)
		w.schedule(schedulingv1beta1.PodGroupInqueue)
	}
	group, refused, kept := w.group(), w.pod("job-w-1").UID, w.pod("job-w-0").UID
	w.refuse("job-w-1")
	s := w.mustSettle(t).Status
	if s.State.Phase != batchv1alpha1.Running || s.RetryCount != 0 || s.Version != 0 || s.RefusedPods != 1 {
		t.Errorf("%s, %d retries, version %d, %d refused", s.State.Phase, s.RetryCount, s.Version, s.RefusedPods)
	}
	if w.group() != group || w.pod("job-w-0").UID != kept || w.pod("job-w-1").UID == refused {
		t.Error("not just the pod that was refused was replaced")
	}
	if !slices.ContainsFunc(w.events, func(e string) bool {
		return strings.HasPrefix(e, "Warning PodRefused: w-1 was rejected by its node (OutOfcpu)")
	}) {
		t.Errorf("nobody says so: %q", w.events)
	}
}
