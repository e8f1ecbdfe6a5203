package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// TestAFlowOfThreeStepsWithAProbe runs examples/flow. The second step, with a patched template, starts as soon as the
// first one answers its probe, while that still runs. The third step starts when both have completed.
func TestAFlowOfThreeStepsWithAProbe(t *testing.T) {
	c := bigNode(t)
	c.kubectl("apply", "-f", "../../examples/flow/night.yaml")
	c.jobPhase("night-query", batchv1alpha1.Completed, 30*time.Second)
	if phase := c.job("night-serve").Status.State.Phase; phase != batchv1alpha1.Running {
		t.Errorf("when the second step has completed the first is %s, want Running: it was to be asked, not waited for", phase)
	}
	if log := c.vcctl("job", "logs", "night-query"); !strings.Contains(log, "the server answers") {
		t.Errorf("the second step says %q: its template was not patched", log)
	}
	c.jobPhase("night-report", batchv1alpha1.Completed, 30*time.Second)
	served, reported := c.job("night-serve"), c.job("night-report")
	if served.Status.State.Phase != batchv1alpha1.Completed || reported.CreationTimestamp.Before(&served.Status.State.LastTransitionTime) {
		t.Errorf("the third step was made at %s, the first has %s since %s", reported.CreationTimestamp, served.Status.State.Phase, served.Status.State.LastTransitionTime)
	}
	c.eventually(10*time.Second, "the flow has succeeded", func() error {
		if phase := c.kubectl("get", "jobflow", "night", "-o", "jsonpath={.status.state.phase}"); phase != "Succeed" {
			return fmt.Errorf("it is %q", phase)
		}
		return nil
	})
	if list := c.kubectl("get", "jobtemplate", "query", "-o", "jsonpath={.status.jobDependsOnList}"); !strings.Contains(list, "night-query") {
		t.Errorf("the template says that %s were made from it", list)
	}
	c.kubectl("delete", "jobflow", "night", "--timeout=60s")
	c.eventually(60*time.Second, "the flow's jobs go with it", func() error {
		if left := c.kubectl("get", "vcjob", "-o", "name"); strings.Contains(left, "night-") {
			return fmt.Errorf("left are %s", left)
		}
		return nil
	})
}
