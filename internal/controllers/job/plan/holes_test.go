package plan

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// allocated returns the number of bytes that a call allocates. Tests that use it must not run in parallel.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// huge returns a job with the maximum number of replicas that needs one of them.
func huge(phase batchv1alpha1.JobPhase) *story {
	return given(phase).with(func(job *batchv1alpha1.Job) {
		job.Spec.Tasks[0].Replicas, job.Spec.MinAvailable = math.MaxInt32, 1
	})
}

// TestAPlanOfAHugeJobNeedsLittleMemory verifies that no list in a plan grows with the replicas of a job. It must not
// run in parallel.
func TestAPlanOfAHugeJobNeedsLittleMemory(t *testing.T) { //nolint:paralleltest // it measures memory
	lost := func(job *batchv1alpha1.Job) {
		job.Status.TaskStatusCount = map[string]batchv1alpha1.TaskState{"w": {Phase: map[corev1.PodPhase]int32{corev1.PodRunning: 5}}}
	}
	waiting := func(job *batchv1alpha1.Job) {
		job.Spec.Tasks[1].DependsOn = &batchv1alpha1.DependsOn{Name: []string{"w"}}
		job.Spec.Tasks[1].Replicas, job.Spec.Tasks[0].Replicas = math.MaxInt32-2, 1
	}
	keeping := func(job *batchv1alpha1.Job) {
		job.Annotations = map[string]string{keys.KeepFinished: "true"}
		job.Status.Finished = map[string]string{"w": "0-9"}
	}
	pods := map[string]*story{
		"a new job":               huge(""),
		"a job to be admitted":    huge(batchv1alpha1.Pending).group(schedulingv1beta1.PodGroupPending),
		"an admitted job":         huge(batchv1alpha1.Pending).group(schedulingv1beta1.PodGroupInqueue),
		"a running job":           huge(batchv1alpha1.Running).group(schedulingv1beta1.PodGroupRunning).pod("w", 0, corev1.PodRunning).counted(),
		"a job that lost pods":    huge(batchv1alpha1.Running).with(lost).group(schedulingv1beta1.PodGroupRunning).policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartPodAction),
		"a task that waits":       huge(batchv1alpha1.Pending).task("late", 1).with(waiting).group(schedulingv1beta1.PodGroupInqueue),
		"a job that keeps":        huge(batchv1alpha1.Running).with(keeping).group(schedulingv1beta1.PodGroupRunning).pod("w", 11, corev1.PodRunning).counted(),
		"a job that is over":      huge(batchv1alpha1.Completed).group(schedulingv1beta1.PodGroupCompleted),
		"a job that is aborted":   huge(batchv1alpha1.Running).group(schedulingv1beta1.PodGroupRunning).pod("w", 0, corev1.PodRunning).counted().command(busv1alpha1.AbortJobAction),
		"a job that is restarted": huge(batchv1alpha1.Restarting).group(schedulingv1beta1.PodGroupRunning).pod("w", 0, corev1.PodRunning),
	}
	for name, in := range pods {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // it measures memory
			in.Fresh = true
			if bytes := allocated(func() { Compute(in.Input) }); bytes > 16<<20 {
				t.Errorf("%d MiB for one plan", bytes>>20)
			}
		})
	}
}

func TestPodsOfALargeJobAreMadeInSteps(t *testing.T) {
	t.Parallel()
	in := given(batchv1alpha1.Pending).with(func(job *batchv1alpha1.Job) {
		job.Spec.Tasks[0].Replicas, job.Spec.MinAvailable = 2*maxPlaces+1, 1
	}).group(schedulingv1beta1.PodGroupInqueue)
	var steps []int
	for {
		p := Compute(in.Input)
		var made []Place
		for _, w := range p.Writes {
			if create, ok := w.(CreatePods); ok {
				made = create.Places
			}
		}
		if len(made) == 0 {
			break
		}
		if more := p.RequeueAfter > 0; more != (len(made) == maxPlaces) {
			t.Errorf("%d pods are made, another plan after %s", len(made), p.RequeueAfter)
		}
		steps = append(steps, len(made))
		for _, place := range made {
			in.pod("w", int(place.Index), corev1.PodPending)
		}
	}
	if len(steps) != 3 || steps[2] != 1 {
		t.Errorf("pods made, one plan after the other: %v", steps)
	}
	if len(in.Pods) != 2*maxPlaces+1 {
		t.Errorf("%d pods", len(in.Pods))
	}
}

