package job

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/test/seeds"
)

// disturb does one random thing to the world.
func disturb(t *rapid.T, w *world, i int) error {
	pod := func() string {
		names := w.podNames()
		if len(names) == 0 {
			return ""
		}
		return rapid.SampledFrom(names).Draw(t, "pod")
	}
	w.clock = w.clock.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "seconds")) * time.Second)
	switch rapid.IntRange(0, 24).Draw(t, "what") {
	case 0, 1, 2, 3:
		return w.reconcile(-1, false)
	case 4:
		return w.reconcile(rapid.IntRange(0, 4).Draw(t, "writes"), rapid.Bool().Draw(t, "lost reply"))
	case 5, 6:
		w.see(rapid.SampledFrom(watched).Draw(t, "kind"), rapid.IntRange(1, 5).Draw(t, "changes"))
	case 7, 8, 9:
		w.seeAll()
		return w.reconcile(-1, false)
	case 10:
		w.schedule(rapid.SampledFrom([]scheduling.PodGroupPhase{scheduling.PodGroupInqueue, scheduling.PodGroupRunning, scheduling.PodGroupInqueue,
			scheduling.PodGroupUnknown}).Draw(t, "group phase"))
	case 11, 12, 13, 14:
		w.kubelet(pod(), 0)
	case 15:
		w.kubelet(pod(), 1)
	case 16:
		w.evict(pod())
	case 17:
		w.command(i, rapid.SampledFrom([]bus.Action{bus.AbortJobAction, bus.ResumeJobAction, bus.RestartJobAction, bus.ResumeJobAction,
			bus.CompleteJobAction, bus.TerminateJobAction, "Nonsense"}).Draw(t, "action"))
	case 18:
		if job := w.truth(); job != nil {
			w.scale(rapid.IntRange(0, len(job.Spec.Tasks)-1).Draw(t, "task"), rapid.Int32Range(1, 3).Draw(t, "replicas"))
		}
	case 19:
		w.restart(rapid.IntRange(0, 6).Draw(t, "changes back"))
	case 20:
		w.crash(pod())
	case 21:
		w.api.remove(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.job.Namespace, Name: pod()}})
		w.upsets++
	case 22:
		w.again(rapid.IntRange(1, 5).Draw(t, "changes"))
	case 23:
		w.refuse(pod())
	case 24:
		return w.illness(t)
	}
	return nil
}

// check is what must hold at any moment.
func (w *world) check() error {
	places := map[string]string{}
	for _, name := range w.podNames() {
		task, index, version, ok := plan.PodIdentity(w.pod(name))
		if !ok {
			return fmt.Errorf("pod %s does not say what it is", name)
		}
		place := fmt.Sprintf("%s/%d", task, index)
		if other := places[place]; other != "" {
			return fmt.Errorf("pods %s and %s are both at %s", other, name, place)
		}
		places[place] = name
		if job := w.truth(); job != nil && version > job.Status.Version {
			return fmt.Errorf("pod %s is of version %d, the job of %d", name, version, job.Status.Version)
		}
	}
	return nil
}

// countable says whether all that may restart the job is counted in upsets: the clock and a task's end are not.
func countable(job *batch.Job) bool {
	for _, t := range job.Spec.Tasks {
		for _, p := range append(t.Policies, job.Spec.Policies...) {
			switch p.Event {
			case bus.AnyEvent, bus.TaskCompletedEvent, bus.PodPendingEvent:
				return false
			}
		}
	}
	return true
}

// checkRest is what must hold once all is calm.
func (w *world) checkRest() error {
	job := w.truth()
	if job == nil {
		return fmt.Errorf("the job is gone")
	}
	if job.Status.State.Reason == "WaitingForTask" && job.Status.Failed > 0 {
		return nil // it waits for a task that failed, nobody said what to do then, and it says so
	}
	if !plan.AtRest(job.Status.State.Phase) {
		return fmt.Errorf("phase %q at rest", job.Status.State.Phase)
	}
	if countable(job) && int(job.Status.RetryCount) > w.upsets {
		return fmt.Errorf("%d restarts, but only %d reasons for one", job.Status.RetryCount, w.upsets)
	}
	var succeeded, failed int32
	for _, name := range w.podNames() {
		pod := w.pod(name)
		if !finished(pod) {
			return fmt.Errorf("pod %s is %s in a job that is %s", name, pod.Status.Phase, job.Status.State.Phase)
		}
		_, index, _, _ := plan.PodIdentity(pod)
		for _, task := range job.Spec.Tasks {
			if task.Name == pod.Labels["volcano.sh/task-spec"] && index < task.Replicas {
				if pod.Status.Phase == corev1.PodSucceeded {
					succeeded++
				} else {
					failed++
				}
			}
		}
	}
	s := job.Status
	if s.Succeeded != succeeded || s.Failed != failed || s.Running+s.Pending+s.Terminating+s.Unknown != 0 {
		return fmt.Errorf("status %+v, in truth %d succeeded and %d failed", s, succeeded, failed)
	}
	for key := range w.api.objects {
		for _, kind := range []string{"PodGroup ", "ConfigMap ", "Service ", "NetworkPolicy ", "Command "} {
			if strings.HasPrefix(key, kind) {
				return fmt.Errorf("%s is left behind", key)
			}
		}
	}
	if _, left := s.ControlledResources["restart-target"]; left {
		return fmt.Errorf("the target of a restart is left behind")
	}
	return nil
}

func TestAJobConvergesWhateverHappens(t *testing.T) {
	seeds.Check(t, 10_000, func(t *rapid.T) {
		w := newWorld(drawJob(t, true))
		defer func() {
			if t.Failed() {
				t.Log(strings.Join(w.told(), "\n"))
			}
		}()
		for i := range rapid.IntRange(0, 60).Draw(t, "steps") {
			if err := disturb(t, w, i); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			if err := w.check(); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
		}
		if err := w.calm(); err != nil {
			t.Fatalf("calm: %v (phase %s)", err, w.truth().Status.State.Phase)
		}
		if err := w.checkRest(); err != nil {
			t.Fatal(err)
		}
	})
}
