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

// TestJobsOfStepsAreJudged covers flows whose steps use a template that exists or not.
func TestJobsOfStepsAreJudged(t *testing.T) {
	t.Parallel()
	queues := schedulingv1beta1.NewQueueLookup(&schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	there := func(namespace, name string) (*flowv1alpha1.JobTemplate, bool) {
		if namespace != "n" || name != "a" {
			return nil, true
		}
		return &flowv1alpha1.JobTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{
			Name: "w", Replicas: 2, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}}}, true
	}
	const patch = "spec.flows[0].patch.jobSpec"
	for name, test := range map[string]struct {
		flow, step  string
		patch       *batchv1alpha1.JobSpec
		where, says string // "" for a valid flow
	}{
		"a step without a patch":                 {"f", "a", nil, "", ""},
		"a patch that fits":                      {"f", "a", &batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "w", Replicas: 3}}, MinAvailable: 3}, "", ""},
		"a minimum above what the template has":  {"f", "a", &batchv1alpha1.JobSpec{MinAvailable: 3}, patch, "the step's job f-a, created from JobTemplate a, would be rejected: spec.minAvailable: "},
		"the same when there is no template yet": {"f", "later", &batchv1alpha1.JobSpec{MinAvailable: 3}, "", ""},
		"a queue that is not there":              {"f", "a", &batchv1alpha1.JobSpec{Queue: "nowhere"}, patch, "unable to find job queue"},
		"a new task without a container":         {"f", "a", &batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "x", Replicas: 1}}}, patch, "template.spec.containers: "},
		"a pod whose name is too long":           {strings.Repeat("f", 58), "a", nil, "spec.flows[0].name", "the last pod would be named"},
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

// TestAFlowWhoseTemplatesAreMissingIsLetInWithAWarning: templates may come after the flow, but a step without one waits, perhaps after hours.
func TestAFlowWhoseTemplatesAreMissingIsLetInWithAWarning(t *testing.T) {
	t.Parallel()
	flowOf := func(steps ...string) flowv1alpha1.JobFlow {
		flow := flowv1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "f"}}
		for _, step := range steps {
			flow.Spec.Flows = append(flow.Spec.Flows, flowv1alpha1.Flow{Name: step})
		}
		return flow
	}
	there := func(_, name string) (*flowv1alpha1.JobTemplate, bool) {
		if name != "a" {
			return nil, true
		}
		return &flowv1alpha1.JobTemplate{}, true
	}
	unreadable := func(string, string) (*flowv1alpha1.JobTemplate, bool) { return nil, false }
	for name, test := range map[string]struct {
		steps     []string
		templates func(string, string) (*flowv1alpha1.JobTemplate, bool)
		want      string // "" for no warning
	}{
		"one is missing":         {[]string{"b"}, there, "spec.flows: JobTemplate b does not exist in namespace n yet; the step waits until the JobTemplate exists"},
		"two are missing":        {[]string{"b", "c"}, there, "spec.flows: JobTemplates b, c do not exist in namespace n yet; the steps wait until the JobTemplates exist"},
		"many are missing":       {strings.Split("b c d e f g h", " "), there, "JobTemplates b, c, d, e, f and 2 more do not exist in namespace n yet"},
		"they cannot be read":    {[]string{"b"}, unreadable, ""},
		"they are not looked up": {[]string{"b"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdict := Create(flowv1alpha1.GroupVersion.WithKind("JobFlow"), raw(t, flowOf(test.steps...)), &Around{JobTemplate: test.templates})
			if len(verdict.Errors) > 0 {
				t.Fatal(verdict.Errors)
			}
			if got := strings.Join(verdict.Warnings, "\n"); test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("warnings are %q, want %q", got, test.want)
			}
		})
	}
}
