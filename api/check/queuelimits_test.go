package check

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// TestAnObjectWhoseJobsExceedTheLimitsOfTheirQueueIsRejected covers every kind of object that jobs are created from.
func TestAnObjectWhoseJobsExceedTheLimitsOfTheirQueueIsRejected(t *testing.T) {
	t.Parallel()
	limits := &schedulingv1beta1.JobLimits{MaxRunTime: &metav1.Duration{Duration: time.Hour}, MaxPods: new(int32(2))}
	queues := schedulingv1beta1.NewQueueLookup(&schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: schedulingv1beta1.QueueSpec{JobLimits: limits}})
	spec := func(pods int32, limit *int64) batchv1alpha1.JobSpec {
		return batchv1alpha1.JobSpec{Queue: "small", Tasks: []batchv1alpha1.TaskSpec{{Name: "w", Replicas: pods, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			ActiveDeadlineSeconds: limit, RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}}
	}
	job := func(of batchv1alpha1.JobSpec) any {
		return batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "n"}, Spec: of}
	}
	cron := func(of batchv1alpha1.JobSpec) any {
		return batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "n"}, Spec: batchv1alpha1.CronJobSpec{Schedule: "@daily", JobTemplate: batchv1alpha1.JobTemplateSpec{Spec: of}}}
	}
	template := func(of batchv1alpha1.JobSpec) any {
		return flowv1alpha1.JobTemplate{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "n"}, Spec: of}
	}
	elsewhere := spec(9, nil)
	elsewhere.Queue = "later"
	jobs, cronJobs, templates := batchv1alpha1.GroupVersion.WithKind("Job"), batchv1alpha1.GroupVersion.WithKind("CronJob"), flowv1alpha1.GroupVersion.WithKind("JobTemplate")
	for name, test := range map[string]struct {
		kind      schema.GroupVersionKind
		object    any
		defaulted bool
		wrong     string // the field; "" for no error
	}{
		"a job within the limits":                    {jobs, job(spec(2, new(int64(3600)))), true, ""},
		"a job with too many pods":                   {jobs, job(spec(3, new(int64(3600)))), true, "spec.tasks"},
		"a job with a longer limit":                  {jobs, job(spec(2, new(int64(3601)))), true, "spec.tasks[0].template.spec.activeDeadlineSeconds"},
		"a job that the webhook gave no limit":       {jobs, job(spec(2, nil)), true, "spec.tasks[0].template.spec.activeDeadlineSeconds"},
		"a job that the webhook will give a limit":   {jobs, job(spec(2, nil)), false, ""},
		"a CronJob within the limits":                {cronJobs, cron(spec(2, nil)), true, ""},
		"a CronJob whose jobs have too many pods":    {cronJobs, cron(spec(3, nil)), true, "spec.jobTemplate.spec.tasks"},
		"a JobTemplate within the limits":            {templates, template(spec(2, nil)), true, ""},
		"a JobTemplate whose jobs run too long":      {templates, template(spec(2, new(int64(3601)))), true, "spec.tasks[0].template.spec.activeDeadlineSeconds"},
		"a JobTemplate for a queue that comes later": {templates, template(elsewhere), true, ""},
		"a PodGroup that needs more pods than allowed": {schedulingv1beta1.GroupVersion.WithKind("PodGroup"),
			schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "n"}, Spec: schedulingv1beta1.PodGroupSpec{Queue: "small", MinMember: 3}}, true, "spec.minMember"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := Create(test.kind, raw(t, test.object), &Around{Queues: queues, IsDefaulted: test.defaulted}).Errors
			if test.wrong == "" && len(errs) > 0 {
				t.Errorf("rejected: %v", errs)
			}
			if test.wrong != "" && (len(errs) != 1 || errs[0].Field != test.wrong || !strings.Contains(errs[0].Error(), "queue small permits at most")) {
				t.Errorf("want one error at %s, got %v", test.wrong, errs)
			}
		})
	}
	t.Run("a job is scaled beyond the limit", func(t *testing.T) {
		t.Parallel()
		old, scaled := job(spec(2, nil)), job(spec(3, nil))
		errs := Update(jobs, raw(t, old), raw(t, scaled), &Around{Queues: queues, IsDefaulted: true}).Errors
		if len(errs) != 1 || errs[0].Field != "spec.tasks" {
			t.Errorf("want one error at spec.tasks, got %v", errs)
		}
	})
}
