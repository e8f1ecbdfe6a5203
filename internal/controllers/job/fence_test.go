package job

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// TestANewProcessStopsNothingOfAJobThatWasResumedSince covers a watch of jobs from an outdated API server, combined
// with a watch of pods from a current one.
func TestANewProcessStopsNothingOfAJobThatWasResumedSince(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(2))
	w.mustSettle(t)
	w.command(1, busv1alpha1.AbortJobAction)
	w.mustSettle(t)
	w.command(2, busv1alpha1.ResumeJobAction)
	w.mustSettle(t)
	w.restart(0)
	w.seeAll()
	for _, c := range slices.Backward(w.server.History) {
		if job, ok := c.Object.(*batchv1alpha1.Job); ok && job.Status.State.Phase == batchv1alpha1.Aborted {
			w.cached.Apply(c)
			break
		}
	}
	if err := w.reconcile(-1, false); err != nil {
		t.Fatal(err)
	}
	if len(w.api.Writes) > 0 || len(w.podNames()) != 2 {
		t.Errorf("it wrote: %s", strings.Join(w.api.Writes, ", "))
	}
}

// TestAJobThatIsNewerThanAProcessIsNotReadOnceMore covers a job that no earlier process can have written since.
func TestAJobThatIsNewerThanAProcessIsNotReadOnceMore(t *testing.T) {
	t.Parallel()
	for name, newer := range map[string]bool{"nobody has written it since": false, "somebody has": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(simpleJob(1))
			w.mustSettle(t)
			w.restart(0)
			// This is the request that the first write for any other job makes.
			if _, err := w.reconciler.began.isOlderThan(t.Context(), w.api.Client(), "1"); err != nil {
				t.Fatal(err)
			}
			if newer {
				w.annotate("a", "b")
			}
			// gives the plan a write, before which the job is read once to check that it still exists
			w.server.Remove(&schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: plan.GroupName(w.truth())}})
			want := []string{"get Job ns/job"}
			if !newer {
				want = append(want, "get Job ns/job")
			}
			w.api.Reads = nil
			writes := w.turn(t, watched...)
			isOtherRead := func(read string) bool { return read != "get Job ns/job" }
			if reads := slices.DeleteFunc(w.api.Reads, isOtherRead); len(writes) == 0 || !slices.Equal(reads, want) {
				t.Errorf("read %v, want %v; wrote %v", reads, want, writes)
			}
		})
	}
}

// TestTheGroupOfADeletedJobIsNotCreatedAgain covers a job whose PodGroup the garbage collector deletes before the watch of jobs
// reports that the job was deleted.
func TestTheGroupOfADeletedJobIsNotCreatedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(simpleJob(1))
	if job := w.mustSettle(t); job.Status.State.Phase != batchv1alpha1.Running {
		t.Fatalf("the job is %s", job.Status.State.Phase)
	}
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: plan.GroupName(w.truth())}}
	w.server.Remove(w.truth())
	w.server.Remove(group)
	if writes := w.turn(t, "Pod", "PodGroup"); len(writes) > 0 {
		t.Errorf("wrote %v", writes)
	}
}

// revisionReader returns its revision with every list of jobs, after it has called a function.
type revisionReader struct {
	client.Reader
	revision string
	first    func()
}

func (r *revisionReader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	r.first()
	list.SetResourceVersion(r.revision)
	return nil
}

// TestReconcilesReadTheRevisionOfTheServerIndependently verifies that a reconcile does not wait while another one reads
// the revision of the API server, and that both use the revision that was stored first.
func TestReconcilesReadTheRevisionOfTheServerIndependently(t *testing.T) {
	t.Parallel()
	var b beginning
	other := func() {
		if newer, err := b.isOlderThan(t.Context(), &revisionReader{revision: "7", first: func() {}}, "8"); !newer || err != nil {
			t.Errorf("the other reconcile: newer %v, error %v", newer, err)
		}
	}
	for range 2 {
		if newer, err := b.isOlderThan(t.Context(), &revisionReader{revision: "9", first: other}, "8"); !newer || err != nil {
			t.Errorf("newer %v, error %v", newer, err)
		}
		other = func() { t.Error("the revision is read again") }
	}
}
