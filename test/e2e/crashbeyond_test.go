package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// crashStoriesBeyond are the stories of pending jobs, of arrays, and of objects that create jobs.
var crashStoriesBeyond = []crashStory{
	{title: "running an array", play: runningAnArray, away: jobAway, points: []string{
		"before create podgroups 1",
		"before create pods 1",
		"after create pods 2", // the limit of concurrent elements
		"after create pods 3",
		`before update jobs/status 1 "succeeded":"0-2"`,
		`after update jobs/status 1 "succeeded":"0-2"`,
		enters("before", batchv1alpha1.Completed, 1),
		enters("after", batchv1alpha1.Completed, 1),
	}},
	{title: "waiting for leave and for another job", play: waiting, away: waitingAway, points: []string{
		`before update jobs/status 1 "reason":"JobHeldUser"`,
		`after update jobs/status 1 "reason":"JobHeldUser"`,
		`after update jobs/status 1 "reason":"Dependency"`,
		"before create podgroups 1",
		"after create pods 1",
		enters("before", batchv1alpha1.Completed, 1),
		enters("after", batchv1alpha1.Completed, 1),
		"before create podgroups 2",
		"after create pods 2",
		enters("after", batchv1alpha1.Completed, 2),
	}},
	{title: "suspending with finished work", play: suspendingWithFinishedWork, away: jobAway, points: []string{
		`before update jobs/status 1 "finished":{`,
		`after update jobs/status 1 "finished":{`,
		enters("before", batchv1alpha1.Aborting, 1),
		"after delete pods 1",
		enters("before", batchv1alpha1.Aborted, 1),
		enters("after", batchv1alpha1.Aborted, 1),
		"after delete commands 2",
		"after create podgroups 2",
		"after create pods 4",
	}},
	{title: "running a flow", play: runningAFlow, away: flowAway, points: []string{
		"before create jobs 1",
		"after create jobs 1",
		"before update jobflows/status 1",
		"after update jobflows/status 1",
		"before create jobs 2",
		"after create jobs 2",
		`before update jobflows/status 1 "phase":"Succeed"`,
		`after update jobflows/status 1 "phase":"Succeed"`,
		"before delete jobs 1",
		"after delete jobs 1",
		"after delete jobs 2",
	}},
	{title: "replacing by cron", play: replacingByCron, away: cronAway, points: []string{
		"before create jobs 1",
		"after create jobs 1",
		`before update cronjobs/status 1 "lastScheduleTime"`,
		`after update cronjobs/status 1 "lastScheduleTime"`,
		"before delete jobs 1",
		"after delete jobs 1",
		"before create jobs 2",
		"after create jobs 2",
	}},
}

// submitAs creates a job of the stage with annotations, each written "key: value".
func (s *stage) submitAs(name, annotations, spec string, tasks ...simulatedTask) {
	s.t.Helper()
	s.create(fmt.Sprintf("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: %s, namespace: default, annotations: {%s}}\n%s", name, annotations, jobSpec(spec, tasks...)))
}

// runningAnArray runs four elements, two at a time. One of them is cancelled before it starts.
func runningAnArray(s *stage) func() string {
	s.submitAs(s.name, fmt.Sprintf("%s: 0-3, %s: '2', %s: '3'", keys.Array, keys.ArrayLimit, keys.ArrayCancelled), "",
		simulatedTask{name: "a", runTime: "300ms"})
	s.jobIs(s.name, batchv1alpha1.Completed, 0)
	return func() string {
		a := s.job(s.name).Status.Array
		if a == nil {
			return "no array"
		}
		return fmt.Sprintf("succeeded %s, failed %s, cancelled %s, running %s\n%s", a.Succeeded, a.Failed, a.Cancelled, a.Running, s.state())
	}
}

