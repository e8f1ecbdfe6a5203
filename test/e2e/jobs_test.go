package e2e

import (
	"errors"
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// TestAnArrayAndWhatComesAfterIt runs examples/jobs. The second job is created first and waits for one that does not
// exist yet.
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

// TestAPodThatIsRestartedAloneIsBackAtOnce checks that a restarted pod runs less than two seconds after the old one is
// gone, in the same group, while the other pod stays.
func TestAPodThatIsRestartedAloneIsBackAtOnce(t *testing.T) {
	c := startClusterAlone(t, "--process-nodes", "1", "--node-cpu", "4")
	c.create(job{name: "pair", min: 2, policies: "[{event: PodEvicted, action: RestartPod}]",
		tasks: []task{{name: "w", replicas: 2, command: "exec sleep 600"}}}.String())
	before := c.running("pair", 2, 30*time.Second)
	group := func() string {
		return c.kubectl("get", "podgroup", "pair-"+string(c.job("pair").UID), "-o", "jsonpath={.metadata.uid}")
	}
	uid := group()
	c.kubectl("delete", "pod", "pair-w-1", "--wait=true", "--grace-period=1")
	gone := time.Now()
	c.eventually(30*time.Second, "there is a pod in its place", func() error {
		if pod, ok := c.jobPods("pair")["pair-w-1"]; !ok || pod.UID == before["pair-w-1"].UID {
			return errors.New("there is not")
		}
		return nil
	})
	if took := time.Since(gone); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	after := c.running("pair", 2, 30*time.Second)
	if after["pair-w-0"].UID != before["pair-w-0"].UID || group() != uid {
		t.Error("the other pod or the group was replaced, too")
	}
	if s := c.job("pair").Status; s.RetryCount != 1 || s.Version != 0 {
		t.Errorf("%d retries, version %d", s.RetryCount, s.Version)
	}
}
