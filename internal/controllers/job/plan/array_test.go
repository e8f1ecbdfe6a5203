package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin"
)

// array returns a running job with these elements and an admitted group.
func array(elements string) *story {
	s := given(batchv1alpha1.Running)
	s.Job.Spec.Tasks[0].Replicas = 0
	return s.asks(keys.Array, elements).group(schedulingv1beta1.PodGroupRunning)
}

func (s *story) known(states batchv1alpha1.ArrayStatus) *story {
	s.Job.Status.Array = &states
	return s
}

func late(pod *corev1.Pod) { pod.Status.Reason = "DeadlineExceeded" }

func outOfMemory(pod *corev1.Pod) {
	pod.Status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
}

func evictedByNode(pod *corev1.Pod) { pod.Status.Reason = "Evicted" }

func TestTheElementsOfAnArray(t *testing.T) {
	t.Parallel()
	two := func(s *story) *story {
		s.Job.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 3, PartitionSize: 2}
		return s
	}
	more := func(s *story, replicas int32) *story {
		s.Job.Spec.Tasks[0].Replicas = replicas
		return s
	}
	tests := map[string]struct {
		in   *story
		want string // the created pods
		told batchv1alpha1.ArrayStatus
	}{
		"all start at once without a limit": {array("3,5,9"), "w-0 w-1 w-2", batchv1alpha1.ArrayStatus{}},
		"no more than the limit":            {array("0-9").asks(keys.ArrayLimit, "2"), "w-0 w-1", batchv1alpha1.ArrayStatus{}},
		"the next when one has ended": {array("0-9").asks(keys.ArrayLimit, "2").pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodRunning),
			"w-2", batchv1alpha1.ArrayStatus{Running: "1", Succeeded: "0"}},
		"none while the limit is reached": {array("0-9").asks(keys.ArrayLimit, "2").pod("w", 0, corev1.PodPending).pod("w", 1, corev1.PodRunning),
			"", batchv1alpha1.ArrayStatus{Running: "0-1", Reason: "JobArrayTaskLimit"}},
		"one that goes away still counts": {array("0-9").asks(keys.ArrayLimit, "1").pod("w", 0, corev1.PodRunning, goingAway),
			"", batchv1alpha1.ArrayStatus{Running: "0", Reason: "JobArrayTaskLimit"}},
		"a cancelled one is not begun": {array("3,5,9").asks(keys.ArrayCancelled, "5"), "w-0 w-2", batchv1alpha1.ArrayStatus{Cancelled: "5"}},
		"one that has ended is not cancelled any more": {array("3,5,9").asks(keys.ArrayCancelled, "3").pod("w", 0, corev1.PodSucceeded),
			"w-1 w-2", batchv1alpha1.ArrayStatus{Succeeded: "3"}},
		"elements fail one by one": {array("3,5,9").pod("w", 0, corev1.PodFailed, ended(7, time.Minute)).pod("w", 1, corev1.PodFailed),
			"w-2", batchv1alpha1.ArrayStatus{Failed: "3,5", ExitCodes: map[string]string{"7": "3", "-1": "5"}}},
		"what they failed of": {array("3,5,9").pod("w", 0, corev1.PodFailed, ended(143, 0), late).pod("w", 1, corev1.PodFailed, ended(137, 0), outOfMemory).pod("w", 2, corev1.PodFailed, evictedByNode), "",
			batchv1alpha1.ArrayStatus{Failed: "3,5,9", ExitCodes: map[string]string{"143": "3", "137": "5", "-1": "9"}, Causes: map[string]string{"DeadlineExceeded": "3", "OOMKilled": "5", "Evicted": "9"}}},
		"is kept when their pods are gone": {array("3,5,9").known(batchv1alpha1.ArrayStatus{Failed: "3,5,9", ExitCodes: map[string]string{"143": "3", "137": "5", "-1": "9"}, Causes: map[string]string{"DeadlineExceeded": "3", "OOMKilled": "5,9"}}), "",
			batchv1alpha1.ArrayStatus{Failed: "3,5,9", ExitCodes: map[string]string{"143": "3", "137": "5", "-1": "9"}, Causes: map[string]string{"DeadlineExceeded": "3", "OOMKilled": "5,9"}}},
		"but not of another end": {array("3").known(batchv1alpha1.ArrayStatus{Failed: "3", ExitCodes: map[string]string{"143": "3"}, Causes: map[string]string{"DeadlineExceeded": "3"}}).pod("w", 0, corev1.PodFailed, ended(1, 0)), "",
			batchv1alpha1.ArrayStatus{Failed: "3", ExitCodes: map[string]string{"1": "3"}}},
		"what a pod says goes before what is recorded": {array("3,5").known(batchv1alpha1.ArrayStatus{Succeeded: "3", Failed: "5", ExitCodes: map[string]string{"7": "5"}}).
			pod("w", 0, corev1.PodFailed, ended(2, 0)).pod("w", 1, corev1.PodSucceeded), "", batchv1alpha1.ArrayStatus{Succeeded: "5", Failed: "3", ExitCodes: map[string]string{"2": "3"}}},
		"what is recorded goes before a pod that has not ended": {array("3,5").known(batchv1alpha1.ArrayStatus{Succeeded: "3"}).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodRunning),
			"", batchv1alpha1.ArrayStatus{Succeeded: "3", Running: "5"}},
		"one whose pod is gone is not run again": {array("3,5,9").known(batchv1alpha1.ArrayStatus{Succeeded: "3", Failed: "5", ExitCodes: map[string]string{"7": "5"}}),
			"w-2", batchv1alpha1.ArrayStatus{Succeeded: "3", Failed: "5", ExitCodes: map[string]string{"7": "5"}}},
		"wide elements start whole":           {two(array("0-2")).asks(keys.ArrayLimit, "1"), "w-0 w-1", batchv1alpha1.ArrayStatus{}},
		"a wide one that was begun is filled": {two(array("0-2")).asks(keys.ArrayLimit, "1").pod("w", 1, corev1.PodRunning), "w-0", batchv1alpha1.ArrayStatus{Running: "0", Reason: "JobArrayTaskLimit"}},
		"one that lost a finished pod is filled before another is begun": {two(array("0-2")).asks(keys.ArrayLimit, "1").pod("w", 1, corev1.PodSucceeded),
			"w-0", batchv1alpha1.ArrayStatus{Running: "0"}},
		"one whose finished pod goes away still counts": {two(array("0-2")).asks(keys.ArrayLimit, "1").pod("w", 0, corev1.PodSucceeded, goingAway).pod("w", 1, corev1.PodSucceeded),
			"", batchv1alpha1.ArrayStatus{Running: "0", Reason: "JobArrayTaskLimit"}},
		"a wide one has succeeded when all its pods have": {two(array("0-2")).asks(keys.ArrayLimit, "1").pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodSucceeded),
			"w-2 w-3", batchv1alpha1.ArrayStatus{Succeeded: "0"}},
		"and failed when one has": {two(array("0-2")).asks(keys.ArrayLimit, "1").pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodFailed, ended(2, 0)),
			"w-2 w-3", batchv1alpha1.ArrayStatus{Failed: "0", ExitCodes: map[string]string{"2": "0"}}},

		"a pod that belongs to no element counts for none": {more(array("3,5"), 3).pod("w", 2, corev1.PodSucceeded), "w-0 w-1", batchv1alpha1.ArrayStatus{}},

		"elements follow those of another array": {array("0-3").asks(keys.Dependency, "aftercorr:7").other(7, "a", batchv1alpha1.Running, elements(batchv1alpha1.ArrayStatus{Succeeded: "1", Failed: "2"})),
			"w-1", batchv1alpha1.ArrayStatus{}},
		"the others wait": {array("0-3").asks(keys.Dependency, "aftercorr:7").other(7, "a", batchv1alpha1.Running, elements(batchv1alpha1.ArrayStatus{Succeeded: "1", Failed: "2"})).pod("w", 1, corev1.PodRunning),
			"", batchv1alpha1.ArrayStatus{Running: "1", Reason: "Dependency"}},
		"none is left that may follow": {array("2-3").asks(keys.Dependency, "aftercorr:7").other(7, "a", batchv1alpha1.Completed, elements(batchv1alpha1.ArrayStatus{Succeeded: "1", Failed: "2-3"})),
			"", batchv1alpha1.ArrayStatus{Reason: "DependencyNeverSatisfied"}},
		"one of several terms is enough for all": {array("0-1").asks(keys.Dependency, "aftercorr:7?afterany:8").other(7, "a", batchv1alpha1.Running, elements(batchv1alpha1.ArrayStatus{Succeeded: "1"})),
			"w-0 w-1", batchv1alpha1.ArrayStatus{}},
		"one element of another is enough for all": {array("0-1").asks(keys.Dependency, "aftercorr:7_1").other(7, "a", batchv1alpha1.Running, elements(batchv1alpha1.ArrayStatus{Succeeded: "1"})),
			"w-0 w-1", batchv1alpha1.ArrayStatus{}},
		"those of an array that is gone never come": {array("0-1").asks(keys.Dependency, "aftercorr:7"), "", batchv1alpha1.ArrayStatus{Reason: "DependencyNeverSatisfied"}},
		"those of one that is to come may":          {array("0-1").asks(keys.Dependency, "aftercorr:later"), "", batchv1alpha1.ArrayStatus{Reason: "Dependency"}},
		"those that never can are cancelled where that is asked": {array("1-3").asks(keys.Dependency, "aftercorr:7").asks(keys.KillOnInvalidDependency, "true").
			other(7, "a", batchv1alpha1.Running, elements(batchv1alpha1.ArrayStatus{Succeeded: "1", Failed: "2"})), "w-0", batchv1alpha1.ArrayStatus{Cancelled: "2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			made := ""
			for _, word := range digest(&p) {
				if after, ok := strings.CutPrefix(word, "create "); ok {
					made = after
				}
			}
			if made != test.want {
				t.Errorf("made %q, want %q (%v)", made, test.want, digest(&p))
			}
			if diff := cmp.Diff(&test.told, status(test.in, &p).Array); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALimitIsHeldAgainstPodsThatTheCacheMayNotShow(t *testing.T) {
	t.Parallel()
	in := array("0-9").asks(keys.ArrayLimit, "2").pod("w", 0, corev1.PodRunning)
	in.Doubt = true
	if p := Compute(in.Input); !p.Refresh || len(p.Writes) > 0 {
		t.Errorf("refresh %v, %v", p.Refresh, digest(&p))
	}
	in.Fresh = true
	if p := Compute(in.Input); p.Refresh || !slices.Contains(digest(&p), "create w-1") {
		t.Errorf("refresh %v, %v", p.Refresh, digest(&p))
	}
	in.pod("w", 1, corev1.PodRunning).Fresh = false
	if p := Compute(in.Input); p.Refresh {
		t.Error("nothing is to be made, and it looks twice")
	}
}

func TestACancelledElementIsStoppedAndIsNoEviction(t *testing.T) {
	t.Parallel()
	in := array("0-2").policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodRunning).pod("w", 2, corev1.PodRunning).counted()
	in.asks(keys.ArrayCancelled, "1")
	p := Compute(in.Input)
	if diff := cmp.Diff([]string{"status Running v0 r0", "mark w-1", "delete w-1"}, digest(&p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in.Job.Status = *status(in, &p)
	in.Pods = in.Pods[:1]
	in.pod("w", 2, corev1.PodSucceeded)
	in.Pods[0].Status.Phase = corev1.PodFailed
	p = Compute(in.Input)
	if s := status(in, &p); s.State.Phase != batchv1alpha1.Completed {
		t.Errorf("%+v", s.State)
	}
}

func TestAnArrayOfWhichAllIsCancelledEnds(t *testing.T) {
	t.Parallel()
	for _, phase := range []batchv1alpha1.JobPhase{batchv1alpha1.Pending, batchv1alpha1.Running} {
		in := array("0-2").asks(keys.ArrayCancelled, "0-2")
		in.Job.Status.State.Phase = phase
		p := Compute(in.Input)
		if s := status(in, &p); s.State.Phase != batchv1alpha1.Terminated || s.State.Message != allCancelled {
			t.Errorf("%s: %+v", phase, s.State)
		}
	}
}

func TestCancelledElementsKeepAnArrayFromNothing(t *testing.T) {
	t.Parallel()
	wide := func(s *story, n int32) *story {
		s.Job.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: n, PartitionSize: 2}
		return s
	}
	gang := func(s *story, phase batchv1alpha1.JobPhase, least int32) *story {
		s.Job.Spec.MinAvailable, s.Job.Status.State.Phase = least, phase
		return s
	}
	const well, runs = corev1.PodSucceeded, corev1.PodRunning
	tests := map[string]struct {
		in   *story
		want batchv1alpha1.JobPhase
	}{
		"a wide one of which half is done":     {wide(array("9"), 1).asks(keys.ArrayCancelled, "9").pod("w", 0, well), batchv1alpha1.Terminated},
		"before it has run, too":               {gang(wide(array("9"), 1).asks(keys.ArrayCancelled, "9"), batchv1alpha1.Pending, 0).pod("w", 0, well), batchv1alpha1.Terminated},
		"beside one that is done":              {wide(array("8-9"), 2).asks(keys.ArrayCancelled, "9").pod("w", 0, well).pod("w", 1, well).pod("w", 2, well), batchv1alpha1.Completed},
		"beside one that runs":                 {wide(array("8-9"), 2).asks(keys.ArrayCancelled, "9").pod("w", 0, runs).pod("w", 1, runs).pod("w", 2, well), batchv1alpha1.Running},
		"a gang of more than are left starts":  {gang(array("0-2").asks(keys.ArrayCancelled, "1"), batchv1alpha1.Pending, 3).pod("w", 0, runs).pod("w", 2, runs), batchv1alpha1.Running},
		"and runs":                             {gang(array("0-2").asks(keys.ArrayCancelled, "1"), batchv1alpha1.Running, 3).pod("w", 0, runs).pod("w", 2, runs), batchv1alpha1.Running},
		"until one of them has to begin again": {gang(array("0-2").asks(keys.ArrayCancelled, "1"), batchv1alpha1.Running, 3).pod("w", 0, runs).pod("w", 2, corev1.PodPending), batchv1alpha1.Pending},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			if s := status(test.in, &p).State; s.Phase != test.want {
				t.Errorf("%s, want %s: %s", s.Phase, test.want, s.Message)
			}
		})
	}
}

