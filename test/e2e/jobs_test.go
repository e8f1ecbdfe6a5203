package e2e

import (
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// TestAnArrayAndWhatComesAfterIt runs examples/jobs, the second job first: it waits for one that is not there yet.
func TestAnArrayAndWhatComesAfterIt(t *testing.T) {
	c := bigNode(t)
	c.kubectl("apply", "-f", "../../examples/jobs/after.yaml")
	c.kubectl("apply", "-f", "../../examples/jobs/array.yaml")
	c.jobPhase("compare", batchv1alpha1.Completed, 60*time.Second)
	sweep, compare := c.job("sweep"), c.job("compare")
	if s := sweep.Status.Array; s == nil || s.Succeeded != "0,4,8,12,16" {
		t.Errorf("of the array: %+v", s)
	}
	for _, condition := range compare.Status.Conditions {
		if condition.Status == batchv1alpha1.Running && condition.LastTransitionTime.Before(&sweep.Status.State.LastTransitionTime) {
			t.Errorf("it ran from %s, the array has ended at %s", condition.LastTransitionTime, sweep.Status.State.LastTransitionTime)
		}
	}
	if log := c.logs("default", "sweep-main-1"); !strings.Contains(log, "learning rate 1e-4") {
		t.Errorf("the second pod wrote %q", log)
	}
}
