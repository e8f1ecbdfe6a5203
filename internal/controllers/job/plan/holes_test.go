package plan

import (
	"math"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
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
func huge(phase batch.JobPhase) *story {
	return given(phase).with(func(job *batch.Job) {
		job.Spec.Tasks[0].Replicas, job.Spec.MinAvailable = math.MaxInt32, 1
	})
}

// TestAPlanOfAHugeJobNeedsLittleMemory verifies that no list in a plan grows with the replicas of a job. It must not
// run in parallel.
func TestAPlanOfAHugeJobNeedsLittleMemory(t *testing.T) { //nolint:paralleltest // it measures memory
	lost := func(job *batch.Job) {
		job.Status.TaskStatusCount = map[string]batch.TaskState{"w": {Phase: map[corev1.PodPhase]int32{corev1.PodRunning: 5}}}
	}
	waiting := func(job *batch.Job) {
		job.Spec.Tasks[1].DependsOn = &batch.DependsOn{Name: []string{"w"}}
		job.Spec.Tasks[1].Replicas, job.Spec.Tasks[0].Replicas = math.MaxInt32-2, 1
	}
	keeping := func(job *batch.Job) {
		job.Annotations = map[string]string{keys.KeepFinished: "true"}
		job.Status.Finished = map[string]string{"w": "0-9"}
	}
	pods := map[string]*story{
		"a new job":               huge(""),
		"a job to be admitted":    huge(batch.Pending).group(scheduling.PodGroupPending),
		"an admitted job":         huge(batch.Pending).group(scheduling.PodGroupInqueue),
		"a running job":           huge(batch.Running).group(scheduling.PodGroupRunning).pod("w", 0, corev1.PodRunning).counted(),
		"a job that lost pods":    huge(batch.Running).with(lost).group(scheduling.PodGroupRunning).policy(bus.PodEvictedEvent, bus.RestartPodAction),
		"a task that waits":       huge(batch.Pending).task("late", 1).with(waiting).group(scheduling.PodGroupInqueue),
		"a job that keeps":        huge(batch.Running).with(keeping).group(scheduling.PodGroupRunning).pod("w", 11, corev1.PodRunning).counted(),
		"a job that is over":      huge(batch.Completed).group(scheduling.PodGroupCompleted),
		"a job that is aborted":   huge(batch.Running).group(scheduling.PodGroupRunning).pod("w", 0, corev1.PodRunning).counted().command(bus.AbortJobAction),
		"a job that is restarted": huge(batch.Restarting).group(scheduling.PodGroupRunning).pod("w", 0, corev1.PodRunning),
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
	in := given(batch.Pending).with(func(job *batch.Job) {
		job.Spec.Tasks[0].Replicas, job.Spec.MinAvailable = 2*maxPlaces+1, 1
	}).group(scheduling.PodGroupInqueue)
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
