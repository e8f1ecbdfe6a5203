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
)

func drawPolicies(t *rapid.T, name string) []batch.LifecyclePolicy {
	events := []bus.Event{bus.PodFailedEvent, bus.PodEvictedEvent, bus.TaskCompletedEvent, bus.JobUnknownEvent, bus.AnyEvent, bus.PodPendingEvent}
	actions := []bus.Action{bus.RestartJobAction, bus.RestartTaskAction, bus.RestartPodAction, bus.RestartPartitionAction,
		bus.AbortJobAction, bus.CompleteJobAction, bus.TerminateJobAction}
	var policies []batch.LifecyclePolicy
	for i := range rapid.IntRange(0, 2).Draw(t, name) {
		p := batch.LifecyclePolicy{
			Event:  rapid.SampledFrom(events).Draw(t, fmt.Sprintf("%s event %d", name, i)),
			Action: rapid.SampledFrom(actions).Draw(t, fmt.Sprintf("%s action %d", name, i)),
		}
		if rapid.IntRange(0, 4).Draw(t, fmt.Sprintf("%s timeout %d", name, i)) == 0 {
			p.Timeout = &metav1.Duration{Duration: 20 * time.Second}
		}
		policies = append(policies, p)
	}
	return policies
}

func drawJob(t *rapid.T) *batch.Job {
	job := &batch.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job"}, Spec: batch.JobSpec{
		Queue: "default", MaxRetry: rapid.Int32Range(1, 4).Draw(t, "maxRetry"), Policies: drawPolicies(t, "job policies"),
	}}
	if rapid.Bool().Draw(t, "svc") {
		job.Spec.Plugins = map[string][]string{"svc": {}}
	}
	for i := range rapid.IntRange(1, 2).Draw(t, "tasks") {
		task := batch.TaskSpec{Name: fmt.Sprintf("task%d", i), Replicas: rapid.Int32Range(1, 3).Draw(t, "replicas"),
			Policies: drawPolicies(t, "task policies"),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}
		if i > 0 && rapid.Bool().Draw(t, "dependsOn") {
			task.DependsOn = &batch.DependsOn{Name: []string{"task0"}}
		}
		job.Spec.Tasks = append(job.Spec.Tasks, task)
	}
	return job
}

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
	switch rapid.IntRange(0, 19).Draw(t, "what") {
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
		w.start()
		w.note("restart")
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
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(drawJob(t))
		defer func() {
			if t.Failed() {
				t.Log(strings.Join(w.trace, "\n"))
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