func TestNoElementRunsInAnArrayAtRest(t *testing.T) {
	t.Parallel()
	in := array("0-1").pod("w", 0, corev1.PodSucceeded)
	in.Job.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 2, PartitionSize: 2}
	in.Job.Status.State.Phase = batchv1alpha1.Aborted
	p := Compute(in.Input)
	if diff := cmp.Diff(&batchv1alpha1.ArrayStatus{}, status(in, &p).Array); diff != "" {
		t.Errorf("half of an element is done, and it is run again after a resumption (-want +got):\n%s", diff)
	}
}

func TestAnArrayStartsWithOneElement(t *testing.T) {
	t.Parallel()
	in := array("0-99").asks(keys.ArrayLimit, "5")
	in.PodGroup = nil
	p := Compute(in.Input)
	for _, w := range p.Writes {
		if g, ok := w.(CreateGroup); ok && (g.Group.Spec.MinMember != 1 || g.Group.Spec.MinTaskMember["w"] != 1) {
			t.Errorf("%+v", g.Group.Spec)
		}
	}
	if p.Job.Spec.Tasks[0].Replicas != 100 || p.Job.Spec.MinAvailable != 1 {
		t.Errorf("%d pods, %d at least", p.Job.Spec.Tasks[0].Replicas, p.Job.Spec.MinAvailable)
	}
}

