package jobflow

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// retry asks for the steps that have failed up to now to run again.
func (w *world) retry() {
	w.in.Flow.Annotations = map[string]string{keys.RetryFailed: w.in.Now.UTC().Format(time.RFC3339)}
}

func TestAFailedStepRunsAgainAndTheFlowGoesOn(t *testing.T) {
	for _, phase := range []batchv1alpha1.JobPhase{batchv1alpha1.Failed, batchv1alpha1.Terminated} {
		w := newWorld(t, flowv1alpha1.Flow{Name: "a"}, after("b", "a"), after("c", "b"))
		w.look()
		w.is("f-a", batchv1alpha1.Completed, corev1.PodSucceeded)
		w.is("f-b", phase, corev1.PodFailed)
		w.phase(flowv1alpha1.Failed)
		w.want("make f-a", "make f-b")
		w.retry()
		failed := w.in.Jobs["f-b"]
		w.look()
		w.in.Gone["f-b"] = failed // the controller remembers how it ended
		w.look()
		w.phase(flowv1alpha1.Running)
		w.want("StepRetried: job f-b ended with state "+string(phase)+"; its step runs again", "delete f-b", "make f-b")
		w.is("f-b", batchv1alpha1.Completed, corev1.PodSucceeded)
		w.want("make f-c")
		w.is("f-c", batchv1alpha1.Completed, corev1.PodSucceeded)
		w.phase(flowv1alpha1.Succeed)
		if p := w.look(); p.Status != nil || len(p.Events)+len(p.Delete) > 0 {
			t.Errorf("a flow that is over is changed again: %+v", p)
		}
	}
}

func TestAStepThatFailsAgainIsNotRetriedByItself(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"})
	w.look()
	w.is("f-a", batchv1alpha1.Failed, corev1.PodFailed)
	w.retry()
	w.look()
	w.look()
	w.is("f-a", batchv1alpha1.Failed, corev1.PodFailed)
	w.phase(flowv1alpha1.Failed)
	w.want("make f-a", "StepRetried: job f-a ended with state Failed; its step runs again", "delete f-a", "make f-a")
}

func TestARetriedJobThatIsGoneIsMadeAtOnce(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"})
	w.look()
	w.is("f-a", batchv1alpha1.Failed, corev1.PodFailed)
	w.in.Gone["f-a"] = w.in.Jobs["f-a"]
	delete(w.in.Jobs, "f-a")
	w.look()
	w.want("make f-a")
	w.retry()
	w.look()
	w.want("StepRetried: job f-a ended with state Failed; its step runs again", "make f-a")
}

func TestARetriedStepWaitsUntilItsJobIsGone(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"})
	w.look()
	w.is("f-a", batchv1alpha1.Failed, corev1.PodFailed)
	w.retry()
	for range 3 { // the job has a finalizer, or the controller sees it late
		p := Compute(w.in)
		if len(p.Delete) != 1 || len(p.Create) > 0 {
			t.Fatalf("deleted are %d jobs, made %d; want 1 and none", len(p.Delete), len(p.Create))
		}
		if p.Status != nil {
			w.in.Flow.Status = *p.Status
		}
	}
}

func TestARetryAtNoTimeIsIgnoredWithAReason(t *testing.T) {
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"})
	w.look()
	w.is("f-a", batchv1alpha1.Failed, corev1.PodFailed)
	w.in.Flow.Annotations = map[string]string{keys.RetryFailed: "now"}
	w.look()
	w.phase(flowv1alpha1.Failed)
	w.want("make f-a", `InvalidRetry: annotation vc-batch.dev/retry-failed is ignored: "now" is not a time such as 2026-11-21T22:18:00Z; `+"use `vcctl jobflow retry f` to set it")
}
