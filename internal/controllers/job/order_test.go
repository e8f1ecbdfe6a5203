package job

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/apiserver"
)

// reversed is a cache that returns every list in the reverse order.
type reversed struct{ client.Reader }

func (r reversed) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := r.Reader.List(ctx, list, opts...); err != nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	slices.Reverse(items)
	return meta.SetList(list, items)
}

// TestWritesDoNotDependOnTheOrderOfCachedLists verifies that the objects of a job that is gone are deleted in a fixed
// order, although a cache lists them in any order.
func TestWritesDoNotDependOnTheOrderOfCachedLists(t *testing.T) {
	t.Parallel()
	job := simpleJob(3)
	job.UID = "u"
	var writes [][]string
	for _, backward := range []bool{false, true} {
		server := apiserver.New(scheme, func() time.Time { return epoch })
		for _, name := range []string{"a", "b", "c"} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: name}, Spec: job.Spec.Tasks[0].Template.Spec}
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))}
			server.Save(pod)
			server.Save(&busv1alpha1.Command{
				ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: name}, Action: string(busv1alpha1.AbortJobAction),
				TargetObject: &metav1.OwnerReference{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: job.Name},
			})
		}
		var cache client.Reader = server.Cache()
		if backward {
			cache = reversed{cache}
		}
		api := apiserver.NewConnection(server)
		r := New(Options{Cache: cache, API: api.Client(), Now: func() time.Time { return epoch }})
		name := client.ObjectKeyFromObject(job)
		r.states.ensureState(name, job.UID)
		if err := r.forgetCommands(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if err := r.sweepObjects(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		writes = append(writes, api.Writes)
	}
	if diff := cmp.Diff(writes[0], writes[1]); diff != "" || len(writes[0]) != 6 {
		t.Errorf("%d writes, want 6; (-forward +backward):\n%s", len(writes[0]), diff)
	}
}

// TestRelatedJobsDoNotDependOnTheOrderOfCachedLists covers jobs with the same number, of which the oldest counts.
func TestRelatedJobsDoNotDependOnTheOrderOfCachedLists(t *testing.T) {
	t.Parallel()
	waiting := neighbour(9, "waiting", batchv1alpha1.Pending, 5, keys.Dependency, "afterok:7")
	r := among(waiting, neighbour(7, "x", batchv1alpha1.Running, 1), neighbour(7, "y", batchv1alpha1.Completed, 0), neighbour(7, "z", batchv1alpha1.Failed, 0))
	for range 2 {
		related, err := r.relatedJobs(t.Context(), waiting)
		var names []string
		for _, job := range related {
			names = append(names, job.Name)
		}
		if diff := cmp.Diff([]string{"waiting", "y", "z", "x"}, names); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
		r.cache = reversed{r.cache}
	}
}