func TestARestartRunsAnArrayAgain(t *testing.T) {
	t.Parallel()
	in := array("0-3").command(busv1alpha1.RestartJobAction).known(batchv1alpha1.ArrayStatus{Succeeded: "0", Failed: "1", ExitCodes: map[string]string{"1": "1"}}).
		pod("w", 2, corev1.PodSucceeded).pod("w", 3, corev1.PodRunning)
	p := Compute(in.Input)
	if s := status(in, &p).Array; s.Succeeded != "" || s.Failed != "" {
		t.Errorf("%+v", s)
	}
	in.asks(keys.KeepFinished, "true")
	in.Job.Status.Finished = map[string]string{"w": "0"}
	p = Compute(in.Input)
	s := status(in, &p)
	if s.Array.Succeeded != "0,2" || s.Array.Failed != "" || s.Finished["w"] != "0,2" {
		t.Errorf("what has succeeded is kept: %+v, %v", s.Array, s.Finished)
	}
	if diff := cmp.Diff([]string{"status Restarting v1 r0 u1", "delete w-3", "DeleteGroup", "done c0"}, digest(&p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestARestartOfOnePodForgetsItsElementOnly(t *testing.T) {
	t.Parallel()
	in := array("0-3").policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartPodAction).known(batchv1alpha1.ArrayStatus{Succeeded: "0"}).
		pod("w", 1, corev1.PodFailed, ended(1, 0)).pod("w", 2, corev1.PodRunning).pod("w", 3, corev1.PodRunning)
	p := Compute(in.Input)
	if s := status(in, &p); s.State.Phase != batchv1alpha1.Restarting || s.Array.Succeeded != "0" || s.Array.Failed != "" {
		t.Errorf("%+v, %+v", s.State, s.Array)
	}
}

func TestAnElementWhosePodGoesAlreadyIsRunAgainWhereThatIsAsked(t *testing.T) {
	t.Parallel()
	in := array("0-1").policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartPodAction).known(batchv1alpha1.ArrayStatus{Failed: "1", ExitCodes: map[string]string{"1": "1"}}).
		pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodFailed, goingAway, ended(1, time.Minute))
	p := Compute(in.Input)
	if s := status(in, &p); s.State.Phase != batchv1alpha1.Restarting || s.Array.Failed != "" {
		t.Errorf("%+v, %+v", s.State, s.Array)
	}
}

