package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// running returns a running job of two pods, both running and counted.
func running() *story {
	return given(batchv1alpha1.Running).group(schedulingv1beta1.PodGroupRunning).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodRunning).counted()
}

func replacePod(s *story, i int, phase corev1.PodPhase, changes ...func(*corev1.Pod)) *story {
	s.Pods = s.Pods[:i]
	return s.pod("w", i, phase, changes...)
}

func without(s *story, i int) *story {
	s.Pods = append(s.Pods[:i:i], s.Pods[i+1:]...)
	return s
}

func delayed(s *story, event busv1alpha1.Event, action busv1alpha1.Action, by time.Duration) *story {
	s.Job.Spec.Policies = append(s.Job.Spec.Policies, batchv1alpha1.LifecyclePolicy{Event: event, Action: action, Timeout: &metav1.Duration{Duration: by}})
	return s
}

func onExit(s *story, code int32, action busv1alpha1.Action) *story {
	s.Job.Spec.Policies = append(s.Job.Spec.Policies, batchv1alpha1.LifecyclePolicy{ExitCode: &code, Action: action})
	return s
}

func TestPoliciesAnswerEvents(t *testing.T) {
	t.Parallel()
	restartJob := []string{"status Restarting v1 r1", "delete w-0 w-1", "DeleteGroup"}
	lost := func(changes ...func(*Lost)) []Lost {
		l := Lost{UID: "gone", Name: "j-w-1", Task: "w", Index: 1, At: noon.Add(-5 * time.Second)}
		for _, change := range changes {
			change(&l)
		}
		return []Lost{l}
	}
	tests := map[string]struct {
		in   *story
		want []string
	}{
		"a failed pod": {
			replacePod(running(), 1, corev1.PodFailed, ended(1, time.Second)).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartJobAction), restartJob},
		"any event": {
			replacePod(running(), 1, corev1.PodFailed, ended(1, time.Second)).policy(busv1alpha1.AnyEvent, busv1alpha1.AbortJobAction),
			[]string{"status Aborting v1 r0", "delete w-0"}},
		"one of several events": {
			replacePod(running(), 1, corev1.PodFailed).with(func(j *batchv1alpha1.Job) {
				j.Spec.Policies = []batchv1alpha1.LifecyclePolicy{{Events: []busv1alpha1.Event{busv1alpha1.PodEvictedEvent, busv1alpha1.PodFailedEvent}, Action: busv1alpha1.TerminateJobAction}}
			}), []string{"status Terminating v1 r0", "delete w-0"}},
		"the exit code of a failed pod": {
			onExit(onExit(replacePod(running(), 1, corev1.PodFailed, ended(3, 0)), 2, busv1alpha1.AbortJobAction), 3, busv1alpha1.RestartJobAction), restartJob},
		"another exit code is not answered": {
			onExit(replacePod(running(), 1, corev1.PodFailed, ended(4, 0)).counted(), 3, busv1alpha1.RestartJobAction), nil},
		"the task's policy comes before the job's": {
			replacePod(running(), 1, corev1.PodFailed).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartJobAction).with(func(j *batchv1alpha1.Job) {
				j.Spec.Tasks[0].Policies = []batchv1alpha1.LifecyclePolicy{{Event: busv1alpha1.PodFailedEvent, Action: busv1alpha1.CompleteJobAction}}
			}), []string{"status Completing v1 r0", "delete w-0"}},
		"the job's policy answers what the task's does not": {
			replacePod(running(), 1, corev1.PodFailed).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartJobAction).with(func(j *batchv1alpha1.Job) {
				j.Spec.Tasks[0].Policies = []batchv1alpha1.LifecyclePolicy{{Event: busv1alpha1.TaskCompletedEvent, Action: busv1alpha1.CompleteJobAction}}
			}), restartJob},
		"a pod that somebody deletes": {
			replacePod(running(), 1, corev1.PodRunning, goingAway).policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction),
			[]string{"status Restarting v1 r1", "delete w-0", "DeleteGroup"}},
		"a deleted pod whose containers have ended since": {
			replacePod(running(), 1, corev1.PodFailed, goingAway, ended(143, 0)).policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction),
			[]string{"status Restarting v1 r1", "delete w-0", "DeleteGroup"}},
		"a pod that was seen to vanish": {
			func() *story {
				s := without(running(), 1).policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction)
				s.Lost = lost()
				return s
			}(), []string{"status Restarting v1 r1", "delete w-0", "DeleteGroup"}},
		"a pod of an older version that vanished is nothing": {
			func() *story {
				s := running().policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction)
				s.Lost = lost(func(l *Lost) { l.Version = -1 })
				return s
			}(), nil},
		"a pod that failed and then vanished": {
			func() *story {
				s := onExit(without(running(), 1), 7, busv1alpha1.AbortJobAction)
				s.Lost = lost(func(l *Lost) { l.Failed, l.Codes = true, []int32{7} })
				return s
			}(), []string{"status Aborting v1 r0", "delete w-0"}},
		"a pod that is missing from what status counts": {
			func() *story {
				s := without(running(), 1).policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction)
				s.Fresh = true
				return s
			}(), []string{"status Restarting v1 r1", "delete w-0", "DeleteGroup"}},
		"a pod that we stop ourselves is nothing": {
			replacePod(running(), 1, corev1.PodRunning, goingAway, func(p *corev1.Pod) { p.Annotations[keys.OutOfSync] = "true" }).
				counted().policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction), nil},
		"a pod that this process has stopped is nothing, even unmarked": {
			func() *story {
				s := running().policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction)
				s.Killed = map[types.UID]bool{"uid-j-w-1": true}
				return s.counted()
			}(), nil},
		"a pod beyond the replicas is nothing": {
			running().with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = 1 }).policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction),
			[]string{"status Running v0 r0", "mark w-1", "delete w-1", "PatchGroup"}},
		"a pod that was never created is nothing, although pods beyond the replicas were counted": {
			given(batchv1alpha1.Running).group("Running").pod("w", 1, corev1.PodRunning).counted().
				with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = 1 }).policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction),
			[]string{"status Running v0 r0", "mark w-1", "delete w-1", "PatchGroup", "create w-0"}},
		"a completed task": {
			given(batchv1alpha1.Running).task("m", 1).group("Running").pod("w", 0, corev1.PodRunning).pod("m", 0, corev1.PodSucceeded, ended(0, 0)).
				policy(busv1alpha1.TaskCompletedEvent, busv1alpha1.CompleteJobAction), []string{"status Completing v1 r0", "delete w-0"}},
		"a task that completed before the restart is nothing": {
			given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) { j.Status.Version = 1 }).task("m", 1).group("Running").pod("w", 0, corev1.PodRunning).
				pod("w", 1, corev1.PodRunning).pod("m", 0, corev1.PodSucceeded, ofVersion(0)).counted().
				policy(busv1alpha1.TaskCompletedEvent, busv1alpha1.CompleteJobAction), nil},
		"what ends well comes before what its end breaks": {
			given(batchv1alpha1.Running).task("m", 1).group("Running").pod("w", 0, corev1.PodFailed, ended(1, 0)).pod("m", 0, corev1.PodSucceeded, ended(0, 0)).
				policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartJobAction).policy(busv1alpha1.TaskCompletedEvent, busv1alpha1.CompleteJobAction),
			[]string{"status Completing v1 r0"}},
		"a task whose containers restart too often": {
			replacePod(running(), 1, corev1.PodRunning, restarted(3)).policy(busv1alpha1.TaskFailedEvent, busv1alpha1.TerminateJobAction),
			[]string{"status Terminating v1 r0", "delete w-0 w-1"}},
		"a task may have no limit": {
			replacePod(running(), 1, corev1.PodRunning, restarted(9)).with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].MaxRetry = -1 }).
				policy(busv1alpha1.TaskFailedEvent, busv1alpha1.TerminateJobAction), nil},
		"a broken gang": {
			given(batchv1alpha1.Running).group(schedulingv1beta1.PodGroupUnknown).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodRunning).counted().
				policy(busv1alpha1.JobUnknownEvent, busv1alpha1.RestartJobAction), restartJob},
		"a pod that waits too long": {
			delayed(replacePod(running(), 1, corev1.PodPending), busv1alpha1.PodPendingEvent, busv1alpha1.AbortJobAction, 30*time.Second),
			[]string{"status Aborting v1 r0", "delete w-0 w-1"}},
		"waiting is nothing without a timeout": {
			replacePod(running(), 1, corev1.PodPending).policy(busv1alpha1.PodPendingEvent, busv1alpha1.AbortJobAction),
			[]string{"status Pending v0 r0"}},
		"restart of a pod stops that pod": {
			replacePod(running(), 1, corev1.PodFailed).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartPodAction),
			[]string{"status Restarting v0 r1", "mark w-1", "delete w-1"}},
		"restart of a task stops its pods, marked": {
			replacePod(running(), 1, corev1.PodFailed).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartTaskAction),
			[]string{"status Restarting v0 r1", "mark w-0 w-1", "delete w-0 w-1"}},
		"restart of a partition stops the pods of the partition": {
			replacePod(running().with(func(j *batchv1alpha1.Job) {
				j.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 2, PartitionSize: 1}
			}), 1, corev1.PodFailed).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartPartitionAction),
			[]string{"status Restarting v0 r1", "mark w-1", "delete w-1"}},
		"restart of an evicted pod marks it, lest it be answered twice": {
			replacePod(running(), 1, corev1.PodRunning, goingAway).policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartPodAction),
			[]string{"status Restarting v0 r1", "mark w-1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			var did []string
			for _, w := range digest(&p) {
				if w != "create w-1" {
					did = append(did, w)
				}
			}
			if diff := cmp.Diff(test.want, lazyAside(did)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// lazyAside removes status writes that change only counters.
func lazyAside(words []string) []string {
	var kept []string
	for _, w := range words {
		if len(w) < 5 || w[len(w)-5:] != " lazy" {
			kept = append(kept, w)
		}
	}
	return kept
}

func TestAPlanOnMissingPodsLooksTwice(t *testing.T) {
	t.Parallel()
	p := Compute(without(running(), 1).policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction).Input)
	if !p.Refresh || len(p.Writes) > 0 {
		t.Errorf("refresh %v, %v; want a look past the cache and nothing else", p.Refresh, digest(&p))
	}
	doubtful := replacePod(running(), 1, corev1.PodFailed).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartJobAction)
	doubtful.Doubt = true
	if p := Compute(doubtful.Input); !p.Refresh || len(p.Writes) > 0 {
		t.Errorf("after a start of the process: refresh %v, %v", p.Refresh, digest(&p))
	}
	p = Compute(without(running(), 1).Input)
	if p.Refresh {
		t.Error("a job without policies for it needs no second look")
	}
}

