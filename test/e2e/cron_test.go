package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// cronJob returns a CronJob whose jobs run until they are stopped.
func cronJob(name, policy string) string {
	return fmt.Sprintf(`apiVersion: batch.volcano.sh/v1alpha1
kind: CronJob
metadata: {name: %s, namespace: default}
spec:
  schedule: "* * * * *"
  timeZone: Europe/Berlin
  concurrencyPolicy: %s
  jobTemplate:
    metadata: {labels: {team: blue}}
    spec:
      schedulerName: volcano
      tasks:
      - name: w
        replicas: 1
        template:
          spec:
            restartPolicy: Never
            containers: [{name: main, image: none:local, command: [sleep, "600"], resources: {requests: {cpu: 1}}}]
`, name, policy)
}

// jobsOf returns the jobs of a CronJob by name, without those being deleted.
func (c *cluster) jobsOf(name string) (map[string]batchv1alpha1.Job, error) {
	var list batchv1alpha1.JobList
	if err := c.List(context.Background(), &list, client.InNamespace("default"), client.MatchingLabels{"team": "blue"}); err != nil {
		return nil, err
	}
	jobs := map[string]batchv1alpha1.Job{}
	for _, j := range list.Items {
		if owner := metav1.GetControllerOf(&j); owner != nil && owner.Kind == "CronJob" && owner.Name == name && j.DeletionTimestamp == nil {
			jobs[j.Name] = j
		}
	}
	return jobs, nil
}

// TestCronJobsMakeJobsAsTheirPoliciesSay lets three CronJobs start a missed job, and then waits for the next minute.
func TestCronJobsMakeJobsAsTheirPoliciesSay(t *testing.T) {
	c := startCluster(t, "--process-nodes=0", "--simulated-nodes=2", "--node-cpu=8")
	policies := []string{"Allow", "Forbid", "Replace"}
	past := time.Now().Add(-3 * time.Minute).UTC().Format(time.RFC3339)
	first := map[string]string{}
	for _, policy := range policies {
		name := strings.ToLower(policy)
		c.create(cronJob(name, policy))
		c.kubectl("patch", "cronjobs.batch.volcano.sh", name, "--subresource=status", "--type=merge", "-p", `{"status":{"lastScheduleTime":"`+past+`"}}`)
		c.eventually(20*time.Second, name+" makes up for the last time that was missed, and no other", func() error {
			jobs, err := c.jobsOf(name)
			if err != nil {
				return err
			}
			if len(jobs) != 1 {
				return fmt.Errorf("jobs %v", slices.Collect(maps.Keys(jobs)))
			}
			for job := range jobs {
				first[name] = job
			}
			return nil
		})
		c.running(first[name], 1, 30*time.Second)
	}
	job := c.job(first["allow"])
	if at, err := time.Parse(time.RFC3339, job.Annotations["volcano.sh/cronjob-scheduled-timestamp"]); err != nil || at.Second() != 0 || job.Name != fmt.Sprintf("allow-%d", at.Unix()/60) {
		t.Errorf("job %s is for %q: %v", job.Name, job.Annotations["volcano.sh/cronjob-scheduled-timestamp"], err)
	}
	for name, want := range map[string]func(jobs map[string]batchv1alpha1.Job) bool{
		"allow": func(jobs map[string]batchv1alpha1.Job) bool { return len(jobs) == 2 },
		"replace": func(jobs map[string]batchv1alpha1.Job) bool {
			_, old := jobs[first["replace"]]
			return len(jobs) == 1 && !old
		},
	} {
		c.eventually(75*time.Second, name+" makes that of the next minute", func() error {
			jobs, err := c.jobsOf(name)
			if err == nil && !want(jobs) {
				err = fmt.Errorf("jobs %v after %s", slices.Collect(maps.Keys(jobs)), first[name])
			}
			return err
		})
	}
	c.eventually(20*time.Second, "forbid says why it makes none", func() error {
		if out := c.kubectl("get", "events", "--field-selector=reason=ForbidConcurrent"); !strings.Contains(out, first["forbid"]) {
			return fmt.Errorf("events:\n%s", out)
		}
		return nil
	})
	if jobs, err := c.jobsOf("forbid"); err != nil || len(jobs) != 1 {
		t.Errorf("forbid has jobs %v, %v", slices.Collect(maps.Keys(jobs)), err)
	}
	c.kubectl("delete", "cronjobs.batch.volcano.sh", "--all")
	c.eventually(30*time.Second, "the jobs go with their CronJobs", func() error {
		for _, policy := range policies {
			if jobs, err := c.jobsOf(strings.ToLower(policy)); err != nil || len(jobs) > 0 {
				return fmt.Errorf("jobs %v (%v)", slices.Collect(maps.Keys(jobs)), err)
			}
		}
		return nil
	})

	bad := c.run(strings.Replace(cronJob("bad", "Allow"), "* * * * *", "61 * * * *", 1), "kubectl", "apply", "-f", "-")
	if bad.code == 0 || !strings.Contains(bad.stderr, "spec.schedule") {
		t.Errorf("an impossible cron line: %d %s", bad.code, bad.stderr)
	}
}