// waiting holds a job, while another one waits for its completion.
func waiting(s *stage) func() string {
	next := s.name + "-next"
	s.submitAs(s.name, keys.Hold+": user", "minAvailable: 1", simulatedTask{name: "a", replicas: 1, runTime: "300ms"})
	s.reason(s.name, "JobHeldUser")
	s.submitAs(next, keys.Dependency+": 'afterok:"+s.name+"'", "minAvailable: 1", simulatedTask{name: "a", replicas: 1, runTime: "300ms"})
	s.reason(next, "Dependency")
	s.changed("annotate", "vcjob", s.name, keys.Hold+"-")
	s.jobIs(s.name, batchv1alpha1.Completed, 0)
	s.jobIs(next, batchv1alpha1.Completed, 0)
	return func() string {
		first, isNumber := batchv1alpha1.JobID(s.job(s.name))
		second, isToo := batchv1alpha1.JobID(s.job(next))
		return fmt.Sprintf("numbered %v, in order %v\n%s%s", isNumber && isToo, first < second, s.state(), s.stateOf(next))
	}
}

// reason waits until a job's state has a reason.
func (s *stage) reason(job, reason string) {
	s.t.Helper()
	s.eventually(crashPatience, job+" says "+reason, func() error {
		if state := s.job(job).Status.State; state.Reason != reason {
			return fmt.Errorf("it says %+v", state)
		}
		return nil
	})
}

func waitingAway(s *stage) {
	s.t.Helper()
	s.deleteBehind(s.job(s.name + "-next"))
	s.deleteBehind(s.job(s.name))
}

// deleteBehind deletes an object. The garbage collector deletes the objects that it owns.
func (s *stage) deleteBehind(o client.Object) {
	s.t.Helper()
	if err := s.Delete(context.Background(), o, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		s.t.Error(err)
	}
}

// suspendingWithFinishedWork suspends a job with three pods, one of which has succeeded and must not run again after
// the resumption.
func suspendingWithFinishedWork(s *stage) func() string {
	s.submitAs(s.name, keys.KeepFinished+": 'true'", "minAvailable: 3", simulatedTask{name: "a", replicas: 1, runTime: "300ms"}, simulatedTask{name: "b", replicas: 2})
	s.eventually(crashPatience, "one has succeeded", func() error {
		if status := s.job(s.name).Status; status.Finished["a"] != "0" || status.Running != 2 {
			return fmt.Errorf("%+v", status)
		}
		return nil
	})
	s.commandJob(busv1alpha1.AbortJobAction)
	s.jobIs(s.name, batchv1alpha1.Aborted, 0)
	s.commandJob(busv1alpha1.ResumeJobAction)
	s.eventually(crashPatience, "two run again", func() error {
		if status := s.job(s.name).Status; status.State.Phase != batchv1alpha1.Running || status.Running != 2 {
			return fmt.Errorf("%+v", status)
		}
		return nil
	})
	return s.state
}

// runningAFlow runs two steps, one after the other. The jobs are deleted when both have completed.
func runningAFlow(s *stage) func() string {
	for _, step := range []string{"a", "b"} {
		s.create(fmt.Sprintf("apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata: {name: %s-%s, namespace: default}\n%s", s.name, step,
			jobSpec("minAvailable: 1", simulatedTask{name: "w", replicas: 1, runTime: "300ms"})))
	}
	s.create(strings.ReplaceAll(`apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: NAME, namespace: default}
spec:
  jobRetainPolicy: delete
  flows: [{name: NAME-a}, {name: NAME-b, dependsOn: {targets: [NAME-a]}}]
`, "NAME", s.name))
	end := func() string {
		f := s.flow()
		jobs, err := s.jobsOwnedBy(s.name)
		return fmt.Sprintf("%s, completed %v, jobs %v %v", f.Status.State.Phase, f.Status.CompletedJobs, jobs, err)
	}
	s.eventually(crashPatience, "the flow has succeeded and its jobs are gone", func() error {
		if now := end(); !strings.HasPrefix(now, "Succeed") || !strings.HasSuffix(now, "jobs [] <nil>") {
			return errors.New(now)
		}
		return nil
	})
	return end
}

func (s *stage) flow() *flowv1alpha1.JobFlow {
	s.t.Helper()
	var f flowv1alpha1.JobFlow
	if err := s.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: s.name}, &f); err != nil {
		s.t.Fatal(err)
	}
	return &f
}

func flowAway(s *stage) {
	s.t.Helper()
	s.deleteBehind(s.flow())
	for _, step := range []string{"a", "b"} {
		s.deleteBehind(&flowv1alpha1.JobTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: s.name + "-" + step}})
	}
}

