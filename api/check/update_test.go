package check

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// TestWhatIsThereCanBeChangedWhereItIsRight updates objects whose surroundings or rules have changed since their
// creation. Unchanged parts are not checked again; changed parts are.
func TestWhatIsThereCanBeChangedWhereItIsRight(t *testing.T) {
	shut := schedulingv1beta1.NewQueueLookup(&schedulingv1beta1.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: "default"}, Status: schedulingv1beta1.QueueStatus{State: schedulingv1beta1.QueueStateClosed},
	})
	task := batchv1alpha1.TaskSpec{Name: "w", Replicas: 1, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}
	job := batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{task}, Queue: "default"}
	night := batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "night"}, Spec: batchv1alpha1.CronJobSpec{Schedule: "0 1 * * *", JobTemplate: batchv1alpha1.JobTemplateSpec{Spec: job}}}
	old := flowv1alpha1.JobTemplate{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Spec: job}
	old.Spec.Policies = []batchv1alpha1.LifecyclePolicy{{Event: "OutOfSync", Action: "RestartJob"}}
	zoned := night
	zoned.Spec.Schedule = "CRON_TZ=Europe/Berlin 0 1 * * *"
	flow := flowv1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "f"}, Spec: flowv1alpha1.JobFlowSpec{Flows: []flowv1alpha1.Flow{{Name: "a"}, {Name: "a"}}}}
	yes := true
	cronJob, template := batchv1alpha1.GroupVersion.WithKind("CronJob"), flowv1alpha1.GroupVersion.WithKind("JobTemplate")
	jobFlow := flowv1alpha1.GroupVersion.WithKind("JobFlow")
	for name, row := range map[string]struct {
		kind     schema.GroupVersionKind
		old, new any
		wrong    string // the field; "" for no error
	}{
		"a CronJob is suspended after its queue was closed":  {cronJob, night, edited(night, func(c *batchv1alpha1.CronJob) { c.Spec.Suspend = &yes }), ""},
		"its template is changed while the queue is closed":  {cronJob, night, edited(night, func(c *batchv1alpha1.CronJob) { c.Spec.JobTemplate.Spec.Tasks[0].Replicas = 2 }), "spec.jobTemplate.spec.queue"},
		"its schedule becomes none":                          {cronJob, night, edited(night, func(c *batchv1alpha1.CronJob) { c.Spec.Schedule = "0 0 30 2 *" }), "spec.schedule"},
		"a CronJob with a zone in its schedule is suspended": {cronJob, zoned, edited(zoned, func(c *batchv1alpha1.CronJob) { c.Spec.Suspend = &yes }), ""},
		"such a CronJob gets another zone there":             {cronJob, zoned, edited(zoned, func(c *batchv1alpha1.CronJob) { c.Spec.Schedule = "TZ=UTC 0 1 * * *" }), "spec.schedule"},
		"such a CronJob gets a policy that is none":          {cronJob, zoned, edited(zoned, func(c *batchv1alpha1.CronJob) { c.Spec.ConcurrencyPolicy = "Sometimes" }), "spec.concurrencyPolicy"},
		"a JobFlow with a step twice keeps its jobs no more": {jobFlow, flow, edited(flow, func(f *flowv1alpha1.JobFlow) { f.Spec.JobRetainPolicy = flowv1alpha1.Delete }), ""},
		"such a JobFlow gets another step":                   {jobFlow, flow, edited(flow, func(f *flowv1alpha1.JobFlow) { f.Spec.Flows = append(f.Spec.Flows, flowv1alpha1.Flow{Name: "b"}) }), "spec.flows[1].name"},
		"a JobTemplate of older rules gets a label":          {template, old, edited(old, func(j *flowv1alpha1.JobTemplate) { j.Labels = map[string]string{"a": "b"} }), ""},
		"a JobTemplate of older rules is changed":            {template, old, edited(old, func(j *flowv1alpha1.JobTemplate) { j.Spec.Tasks[0].Replicas = 2 }), "spec.policies[0].event"},
	} {
		t.Run(name, func(t *testing.T) {
			verdict := Update(row.kind, raw(t, row.old), raw(t, row.new), &Around{Queues: shut})
			if row.wrong == "" && len(verdict.Errors) > 0 {
				t.Errorf("refused: %v", verdict.Errors)
			}
			if row.wrong != "" && (len(verdict.Errors) != 1 || verdict.Errors[0].Field != row.wrong) {
				t.Errorf("want one error at %s, got %v", row.wrong, verdict.Errors)
			}
		})
	}
}

func edited[T any, P interface {
	*T
	DeepCopy() P
}](object T, edit func(P)) T {
	changed := P(&object).DeepCopy()
	edit(changed)
	return *changed
}

func raw(t *testing.T, object any) []byte {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
