package check

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// jobsThere holds the names of existing jobs.
type jobsThere map[string]bool

func (j jobsThere) Job(r batchv1alpha1.JobReference) *batchv1alpha1.Job {
	if !j[r.Name] {
		return nil
	}
	return &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Name}}
}

// TestWhatIsAllowedAndHardlyMeantIsTold covers new objects that are accepted with or without a warning.
func TestWhatIsAllowedAndHardlyMeantIsTold(t *testing.T) {
	t.Parallel()
	const spec = `"spec":{"tasks":[{"name":"a","replicas":1,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}]}`
	annotated := func(annotations string) string {
		return `{"metadata":{"name":"x","namespace":"n","annotations":{` + annotations + `}},` + spec + `}`
	}
	job, cronJob, queue := batchv1alpha1.GroupVersion.WithKind("Job"), batchv1alpha1.GroupVersion.WithKind("CronJob"), schedulingv1beta1.GroupVersion.WithKind("Queue")
	lone := schedulingv1beta1.NewQueueLookup(&schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	family := schedulingv1beta1.NewQueueLookup(&schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
		&schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Spec: schedulingv1beta1.QueueSpec{Parent: "default"}})
	for name, test := range map[string]struct {
		kind   schema.GroupVersionKind
		object string
		queues schedulingv1beta1.QueueLookup
		want   string // "" for no warning
	}{
		"a misspelt annotation":            {job, annotated(`"vc-batch.dev/aray-limit":"2"`), nil, "metadata.annotations[vc-batch.dev/aray-limit]: unknown annotation, which vc ignores; similar annotations: vc-batch.dev/array, "},
		"annotations that are ours":        {job, annotated(`"vc-batch.dev/keep-finished":"true","vc-batch.dev/user":"ann"`), nil, ""},
		"annotations of others":            {job, annotated(`"example.org/aray":"2"`), nil, ""},
		"one in the jobs of a CronJob":     {cronJob, `{"metadata":{"name":"x"},"spec":{"schedule":"@daily","jobTemplate":{"metadata":{"annotations":{"vc-batch.dev/zz":""}},` + spec + `}}}`, nil, "spec.jobTemplate.metadata.annotations[vc-batch.dev/zz]: unknown annotation, which vc ignores"},
		"a job after one that is not here": {job, annotated(`"vc-batch.dev/dependency":"afterok:early:there"`), nil, "metadata.annotations[vc-batch.dev/dependency]: job n/early does not exist yet; this job waits until the other job exists"},
		"a job after one that is":          {job, annotated(`"vc-batch.dev/dependency":"afterok:there,singleton"`), nil, ""},
		"the first child of default":       {queue, `{"metadata":{"name":"x"},"spec":{"parent":"default"}}`, lone, "spec.parent: queue default gets its first child queue; from now on, jobs that do not specify a queue will be rejected"},
		"another child of default":         {queue, `{"metadata":{"name":"x"},"spec":{"parent":"default"}}`, family, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdict := Create(test.kind, []byte(test.object), &Around{Queues: test.queues, Jobs: jobsThere{"there": true}})
			if len(verdict.Errors) > 0 {
				t.Fatal(verdict.Errors)
			}
			if test.want == "" && len(verdict.Warnings) > 0 || test.want != "" && (len(verdict.Warnings) != 1 || !strings.Contains(verdict.Warnings[0], test.want)) {
				t.Errorf("want %q, got %q", test.want, verdict.Warnings)
			}
		})
	}
}