func TestAGangAsksOnlyForWhatIsLeftToDo(t *testing.T) {
	t.Parallel()
	gang := func(s *story, least int32) *story {
		s.Job.Spec.MinAvailable = least
		s.PodGroup = nil
		return s
	}
	kept := given(batchv1alpha1.Pending).asks(keys.KeepFinished, "true")
	kept.Job.Spec.Tasks[0].Replicas, kept.Job.Status.Finished = 4, map[string]string{"w": "0-1"}
	tests := map[string]struct {
		in   *story
		want int32
	}{
		"of an array that is to start whole": {gang(array("0-3"), 4), 4},
		"without what was cancelled":         {gang(array("0-3").asks(keys.ArrayCancelled, "1"), 4), 3},
		"nor what has ended":                 {gang(array("0-3").known(batchv1alpha1.ArrayStatus{Succeeded: "0", Failed: "2"}), 4), 2},
		"of a job without what it keeps":     {gang(kept, 3), 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			for _, w := range p.Writes {
				if w, ok := w.(CreateGroup); ok {
					if got := w.Group.Spec.MinMember; got != test.want {
						t.Errorf("%d, want %d", got, test.want)
					}
					return
				}
			}
			t.Errorf("no group: %v", digest(&p))
		})
	}
}

func TestARestartOfATaskKeepsWhatIsToBeKept(t *testing.T) {
	t.Parallel()
	in := given(batchv1alpha1.Running).asks(keys.KeepFinished, "true").group(schedulingv1beta1.PodGroupRunning).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartTaskAction)
	in.Job.Spec.Tasks[0].Replicas = 3
	in.pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodRunning).pod("w", 2, corev1.PodFailed)
	p := Compute(in.Input)
	if diff := cmp.Diff([]string{"status Restarting v0 r1", "mark w-1 w-2", "delete w-1 w-2"}, digest(&p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := status(in, &p); s.Finished["w"] != "0" {
		t.Errorf("%v", s.Finished)
	}
}

func TestTheEndOfAnArrayIsWrittenDown(t *testing.T) {
	t.Parallel()
	began := func(ago time.Duration) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			at := metav1.NewTime(noon.Add(-ago))
			pod.Status.StartTime, pod.CreationTimestamp = &at, at
		}
	}
	in := array("0-2").known(batchv1alpha1.ArrayStatus{Succeeded: "1"}).pod("w", 0, corev1.PodSucceeded, began(30*time.Minute), ended(0, 10*time.Minute)).
		pod("w", 2, corev1.PodFailed, began(20*time.Minute), ended(9, 5*time.Minute))
	in.Job.Status.State.Phase = batchv1alpha1.Completed
	p := Compute(in.Input)
	s := status(in, &p)
	want := &batchv1alpha1.ArrayStatus{Succeeded: "0-1", Failed: "2", ExitCodes: map[string]string{"9": "2"}, Times: "1800+1200 - 2400+900"}
	if diff := cmp.Diff(want, s.Array); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in.Job.Status = *s
	in.Pods = nil
	p = Compute(in.Input)
	if diff := cmp.Diff(want, status(in, &p).Array); diff != "" {
		t.Errorf("its pods gone (-want +got):\n%s", diff)
	}
}

