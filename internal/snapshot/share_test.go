package snapshot

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

func asking(cpu, gpu string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), "nvidia.com/gpu": resource.MustParse(gpu)}
}

func jobAsking(cpu, gpu, pool string) *batchv1alpha1.Job {
	job := &batchv1alpha1.Job{}
	job.Spec.Tasks = []batchv1alpha1.TaskSpec{{Name: "worker"}}
	job.Spec.Tasks[0].Template.Spec = corev1.PodSpec{
		NodeSelector: map[string]string{"pool": pool},
		Containers:   []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: asking(cpu, gpu), Limits: asking(cpu, gpu)}}},
	}
	return job
}

// place returns the address of a map, which identifies it.
func place(m any) uintptr { return reflect.ValueOf(m).Pointer() }

func TestObjectsThatAskForTheSameHaveOneListOfIt(t *testing.T) {
	t.Parallel()
	var s Sharer
	a, b, other := jobAsking("8", "1", "x"), jobAsking("8", "1", "x"), jobAsking("8", "2", "y")
	for _, job := range []*batchv1alpha1.Job{a, b, other} {
		before := job.DeepCopy()
		s.ShareJobLists(job)
		if diff := cmp.Diff(before, job); diff != "" {
			t.Errorf("what the job says is changed:\n%s", diff)
		}
	}
	of := func(job *batchv1alpha1.Job) *corev1.PodSpec { return &job.Spec.Tasks[0].Template.Spec }
	requests := func(job *batchv1alpha1.Job) uintptr { return place(of(job).Containers[0].Resources.Requests) }
	if requests(a) != requests(b) || requests(a) != place(of(b).Containers[0].Resources.Limits) || place(of(a).NodeSelector) != place(of(b).NodeSelector) {
		t.Error("two jobs that ask for the same have lists of their own")
	}
	if requests(a) == requests(other) || place(of(a).NodeSelector) == place(of(other).NodeSelector) {
		t.Error("jobs that ask for other things share a list")
	}
	list := asking("8", "1")
	group := &schedulingv1beta1.PodGroup{Spec: schedulingv1beta1.PodGroupSpec{MinResources: &list}}
	s.ShareGroupLists(group)
	if place(*group.Spec.MinResources) != requests(a) {
		t.Error("a PodGroup has a list of its own")
	}
}

func TestWhatIsSharedDoesNotGrowForEver(t *testing.T) {
	t.Parallel()
	var s Sharer
	for i := range 3 * mostShared {
		s.ShareJobLists(jobAsking(fmt.Sprint(i+1), "1", fmt.Sprint(i)))
	}
	if len(s.lists) > mostShared || len(s.selectors) > mostShared {
		t.Errorf("%d lists and %d selectors are remembered", len(s.lists), len(s.selectors))
	}
}
