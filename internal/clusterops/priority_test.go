package clusterops_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

func TestPriorityClassesAreSetAndRemoved(t *testing.T) {
	t.Parallel()
	low := job("train", batchv1alpha1.Pending)
	low.Spec.PriorityClassName = "low"
	_, c := cluster(t, low, job("eval", batchv1alpha1.Pending))
	jobs := []*batchv1alpha1.Job{low, job("eval", batchv1alpha1.Pending), job("missing", batchv1alpha1.Pending)}
	for _, step := range []struct{ class, said string }{
		{"high", `each of 2 jobs now has priority class high | jobs "missing" not found`},
		{"", `each of 2 jobs now has no priority class | jobs "missing" not found`},
	} {
		if got := told(c.SetPriorityClass(t.Context(), step.class, jobs)); got != step.said {
			t.Errorf("class %q: %q, want %q", step.class, got, step.said)
		}
		var now batchv1alpha1.Job
		if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(low), &now); err != nil || now.Spec.PriorityClassName != step.class {
			t.Errorf("the class is %q, want %q; %v", now.Spec.PriorityClassName, step.class, err)
		}
	}
}