func TestADelayedAnswerWaits(t *testing.T) {
	t.Parallel()
	s := delayed(replacePod(running(), 1, corev1.PodFailed, ended(1, 10*time.Second)), busv1alpha1.PodFailedEvent, busv1alpha1.RestartJobAction, 30*time.Second)
	p := Compute(s.Input)
	if p.RequeueAfter != 20*time.Second || p.Entered != "" {
		t.Errorf("again after %v, entered %q; want 20s and nothing", p.RequeueAfter, p.Entered)
	}
	s.Now = noon.Add(20 * time.Second)
	if p = Compute(s.Input); p.Entered != batchv1alpha1.Restarting {
		t.Errorf("entered %q when the time has come", p.Entered)
	}
}

func TestADelayedEvictionIsOffWhenThePodIsBack(t *testing.T) {
	t.Parallel()
	s := delayed(without(running(), 1), busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction, 30*time.Second)
	s.Lost = []Lost{{UID: "gone", Name: "j-w-1", Task: "w", Index: 1, At: noon.Add(-5 * time.Second)}}
	p := Compute(s.Input)
	if p.RequeueAfter != 25*time.Second || len(p.Answered) != 0 {
		t.Errorf("again after %v, answered %v; want 25s and none", p.RequeueAfter, p.Answered)
	}
	s.pod("w", 1, corev1.PodRunning)
	s.Now = noon.Add(time.Minute)
	if p = Compute(s.Input); p.Entered != "" || len(p.Answered) != 1 {
		t.Errorf("entered %q, answered %v; want nothing, and the pod forgotten", p.Entered, p.Answered)
	}
}

