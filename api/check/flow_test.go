package check

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// TestJobsOfStepsAreJudged judges flows whose steps are made from one template, which is there, or not.
func TestJobsOfStepsAreJudged(t *testing.T) {
	t.Parallel()
	queues := schedulingv1beta1.NewQueueLookup(&schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	there := func(namespace, name string) *flowv1alpha1.JobTemplate {
		if namespace != "n" || name != "a" {
			return nil
		}
		return &flowv1alpha1.JobTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{
			Name: "w", Replicas: 2, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}}}
	}
	const patch = "spec.flows[0].patch.jobSpec"
	for name, test := range map[string]struct {
		flow, step  string
		patch       *batchv1alpha1.JobSpec
		where, says string // "" for a flow that is right
	}{
		"a step without a patch":                 {"f", "a", nil, "", ""},
		"a patch that fits":                      {"f", "a", &batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "w", Replicas: 3}}, MinAvailable: 3}, "", ""},
		"a minimum above what the template has":  {"f", "a", &batchv1alpha1.JobSpec{MinAvailable: 3}, patch, "its job f-a, made from JobTemplate a, would be refused: spec.minAvailable: "},
		"the same when there is no template yet": {"f", "later", &batchv1alpha1.JobSpec{MinAvailable: 3}, "", ""},
		"a queue that is not there":              {"f", "a", &batchv1alpha1.JobSpec{Queue: "nowhere"}, patch, "unable to find job queue"},
		"a new task without a container":         {"f", "a", &batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "x", Replicas: 1}}}, patch, "template.spec.containers: "},
		"a pod whose name is too long":           {strings.Repeat("f", 58), "a", nil, "spec.flows[0].name", "its last pod would be named"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flow := flowv1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: test.flow}, Spec: flowv1alpha1.JobFlowSpec{Flows: []flowv1alpha1.Flow{{Name: test.step}}}}
			if test.patch != nil {
				flow.Spec.Flows[0].Patch = &flowv1alpha1.Patch{JobSpec: *test.patch}
			}
			errs := Create(flowv1alpha1.GroupVersion.WithKind("JobFlow"), raw(t, flow), &Around{Queues: queues, JobTemplate: there}).Errors
			if test.where == "" && len(errs) > 0 {
				t.Errorf("refused: %v", errs)
			}
			if test.where != "" && (len(errs) != 1 || errs[0].Field != test.where || !strings.Contains(errs[0].Error(), test.says)) {
				t.Errorf("want one error at %s: %s, got %v", test.where, test.says, errs)
			}
		})
	}
}
