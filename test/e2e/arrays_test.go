package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// arrayManifest returns the manifest of an array whose elements run a command.
func arrayManifest(name, elements, command string, annotations ...string) string {
	manifest := annotated(name, command, append([]string{keys.Array, elements}, annotations...)...)
	return strings.Replace(strings.Replace(manifest, "  minAvailable: 1\n", "", 1), "    replicas: 1\n", "", 1)
}

// alive returns the number of pods of a job that have not ended.
func (c *cluster) alive(name string) int {
	n := 0
	for _, pod := range c.jobPods(name) {
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			n++
		}
	}
	return n
}

func TestAnArrayRunsItsElementsSomeAtATime(t *testing.T) {
	c := bigNode(t)
	c.create(arrayManifest("sweep", "0-20:4,7", "echo element $VC_ARRAY_INDEX; sleep 0.5; [ $VC_ARRAY_INDEX != 8 ] || exit 3", keys.ArrayLimit, "2"))
	most := 0
	c.eventually(60*time.Second, "all elements have ended", func() error {
		most = max(most, c.alive("sweep"))
		if phase := c.job("sweep").Status.State.Phase; phase != batchv1alpha1.Completed {
			return fmt.Errorf("%s", phase)
		}
		return nil
	})
	if most == 0 || most > 2 {
		t.Errorf("%d elements ran at once", most)
	}
	var job *batchv1alpha1.Job
	c.eventually(10*time.Second, "times are written", func() error {
		if job = c.job("sweep"); job.Status.Array == nil || job.Status.Array.Times == "" {
			return fmt.Errorf("%+v", job.Status.Array)
		}
		return nil
	})
	s := job.Status.Array
	if s.Succeeded != "0,4,7,12,16,20" || s.Failed != "8" || s.ExitCodes["3"] != "8" || len(strings.Fields(s.Times)) != 7 {
		t.Errorf("%+v", s)
	}
	base, _ := strconv.Atoi(job.Labels[keys.JobID])
	for at, index := range []int{0, 4, 7, 8, 12, 16, 20} {
		name := fmt.Sprintf("sweep-main-%d", at)
		pod := c.jobPods("sweep")[name]
		if pod.Labels[keys.ArrayIndex] != strconv.Itoa(index) || pod.Annotations[keys.ElementID] != strconv.Itoa(base+at) {
			t.Errorf("%s: %v, %v", name, pod.Labels, pod.Annotations)
		}
		if got := strings.TrimSpace(c.logs("default", name)); got != fmt.Sprintf("element %d", index) {
			t.Errorf("%s wrote %q", name, got)
		}
	}
	if view := c.vcctl("job", "view", strconv.Itoa(base)); containsAll(view, "Array:", "at most 2 at a time", "failed 8 (exit code 3)") != nil {
		t.Errorf("job view says\n%s", view)
	}
	// The next job's number follows the numbers of the elements.
	c.create(annotated("next", "true"))
	if id := c.job("next").Labels[keys.JobID]; id != strconv.Itoa(base+7) {
		t.Errorf("the array has %d to %d, the next job %s", base, base+6, id)
	}
}

func TestElementsAreCancelledAndTheLimitIsChanged(t *testing.T) {
	c := bigNode(t)
	c.create(arrayManifest("sweep", "0-9", "exec sleep 600", keys.ArrayLimit, "3"))
	c.running("sweep", 3, 30*time.Second)
	c.eventually(10*time.Second, "the status says what runs and why the rest waits", func() error {
		s := c.job("sweep").Status.Array
		if s == nil || s.Running != "0-2" || s.Reason != "JobArrayTaskLimit" {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
	c.kubectl("annotate", "vcjob", "sweep", keys.ArrayCancelled+"=1,4-9")
	c.eventually(20*time.Second, "0, 2 and 3 run", func() error {
		s := c.job("sweep").Status.Array
		if s.Running != "0,2-3" || s.Cancelled != "1,4-9" {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
	c.kubectl("annotate", "--overwrite", "vcjob", "sweep", keys.ArrayLimit+"=1", keys.ArrayCancelled+"=0-9")
	c.jobPhase("sweep", batchv1alpha1.Terminated, 30*time.Second)

	for _, bad := range []struct{ change, text string }{
		{keys.Array + "=0-3", "cannot be changed"},
		{keys.ArrayLimit + "=many", "not a valid limit"},
		{keys.ArrayCancelled + "=77", "the array has no tasks with these indices"},
	} {
		r := c.run("", "kubectl", "annotate", "--overwrite", "vcjob", "sweep", bad.change)
		if r.code == 0 || !strings.Contains(r.stderr, bad.text) {
			t.Errorf("%s: exit %d, %s", bad.change, r.code, r.stderr)
		}
	}
}

func TestFinishedWorkIsNotDoneAgainAfterASuspension(t *testing.T) {
	c := bigNode(t)
	c.create(job{
		name: "steps", min: 4, annotations: "{" + keys.KeepFinished + `: "true"}`, plugins: "{env: []}",
		tasks: []task{{name: "main", replicas: 4, command: "[ $VC_TASK_INDEX -lt 2 ] && exit 0; exec sleep 600"}},
	}.String())
	c.eventually(30*time.Second, "two have succeeded and two run", func() error {
		job := c.job("steps")
		if job.Status.Finished["main"] != "0-1" || job.Status.Running != 2 {
			return fmt.Errorf("%+v", job.Status)
		}
		return nil
	})
	c.vcctl("job", "suspend", "steps")
	c.jobPhase("steps", batchv1alpha1.Aborted, 30*time.Second)
	c.kubectl("delete", "pod", "steps-main-0") // as pod garbage collection does
	c.vcctl("job", "resume", "steps")
	c.running("steps", 2, 30*time.Second)
	pods := c.jobPods("steps")
	if _, again := pods["steps-main-0"]; again || pods["steps-main-1"].Status.Phase != corev1.PodSucceeded {
		t.Errorf("%d pods", len(pods))
	}
	if job := c.job("steps"); job.Status.Succeeded != 2 || job.Status.RetryCount != 0 {
		t.Errorf("%+v", job.Status)
	}
}