// jobsOwnedBy returns the phases of the jobs of an owner.
func (s *stage) jobsOwnedBy(owner string) ([]batchv1alpha1.JobPhase, error) {
	var jobs batchv1alpha1.JobList
	if err := s.List(context.Background(), &jobs, client.InNamespace("default")); err != nil {
		return nil, err
	}
	var phases []batchv1alpha1.JobPhase
	for i := range jobs.Items {
		if by := metav1.GetControllerOf(&jobs.Items[i]); by != nil && by.Name == owner {
			phases = append(phases, jobs.Items[i].Status.State.Phase)
		}
	}
	return phases, nil
}

// replacingByCron runs the job for a missed time, and then the job for a later time while the first one runs.
func replacingByCron(s *stage) func() string {
	now := time.Now().UTC().Truncate(time.Minute)
	at := func(ago time.Duration) string {
		t := now.Add(-ago)
		return fmt.Sprintf("%d %d * * *", t.Minute(), t.Hour())
	}
	spec := strings.ReplaceAll(jobSpec("minAvailable: 1", simulatedTask{name: "w", replicas: 1}), "\n", "\n    ")
	s.create(fmt.Sprintf(`apiVersion: batch.volcano.sh/v1alpha1
kind: CronJob
metadata: {name: %s, namespace: default}
spec:
  schedule: %q
  timeZone: Etc/UTC
  concurrencyPolicy: Replace
  jobTemplate:
    %s
`, s.name, at(10*time.Minute), spec))
	s.patchCron(map[string]any{"status": map[string]any{"lastScheduleTime": now.Add(-11 * time.Minute).Format(time.RFC3339)}}, "status")
	s.cronRuns(now.Add(-10 * time.Minute))
	s.patchCron(map[string]any{"spec": map[string]any{"schedule": at(5 * time.Minute)}})
	s.cronRuns(now.Add(-5 * time.Minute))
	return func() string {
		cron := s.cron()
		jobs, err := s.jobsOwnedBy(s.name)
		return fmt.Sprintf("%d active, last %s before it began, jobs %v %v", len(cron.Status.Active), now.Sub(cron.Status.LastScheduleTime.Time), jobs, err)
	}
}

// cronRuns waits until the CronJob has exactly one job, the one for a time, and the job runs.
func (s *stage) cronRuns(at time.Time) {
	s.t.Helper()
	name := fmt.Sprintf("%s-%d", s.name, at.Unix()/60)
	s.jobIs(name, batchv1alpha1.Running, 1)
	s.eventually(crashPatience, "there is no job but "+name, func() error {
		jobs, err := s.jobsOwnedBy(s.name)
		if cron := s.cron(); err == nil && (len(jobs) != 1 || len(cron.Status.Active) != 1 || cron.Status.Active[0].Name != name) {
			err = fmt.Errorf("jobs %v, active %v", jobs, cron.Status.Active)
		}
		return err
	})
}

func (s *stage) patchCron(patch map[string]any, subresource ...string) {
	s.t.Helper()
	text, err := json.Marshal(patch)
	if err != nil {
		s.t.Fatal(err)
	}
	args := []string{"patch", "cronjobs.batch.volcano.sh", s.name, "--type=merge", "-p", string(text)}
	for _, sub := range subresource {
		args = append(args, "--subresource="+sub)
	}
	s.changed(args...)
}

// changed runs kubectl until it succeeds, because the webhooks are unavailable while vcd is down.
func (s *stage) changed(args ...string) {
	s.t.Helper()
	s.eventually(crashPatience, "kubectl "+strings.Join(args, " "), func() error {
		if r := s.run("", "kubectl", args...); r.code != 0 {
			return errors.New(r.stderr)
		}
		return nil
	})
}

func (s *stage) cron() *batchv1alpha1.CronJob {
	s.t.Helper()
	var cron batchv1alpha1.CronJob
	if err := s.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: s.name}, &cron); err != nil {
		s.t.Fatal(err)
	}
	return &cron
}

func cronAway(s *stage) {
	s.t.Helper()
	s.deleteBehind(s.cron())
}
