package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// annotated returns a job of one pod that runs a command, with annotations in pairs.
func annotated(name, command string, annotations ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(annotations); i += 2 {
		fmt.Fprintf(&b, "%q: %q, ", annotations[i], annotations[i+1])
	}
	return job{name: name, min: 1, annotations: "{" + b.String() + "}", tasks: []task{{name: "main", replicas: 1, command: command}}}.String()
}

// waitsFor waits until a job's state has a reason, and checks that the job has neither pods nor a pod group.
func (c *cluster) waitsFor(name, reason string, words ...string) {
	c.t.Helper()
	c.eventually(5*time.Second, fmt.Sprintf("job %s says %s", name, reason), func() error {
		state := c.job(name).Status.State
		if state.Phase != batchv1alpha1.Pending || state.Reason != reason {
			return fmt.Errorf("%+v", state)
		}
		return containsAll(state.Message, words...)
	})
	if pods := c.jobPods(name); len(pods) > 0 {
		c.t.Errorf("job %s has %d pods", name, len(pods))
	}
	if group, err := c.podGroupOf(name); err == nil {
		c.t.Errorf("job %s has the pod group %s", name, group.Name)
	}
}

func TestAJobStartsWhenItMay(t *testing.T) {
	c := startClusterAlone(t, "--process-nodes", "1", "--node-cpu", "16", "--node-memory", "16Gi")
	c.create(annotated("first", "sleep 1", keys.Hold, "user"))
	c.waitsFor("first", "JobHeldUser", "held by its user")
	id, err := strconv.Atoi(c.job("first").Labels[keys.JobID])
	if err != nil || id < 1 {
		t.Fatalf("job first has the number %q", c.job("first").Labels[keys.JobID])
	}
	if view := c.vcctl("job", "view", "first"); containsAll(view, "JobHeldUser", "vcctl job release first", strconv.Itoa(id)) != nil {
		t.Errorf("job view says\n%s", view)
	}

	ok := fmt.Sprintf("afterok:%d", id)
	c.create(annotated("second", "sleep 1", keys.Dependency, ok) + annotated("otherwise", "sleep 1", keys.Dependency, "afternotok:first") +
		annotated("killed", "sleep 1", keys.Dependency, "afternotok:first", keys.KillOnInvalidDependency, "true"))
	c.waitsFor("second", "Dependency", fmt.Sprintf("job %d (default/first) has completed", id))
	if later, err := strconv.Atoi(c.job("second").Labels[keys.JobID]); err != nil || later <= id {
		t.Errorf("number %q after %d", c.job("second").Labels[keys.JobID], id)
	}

	c.kubectl("annotate", "vcjob", "first", keys.Hold+"-")
	c.jobPhase("first", batchv1alpha1.Completed, 30*time.Second)
	c.jobPhase("second", batchv1alpha1.Completed, 30*time.Second)
	c.waitsFor("otherwise", "DependencyNeverSatisfied", "has completed")
	c.jobPhase("killed", batchv1alpha1.Terminated, 10*time.Second)
	if got := c.jobPods("second")["second-main-0"].Labels[keys.JobID]; got != c.job("second").Labels[keys.JobID] {
		t.Errorf("the pod's number is %q", got)
	}
	ended, started := c.job("first").Status.State.LastTransitionTime, c.job("second").CreationTimestamp
	for _, pod := range c.jobPods("second") {
		started = pod.CreationTimestamp
	}
	if late := started.Sub(ended.Time); late > 2*time.Second {
		t.Errorf("the second began %s after the first had ended", late)
	}
}

func TestAHeldJobDoesNotStartAlthoughItsPodWaitsForANode(t *testing.T) {
	c := startCluster(t, "--process-nodes", "2", "--node-cpu", "4", "--node-memory", "4Gi")
	asking := func(name string, replicas int, cpu, command string) string {
		return job{name: name, min: replicas, tasks: []task{{name: "main", replicas: replicas, cpu: cpu, command: command}}}.String()
	}
	c.create(asking("first", 2, "3", "sleep 600"))
	c.jobPhase("first", batchv1alpha1.Running, 30*time.Second)
	c.create(asking("second", 1, "2", "true")) // admitted, because two processors are free, on different nodes
	c.eventually(10*time.Second, "the second has a pod", func() error {
		if len(c.jobPods("second")) != 1 {
			return fmt.Errorf("%d pods", len(c.jobPods("second")))
		}
		return nil
	})
	c.vcctl("job", "hold", "second")
	c.eventually(10*time.Second, "the second has no pod", func() error {
		if pods := c.jobPods("second"); len(pods) > 0 {
			return fmt.Errorf("%d pods", len(pods))
		}
		return nil
	})
	c.waitsFor("second", "JobHeldUser", "held by its user")
	c.vcctl("job", "cancel", "first")
	c.jobPhase("first", batchv1alpha1.Terminated, 60*time.Second)
	c.waitsFor("second", "JobHeldUser", "held by its user")
	c.vcctl("job", "release", "second")
	c.jobPhase("second", batchv1alpha1.Completed, 30*time.Second)
}

func TestAJobBeginsInTimeAndOneByOne(t *testing.T) {
	c := startClusterAlone(t, "--process-nodes", "1", "--node-cpu", "4")
	begin := time.Now().Add(4 * time.Second).UTC().Truncate(time.Second)
	c.create(annotated("early", "true", keys.Begin, begin.Format(time.RFC3339)))
	c.waitsFor("early", "BeginTime", begin.Format(time.RFC3339))
	c.create(annotated("one", "sleep 2", keys.JobTitle, "step", keys.Dependency, "singleton"))
	c.jobPhase("one", batchv1alpha1.Running, 20*time.Second)
	c.create(annotated("two", "true", keys.JobTitle, "step", keys.Dependency, "singleton"))
	c.waitsFor("two", "Dependency", "with the same user and title")
	c.jobPhase("two", batchv1alpha1.Completed, 30*time.Second)
	c.jobPhase("early", batchv1alpha1.Completed, 30*time.Second)
	for _, pod := range c.jobPods("early") {
		if pod.CreationTimestamp.Time.Before(begin) || pod.CreationTimestamp.Sub(begin) > 3*time.Second {
			t.Errorf("to begin at %s, its pod was made at %s", begin, pod.CreationTimestamp)
		}
	}
}