func TestAPodOfAnArrayKnowsItsElement(t *testing.T) {
	t.Parallel()
	in := array("3,5,9")
	batchv1alpha1.SetJobID(in.Job, 40)
	in.Job.Spec.Tasks[0].Template.Spec.InitContainers = []corev1.Container{{Name: "before", Image: "i"}}
	p := Compute(in.Input)
	pod := NewPodForPlace(p.Job, plugin.Set{}, Place{0, 2}, false)
	p.Array.LabelElementPod(pod, p.Job, Place{0, 2})
	env := pod.Spec.Containers[0].Env
	if !slices.Equal(env, pod.Spec.InitContainers[0].Env) {
		t.Errorf("an init container is told otherwise: %v", pod.Spec.InitContainers[0].Env)
	}
	if pod.Labels[keys.ArrayIndex] != "9" || pod.Annotations[keys.ElementID] != "42" || pod.Labels[keys.JobID] != "40" ||
		!slices.Contains(env, corev1.EnvVar{Name: "VC_ARRAY_INDEX", Value: "9"}) {
		t.Errorf("%v, %v, %v", pod.Labels, pod.Annotations, env)
	}
}

func TestFinishedWorkIsKept(t *testing.T) {
	t.Parallel()
	keep := func() *story {
		return given(batchv1alpha1.Running).asks(keys.KeepFinished, "true").group(schedulingv1beta1.PodGroupRunning)
	}
	in := keep().pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodRunning)
	p := Compute(in.Input)
	if s := status(in, &p); s.Finished["w"] != "0" {
		t.Errorf("%v", s.Finished)
	}
	in = keep().pod("w", 1, corev1.PodRunning)
	in.Job.Status.Finished = map[string]string{"w": "0"}
	p = Compute(in.Input)
	if s := status(in, &p); s.Succeeded != 1 || s.Finished["w"] != "0" {
		t.Errorf("its pod gone: %+v", s)
	}
	for _, w := range p.Writes {
		switch w := w.(type) {
		case CreatePods:
			t.Errorf("run again: %v", w.Places)
		case PatchGroup:
			if w.Spec.MinMember != 1 || w.Spec.MinTaskMember["w"] != 1 {
				t.Errorf("the gang is to wait for one pod: %+v", w.Spec)
			}
		}
	}
	in.Pods[0].Status.Phase = corev1.PodSucceeded
	p = Compute(in.Input)
	if s := status(in, &p); s.State.Phase != batchv1alpha1.Completed || s.Finished["w"] != "0-1" {
		t.Errorf("%+v, %v", s.State, s.Finished)
	}
}

func TestWhyElementsWaitHasWords(t *testing.T) {
	t.Parallel()
	for _, code := range []reason.Code{reason.JobArrayTaskLimit, reason.Dependency, reason.DependencyNeverSatisfied} {
		if reason.Get(code).Sentence == string(code) {
			t.Errorf("%s has no sentence", code)
		}
	}
}
