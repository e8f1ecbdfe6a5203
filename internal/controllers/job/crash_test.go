package job

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/test/apiserver"
)

// lives lists typical lives of jobs as sequences of inputs.
var lives = map[string]struct {
	policy batchv1alpha1.LifecyclePolicy
	change func(*batchv1alpha1.Job)
	inputs []func(*world)
}{
	"it completes": {inputs: []func(*world){end("job-w-0", 0), end("job-w-1", 0), end("job-x-0", 0)}},
	"it fails":     {inputs: []func(*world){end("job-w-0", 1), end("job-w-1", 1), end("job-x-0", 0)}},
	"it is restarted until it fails": {policy: restartOn(busv1alpha1.PodFailedEvent, busv1alpha1.RestartJobAction),
		inputs: []func(*world){end("job-w-0", 1), end("job-w-1", 1), end("job-x-0", 1)}},
	"a pod is restarted":  {policy: restartOn(busv1alpha1.PodFailedEvent, busv1alpha1.RestartPodAction), inputs: []func(*world){end("job-w-0", 1), end("job-x-0", 1)}},
	"a task is restarted": {policy: restartOn(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartTaskAction), inputs: []func(*world){gone("job-w-0"), gone("job-w-1")}},
	"a partition is restarted": {policy: restartOn(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartPartitionAction), inputs: []func(*world){gone("job-w-1")},
		change: func(j *batchv1alpha1.Job) {
			j.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 2, PartitionSize: 1}
		}},
	"a task completes it":         {policy: restartOn(busv1alpha1.TaskCompletedEvent, busv1alpha1.CompleteJobAction), inputs: []func(*world){end("job-x-0", 0)}},
	"it is suspended and resumed": {inputs: []func(*world){asked(busv1alpha1.AbortJobAction), asked(busv1alpha1.ResumeJobAction), asked(busv1alpha1.AbortJobAction)}},
	"it is restarted by hand":     {inputs: []func(*world){asked(busv1alpha1.RestartJobAction), asked(busv1alpha1.TerminateJobAction)}},
	"it is scaled":                {inputs: []func(*world){to(4), to(1), to(2)}},
	"it is deleted in time": {inputs: []func(*world){asked(busv1alpha1.CompleteJobAction)},
		change: func(j *batchv1alpha1.Job) { at := int32(60); j.Spec.TTLSecondsAfterFinished = &at }},
	"a task waits for another": {inputs: []func(*world){end("job-w-0", 0)}, change: func(j *batchv1alpha1.Job) { j.Spec.Tasks[1].DependsOn = &batchv1alpha1.DependsOn{Name: []string{"w"}} }},
}

func end(pod string, code int32) func(*world) { return func(w *world) { w.finish(pod, code) } }
func gone(pod string) func(*world)            { return func(w *world) { w.evict(pod) } }
func to(replicas int32) func(*world)          { return func(w *world) { w.scale(0, replicas) } }
func asked(action busv1alpha1.Action) func(*world) {
	return func(w *world) { w.command(len(w.server.History), action) }
}

// lived returns the world after a life in which the controller crashes after the given number of writes; -1 means no
// crash.
func lived(t *testing.T, name string, writes int, unheard bool) *world {
	t.Helper()
	life := lives[name]
	job := simpleJob(2)
	job.Spec.Tasks = append(job.Spec.Tasks, *job.Spec.Tasks[0].DeepCopy())
	job.Spec.Tasks[1].Name, job.Spec.Tasks[1].Replicas = "x", 1
	job.Spec.Plugins = map[string][]string{"svc": {}}
	job.Spec.Volumes = []batchv1alpha1.VolumeSpec{{MountPath: "/data", VolumeClaim: claimSpec.DeepCopy()}}
	if life.policy.Action != "" {
		job.Spec.Policies = []batchv1alpha1.LifecyclePolicy{life.policy}
	}
	if life.change != nil {
		life.change(job)
	}
	w := newWorld(job)
	w.life, w.lifeEndsUnheard = writes, unheard
	for _, input := range append([]func(*world){func(*world) {}}, life.inputs...) {
		input(w)
		if w.truth() == nil {
			w.seeAll()
			w.turn(t, watched...)
			continue
		}
		if err := w.settle(); err != nil {
			t.Fatalf("%v:\n%s", err, strings.Join(w.told(), "\n"))
		}
	}
	return w
}

// TestACrashAfterAnyWriteOfALifeChangesNothing crashes the controller after every single write of every life, with and
// without the response to the last write, and compares the final state.
func TestACrashAfterAnyWriteOfALifeChangesNothing(t *testing.T) {
	t.Parallel()
	points := 0
	for name := range lives {
		undisturbed := lived(t, name, -1, false)
		want := undisturbed.ends()
		for n := range undisturbed.made {
			points++
			for _, unheard := range []bool{false, true} {
				w := lived(t, name, n+1, unheard)
				if diff := cmp.Diff(want, w.ends()); diff != "" {
					t.Errorf("%s, dead after write %d (unheard: %v; -undisturbed +crashed):\n%s\n%s", name, n+1, unheard, diff, strings.Join(w.told(), "\n"))
				}
			}
		}
	}
	if points < 250 {
		t.Errorf("only %d points: the lives have become poor", points)
	}
	t.Logf("%d lives, %d points, each with and without an answer", len(lives), points)
}

// ends is like snapshot, for a job that may be deleted.
func (w *world) ends() map[string]string {
	if w.truth() != nil {
		return w.snapshot()
	}
	left := map[string]string{}
	for _, pod := range apiserver.All[*corev1.Pod](w.server) {
		if pod.DeletionTimestamp == nil {
			left[pod.Name] = fmt.Sprint(pod.Status.Phase)
		}
	}
	return left
}
