package job

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// The tests in this file reproduce problems of other projects (docs/threads.md) that must not occur here, as lives of a
// job in a separate world.

// mustSettle settles the world or fails the test.
func (w *world) mustSettle(t *testing.T) *batch.Job {
	t.Helper()
	if err := w.settle(); err != nil {
		t.Fatalf("%v:\n%s", err, strings.Join(w.told(), "\n"))
	}
	return w.truth()
}

func restartOn(event bus.Event, action bus.Action) batch.LifecyclePolicy {
	return batch.LifecyclePolicy{Event: event, Action: action}
}

func TestSuspendingTenTimesDoesNotFailAJob(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(2, restartOn(bus.PodFailedEvent, bus.RestartJobAction)))
	w.mustSettle(t)
	for i := range 10 {
		w.command(2*i, bus.AbortJobAction)
		if phase := w.mustSettle(t).Status.State.Phase; phase != batch.Aborted {
			t.Fatalf("suspended for the %dth time: %s", i+1, phase)
		}
		w.command(2*i+1, bus.ResumeJobAction)
		if phase := w.mustSettle(t).Status.State.Phase; phase != batch.Running {
			t.Fatalf("resumed for the %dth time: %s", i+1, phase)
		}
	}
	w.finish("job-w-0", 1)
	if s := w.mustSettle(t).Status; s.State.Phase != batch.Running || s.RetryCount != 1 || s.UserRestarts != 10 {
		t.Errorf("%s, %d retries, %d restarts by hand: a failure after that is the first", s.State.Phase, s.RetryCount, s.UserRestarts)
	}
}

func TestAPodThatIsPendingTooLongIsMadeAgainAloneAndTheGroupStays(t *testing.T) {
	t.Parallel()
	policy := restartOn(bus.PodPendingEvent, bus.RestartPodAction)
	policy.Timeout = &metav1.Duration{Duration: time.Minute}
	job := simpleJob(2, policy)
	job.Spec.MaxRetry = 100
	w := newWorld(job)
	turn := func() {
		w.turn(t, watched...)
		w.schedule(scheduling.PodGroupInqueue)
		if pod := w.pod("job-w-0"); pod != nil && pod.Status.Phase == "" {
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
	for key, o := range w.api.Objects {
		if strings.HasPrefix(key, "PodGroup ") {
			return string(o.GetUID())
		}
	}
	return ""
}

func TestPendingPodsThatAreEvictedRestartAJobOnceEach(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(2, restartOn(bus.PodEvictedEvent, bus.RestartJobAction)))
	for range 3 {
		w.turn(t, watched...)
		w.schedule(scheduling.PodGroupInqueue)
	}
	w.turn(t, watched...)
	w.evict("job-w-1") // a pending pod is removed immediately
	if s := w.mustSettle(t).Status; s.RetryCount != 1 || s.State.Phase != batch.Running {
		t.Errorf("%s after %d restarts for one eviction:\n%s", s.State.Phase, s.RetryCount, strings.Join(w.told(), "\n"))
	}
}

func TestAnEvictionDoesNotUndoASuspension(t *testing.T) {
	t.Parallel()
	for name, evictFirst := range map[string]bool{"the command comes first": false, "the eviction comes first": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(simpleJob(2, restartOn(bus.PodEvictedEvent, bus.RestartJobAction)))
			w.mustSettle(t)
			if evictFirst {
				w.evict("job-w-0")
				w.turn(t, watched...)
			}
			w.command(1, bus.AbortJobAction)
			w.evict("job-w-0")
			w.evict("job-w-1")
			if s := w.mustSettle(t).Status; s.State.Phase != batch.Aborted || len(w.podNames()) > 0 {
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
	w.command(1, bus.AbortJobAction)
	w.mustSettle(t)
	w.command(2, bus.TerminateJobAction)
	if s := w.mustSettle(t).Status; s.State.Phase != batch.Terminated || s.Failure != nil || len(w.podNames()) > 0 {
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
	w.command(1, bus.TerminateJobAction)
	s := w.mustSettle(t).Status
	if s.State.Phase != batch.Terminated || len(w.podNames()) > 0 || len(s.Reports) != 2 || s.Reports[0].Message != "steps" || s.Reports[0].FinishTime == nil {
		t.Errorf("%s with pods %v and reports %v", s.State.Phase, w.podNames(), s.Reports)
	}
	if known := w.reconciler.memory.findRecollection(w.truth().UID); known == nil || len(known.reports) > 0 {
		t.Errorf("the controller still holds the reports: %v", known)
	}
}

func TestTheEndOfAnOldJobsPodsDoesNotEndTheNewOneOfItsName(t *testing.T) {
	t.Parallel()
	policy := restartOn(bus.PodEvictedEvent, bus.TerminateJobAction)
	w := newWorld(simpleJob(2, policy))
	w.mustSettle(t)
	w.api.Remove(w.truth())
	w.turn(t, watched...) // its pods are deleted
	w.api.Put(simpleJob(2, policy))
	s := w.mustSettle(t).Status
	if s.State.Phase != batch.Running || s.Version != 0 || s.Running != 2 {
		t.Errorf("%s, version %d, %d running:\n%s", s.State.Phase, s.Version, s.Running, strings.Join(w.told(), "\n"))
	}
}

func TestAJobThatFailsForTheLastTimeLeavesNoPodRunning(t *testing.T) {
	t.Parallel()
	job := simpleJob(3, restartOn(bus.PodFailedEvent, bus.RestartPodAction))
	job.Spec.MaxRetry = 2
	w := newWorld(job)
	w.mustSettle(t)
	for range 2 {
		w.finish("job-w-0", 1)
		w.mustSettle(t)
	}
	if phase := w.truth().Status.State.Phase; phase != batch.Failed {
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
	named := func() *batch.Job {
		job := simpleJob(1)
		job.Name = "passing" // no other test uses its series
		return job
	}
	w := newWorld(named())
	for i := range 20 {
		w.mustSettle(t)
		w.finish("passing-w-0", int32(i%2))
		w.mustSettle(t)
		w.api.Remove(w.truth())
		for range 2 {
			w.turn(t, watched...)
		}
		if jobs, names := len(w.reconciler.memory.jobs), len(w.reconciler.memory.names); jobs+names > 0 {
			t.Fatalf("%d jobs and %d names are remembered", jobs, names)
		}
		w.api.Put(named())
	}
	for _, counter := range []*prometheus.CounterVec{completedJobs, failedJobs} {
		if counter.DeletePartialMatch(prometheus.Labels{"job_name": "ns/passing"}) > 0 {
			t.Error("a series is left of a job that is gone")
		}
	}
}

func TestAPodThatItsNodeRefusesIsMadeAgainAndCostsTheJobNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(2, restartOn(bus.AnyEvent, bus.RestartJobAction)))
	for len(w.podNames()) == 0 {
		w.turn(t, watched...)
		w.schedule(scheduling.PodGroupInqueue)
	}
	group, refused, kept := w.group(), w.pod("job-w-1").UID, w.pod("job-w-0").UID
	w.refuse("job-w-1")
	s := w.mustSettle(t).Status
	if s.State.Phase != batch.Running || s.RetryCount != 0 || s.Version != 0 || s.RefusedPods != 1 {
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
