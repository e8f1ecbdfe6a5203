package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/test/propertytest"
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
	switch rapid.IntRange(0, 28).Draw(t, "what") {
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
		w.schedule(rapid.SampledFrom([]schedulingv1beta1.PodGroupPhase{schedulingv1beta1.PodGroupInqueue, schedulingv1beta1.PodGroupRunning, schedulingv1beta1.PodGroupInqueue,
			schedulingv1beta1.PodGroupUnknown}).Draw(t, "group phase"))
	case 11, 12, 13, 14:
		w.kubelet(pod(), 0)
	case 15:
		w.kubelet(pod(), 1)
	case 16:
		w.evict(pod())
	case 17:
		w.command(i, rapid.SampledFrom([]busv1alpha1.Action{busv1alpha1.AbortJobAction, busv1alpha1.ResumeJobAction, busv1alpha1.RestartJobAction, busv1alpha1.ResumeJobAction,
			busv1alpha1.CompleteJobAction, busv1alpha1.TerminateJobAction, "Nonsense"}).Draw(t, "action"))
	case 18:
		if job := w.truth(); job != nil {
			w.scale(rapid.IntRange(0, len(job.Spec.Tasks)-1).Draw(t, "task"), rapid.Int32Range(1, 3).Draw(t, "replicas"))
		}
	case 19:
		w.restart(rapid.IntRange(0, 6).Draw(t, "changes back"))
	case 20:
		w.crash(pod())
	case 21:
		w.server.Remove(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.job.Namespace, Name: pod()}})
		w.upsets++
	case 22:
		w.again(rapid.IntRange(1, 5).Draw(t, "changes"))
	case 23:
		w.refuse(pod())
	case 24:
		return w.illness(t)
	case 25:
		w.annotate(keys.Hold, rapid.SampledFrom([]string{"", keys.HoldUser}).Draw(t, "hold"))
	case 27, 28: // one pod fails, and another is lost while the rest continue
		w.kubelet(pod(), 1)
		w.evict(pod())
	case 26:
		w.annotate(keys.Begin, rapid.SampledFrom([]string{"", "tomorrow", w.clock.Add(5 * time.Second).Format(time.RFC3339)}).Draw(t, "begin"))
	}
	return nil
}

// check checks the conditions that must hold at any moment.
func (w *world) check() error {
	if w.truth() == nil {
		if err := w.checkGone(); err != nil {
			return err
		}
	}
	places := map[string]string{}
	for _, name := range w.podNames() {
		task, index, version, ok := plan.ParsePodIdentity(w.pod(name))
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

// checkGone checks the conditions for a deleted job: only the controller deletes jobs in this world.
func (w *world) checkGone() error {
	for _, c := range slices.Backward(w.server.History) {
		if c.Kind.Kind != "Job" || c.Object != nil {
			continue
		}
		job := c.Old.(*batchv1alpha1.Job)
		ttl, state := job.Spec.TTLSecondsAfterFinished, job.Status.State
		if ttl == nil || !plan.IsEndedOrAborted(state.Phase) || w.clock.Before(state.LastTransitionTime.Add(time.Duration(*ttl)*time.Second)) {
			return fmt.Errorf("the job was deleted while it was %+v, at %s", state, w.clock)
		}
		return nil
	}
	return errors.New("there never was a job")
}

// countable reports whether upsets counts everything that may restart the job. Delays and the completion of a task are
// not counted.
func countable(job *batchv1alpha1.Job) bool {
	for _, t := range job.Spec.Tasks {
		for _, p := range append(t.Policies, job.Spec.Policies...) {
			switch p.Event {
			case busv1alpha1.AnyEvent, busv1alpha1.TaskCompletedEvent, busv1alpha1.PodPendingEvent:
				return false
			}
		}
	}
	return true
}

// checkRest checks the conditions that must hold at the end.
func (w *world) checkRest() error {
	if left := w.objects("Command"); len(left) > 0 {
		return fmt.Errorf("command %s is left behind", left[0].GetName())
	}
	job := w.truth()
	if job == nil {
		return w.checkGone()
	}
	if job.Status.State.Reason == "WaitingForTask" && job.Status.Failed > 0 {
		return nil // it waits for a task that failed without a policy, and its reason says so
	}
	if !plan.IsEndedOrAborted(job.Status.State.Phase) {
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
		_, index, _, _ := plan.ParsePodIdentity(pod)
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
	if left := w.objects("PodGroup", "ConfigMap", "Service", "NetworkPolicy", "Secret"); len(left) > 0 {
		return fmt.Errorf("%T %s is left behind", left[0], left[0].GetName())
	}
	if _, left := s.ControlledResources["restart-target"]; left {
		return fmt.Errorf("the target of a restart is left behind")
	}
	return nil
}

// TestAJobConvergesWhateverHappens also verifies that the controller does not modify objects that caches share.
func TestAJobConvergesWhateverHappens(t *testing.T) {
	propertytest.Check(t, 10_000, func(t *rapid.T) {
		w := newWorld(drawBounds(t, drawJob(t, true)))
		w.server.KeepCopies = true
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
		w.annotate(keys.Hold, "")
		w.annotate(keys.Begin, "")
		if err := w.calm(); err != nil {
			t.Fatalf("calm: %v", err)
		}
		if err := errors.Join(w.checkRest(), w.server.CheckUnmodified()); err != nil {
			t.Fatal(err)
		}
	})
}