func TestARestartOfAPartIsFinishedAfterACrash(t *testing.T) {
	t.Parallel()
	restarting := func() *story {
		return given(batchv1alpha1.Restarting).with(func(j *batchv1alpha1.Job) {
			j.Status.RetryCount, j.Status.State.Reason = 1, string(busv1alpha1.RestartTaskAction)
			j.Status.ControlledResources = map[string]string{targetKey: "task/w"}
		}).task("m", 1).group("Running").pod("m", 0, corev1.PodRunning)
	}
	p := Compute(restarting().pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodRunning, goingAway).Input)
	if diff := cmp.Diff([]string{"status Restarting v0 r1", "mark w-0 w-1", "delete w-0"}, digest(&p)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	p = Compute(restarting().pod("w", 0, corev1.PodRunning, goingAway).Input)
	if diff := cmp.Diff([]string{"mark w-0"}, lazyAside(digest(&p))); diff != "" {
		t.Errorf("a pod that goes already is still to be marked (-want +got):\n%s", diff)
	}
	in := restarting()
	in.Job.Spec.MinAvailable = 1
	p = Compute(in.Input)
	if diff := cmp.Diff([]string{"status Pending v0 r1"}, digest(&p)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if left := status(in, &p).ControlledResources[targetKey]; left != "" {
		t.Errorf("target %q is left", left)
	}
}

func TestAnAnswerToWhatNothingDatesIsDelayedFromWhenItWasFirstSeen(t *testing.T) {
	t.Parallel()
	s := delayed(replacePod(running(), 1, corev1.PodRunning, restarted(3)), busv1alpha1.TaskFailedEvent, busv1alpha1.RestartTaskAction, time.Minute)
	for range 3 {
		p := Compute(s.Input)
		if p.Entered != "" || p.RequeueAfter != noon.Add(time.Minute).Sub(s.Now) {
			t.Fatalf("entered %q, again after %v at %v", p.Entered, p.RequeueAfter, s.Now)
		}
		s.Since, s.Now = p.Since, s.Now.Add(20*time.Second)
	}
	if p := Compute(s.Input); p.Entered != batchv1alpha1.Restarting {
		t.Errorf("entered %q when the minute is over", p.Entered)
	}
}