func TestPodsThatTheMinimumsOfTasksNeedAreMadeFirst(t *testing.T) {
	t.Parallel()
	admitted := func(minAvailable, ofFirst, ofSecond int32) *story {
		return given(batchv1alpha1.Pending).task("v", 2).with(func(job *batchv1alpha1.Job) {
			job.Spec.Tasks[0].Replicas, job.Spec.MinAvailable = 3, minAvailable
			job.Spec.Tasks[0].MinAvailable, job.Spec.Tasks[1].MinAvailable = new(ofFirst), new(ofSecond)
		}).group(schedulingv1beta1.PodGroupInqueue)
	}
	for name, c := range map[string]struct {
		in   *story
		want []string
	}{
		"both tasks are needed":         {admitted(2, 1, 1), []string{"create w-0 v-0", "create w-1 w-2 v-1"}},
		"some of the pods exist":        {admitted(2, 1, 1).pod("w", 0, corev1.PodPending), []string{"create v-0", "create w-1 w-2 v-1"}},
		"a needed pod has failed":       {admitted(2, 1, 1).pod("w", 0, corev1.PodRunning).pod("v", 0, corev1.PodFailed), []string{"create v-1", "create w-1 w-2"}},
		"only the second task":          {admitted(2, 0, 2), []string{"create v-0 v-1", "create w-0 w-1 w-2"}},
		"all pods are needed":           {admitted(5, 3, 2), []string{"create w-0 w-1 w-2 v-0 v-1"}},
		"any pods are enough to start":  {admitted(2, 3, 2), []string{"create w-0 w-1 w-2 v-0 v-1"}},
		"the pods for the start exist":  {admitted(2, 1, 1).pod("w", 0, corev1.PodPending).pod("v", 0, corev1.PodPending), []string{"create w-1 w-2 v-1"}},
		"a needed pod is being deleted": {admitted(2, 1, 1).pod("w", 0, corev1.PodRunning).pod("v", 0, corev1.PodRunning, goingAway), nil},
		"a failed pod is being deleted": {admitted(2, 1, 1).pod("w", 0, corev1.PodRunning).pod("v", 0, corev1.PodFailed, goingAway), nil},
		"another pod of the task counts": {
			admitted(2, 1, 1).pod("w", 0, corev1.PodRunning).pod("v", 0, corev1.PodRunning, goingAway).pod("v", 1, corev1.PodRunning),
			[]string{"create w-1 w-2"},
		},
		"another needed pod is missing": {admitted(3, 1, 2).pod("w", 0, corev1.PodRunning).pod("v", 0, corev1.PodRunning, goingAway), []string{"create v-1"}},
		"only the needed pods are left": {admitted(3, 1, 2).pod("w", 1, corev1.PodPending).pod("w", 2, corev1.PodPending), []string{"create w-0 v-0 v-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var created []string
			p := Compute(c.in.Input)
			for _, word := range digest(&p) {
				if strings.HasPrefix(word, "create") {
					created = append(created, word)
				}
			}
			if diff := cmp.Diff(c.want, created); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOutdatedListsAreReadAgainBeforePodsBeyondTheMinimumsAreCreated verifies that the pods are read again before pods beyond
// the minimums are created, because an old list may contain needed pods that no longer exist.
func TestOutdatedListsAreReadAgainBeforePodsBeyondTheMinimumsAreCreated(t *testing.T) {
	t.Parallel()
	of := func(minAvailable, ofSecond int32) *story {
		in := given(batchv1alpha1.Pending).task("v", 1).with(func(job *batchv1alpha1.Job) {
			job.Spec.Tasks[0].Replicas, job.Spec.MinAvailable = 2, minAvailable
			job.Spec.Tasks[0].MinAvailable, job.Spec.Tasks[1].MinAvailable = new(int32(1)), new(ofSecond)
		}).group(schedulingv1beta1.PodGroupInqueue).pod("w", 0, corev1.PodPending).pod("v", 0, corev1.PodPending)
		in.Doubt = true
		return in
	}
	if p := Compute(of(2, 1).Input); !p.Refresh {
		t.Error("pods beyond the minimums are created although the list may be old")
	}
	if p := Compute(of(1, 1).Input); p.Refresh {
		t.Error("the list is read again although any pods are enough to start")
	}
}

// TestPodsBeyondTheMinimumsWaitWithoutPlans verifies that a job with more missing pods than one plan creates causes no further
// plans while these pods wait for the end of a needed pod.
func TestPodsBeyondTheMinimumsWaitWithoutPlans(t *testing.T) {
	t.Parallel()
	in := given(batchv1alpha1.Pending).task("v", 1).with(func(job *batchv1alpha1.Job) {
		job.Spec.Tasks[0].Replicas, job.Spec.MinAvailable = maxPlaces+2, 2
		job.Spec.Tasks[0].MinAvailable, job.Spec.Tasks[1].MinAvailable = new(int32(1)), new(int32(1))
	}).group(schedulingv1beta1.PodGroupInqueue).pod("w", 0, corev1.PodPending).pod("v", 0, corev1.PodPending, goingAway)
	if p := Compute(in.Input); p.RequeueAfter > 0 {
		t.Errorf("the next plan follows after %s, want none before the end of the pod", p.RequeueAfter)
	}
}
