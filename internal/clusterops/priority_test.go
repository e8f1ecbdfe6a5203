package clusterops_test

import (
	"testing"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

func TestPriorityClassesAreSetAndRemoved(t *testing.T) {
	t.Parallel()
	low := job("train", batchv1alpha1.Pending)
	low.Spec.PriorityClassName = "low"
	high := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 9}
	_, c := cluster(t, low, job("eval", batchv1alpha1.Pending), high)
	jobs := []*batchv1alpha1.Job{low, job("eval", batchv1alpha1.Pending), job("missing", batchv1alpha1.Pending)}
	for _, step := range []struct{ class, said string }{
		{"high", `each of 2 jobs now has priority class high | jobs "missing" not found`},
		{"nosuch", ` | priority class "nosuch" does not exist`},
		{"", `each of 2 jobs now has no priority class | jobs "missing" not found`},
	} {
		if got := told(c.SetPriorityClass(t.Context(), step.class, jobs)); got != step.said {
			t.Errorf("class %q: %q, want %q", step.class, got, step.said)
		}
		if step.class == "nosuch" {
			step.class = "high" // it was not changed
		}
		var now batchv1alpha1.Job
		if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(low), &now); err != nil || now.Spec.PriorityClassName != step.class {
			t.Errorf("the class is %q, want %q; %v", now.Spec.PriorityClassName, step.class, err)
		}
	}
}
