package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

func (c *cluster) job(name string) *batchv1alpha1.Job {
	c.t.Helper()
	var j batchv1alpha1.Job
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, &j); err != nil {
		c.t.Fatal(err)
	}
	return &j
}

// jobPhase waits until a job is in a phase.
func (c *cluster) jobPhase(name string, phase batchv1alpha1.JobPhase, d time.Duration) *batchv1alpha1.Job {
	c.t.Helper()
	var j *batchv1alpha1.Job
	c.eventually(d, fmt.Sprintf("job %s is %s", name, phase), func() error {
		j = &batchv1alpha1.Job{}
		if err := c.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, j); err != nil {
			return err
		}
		if j.Status.State.Phase != phase {
			return fmt.Errorf("it is %q", j.Status.State.Phase)
		}
		return nil
	})
	return j
}

// jobPods lists the pods of a job.
func (c *cluster) jobPods(name string) map[string]corev1.Pod {
	c.t.Helper()
	return c.pods("default", client.MatchingLabels{keys.JobName: name})
}

// running waits until exactly n pods of a job run, and returns them.
func (c *cluster) running(name string, n int, d time.Duration) map[string]corev1.Pod {
	c.t.Helper()
	var pods map[string]corev1.Pod
	c.eventually(d, fmt.Sprintf("%d pods of %s run", n, name), func() error {
		pods = c.jobPods(name)
		run := 0
		for _, p := range pods {
			if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				run++
			}
		}
		if run != n {
			return fmt.Errorf("%d run of %d", run, len(pods))
		}
		return nil
	})
	return pods
}

// podGroupOf returns the PodGroup of a job.
func (c *cluster) podGroupOf(job string) (*schedulingv1beta1.PodGroup, error) {
	c.t.Helper()
	var list schedulingv1beta1.PodGroupList
	if err := c.List(context.Background(), &list, client.InNamespace("default")); err != nil {
		return nil, err
	}
	for i := range list.Items {
		if owner := metav1.GetControllerOf(&list.Items[i]); owner != nil && owner.Kind == "Job" && owner.Name == job {
			return &list.Items[i], nil
		}
	}
	return nil, fmt.Errorf("job %s has no pod group", job)
}

// waits waits until a job's pod group has an explanation that contains all of the words.
func (c *cluster) waits(job string, d time.Duration, words ...string) *schedulingv1beta1.PodGroup {
	c.t.Helper()
	var pg *schedulingv1beta1.PodGroup
	c.eventually(d, fmt.Sprintf("job %s is told why it waits, with %q", job, words), func() error {
		var err error
		if pg, err = c.podGroupOf(job); err != nil {
			return err
		}
		if pg.Status.Explanation == nil {
			return fmt.Errorf("no explanation; conditions %+v", pg.Status.Conditions)
		}
		return containsAll(pg.Status.Explanation.Message, words...)
	})
	return pg
}

func containsAll(s string, words ...string) error {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return fmt.Errorf("%q is not in %q", w, s)
		}
	}
	return nil
}

// condition returns the condition of a type with status True, or an error that lists the conditions.
func condition(pg *schedulingv1beta1.PodGroup, kind schedulingv1beta1.PodGroupConditionType) (schedulingv1beta1.PodGroupCondition, error) {
	for _, c := range pg.Status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return c, nil
		}
	}
	return schedulingv1beta1.PodGroupCondition{}, fmt.Errorf("%s is not True in %+v (phase %s)", kind, pg.Status.Conditions, pg.Status.Phase)
}
