package job

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// applying returns an application of a new plan for the current job.
func (w *world) applying(t *testing.T) *application {
	t.Helper()
	job := w.truth().DeepCopy()
	return &application{Reconciler: w.reconciler, job: job, in: &plan.Input{Job: job}, plan: &plan.Plan{Job: job}, known: w.reconciler.states.ensureState(w.job, job.UID)}
}

// TestOnlyThePodThatWasMeantIsDeleted replaces a pod by another pod with its name between the plan and its writes.
func TestOnlyThePodThatWasMeantIsDeleted(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*application, *world) error{
		"delete": func(a *application, w *world) error {
			stale := podReference(w.pod("job-w-0"))
			stale.UID = "of-an-older-pod"
			return a.deletePod(t.Context(), stale)
		},
		"mark": func(a *application, w *world) error {
			stale := podReference(w.pod("job-w-0"))
			stale.UID = "of-an-older-pod"
			return a.markPod(t.Context(), stale)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begun(t, simpleJob(1))
			before := w.pod("job-w-0").DeepCopy()
			if err := write(w.applying(t), w); err != nil {
				t.Errorf("that the pod is gone is an error: %v", err)
			}
			after := w.pod("job-w-0")
			if after == nil || after.DeletionTimestamp != nil || after.ResourceVersion != before.ResourceVersion {
				t.Error("the new pod of the name was written to")
			}
		})
	}
}

// TestAJobThatHasChangedIsNotWrittenOver changes the job between the plan and its writes.
func TestAJobThatHasChangedIsNotWrittenOver(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*application) error{
		"names of claims": func(a *application) error {
			return a.writeClaimNames(t.Context(), plan.NameClaims{Volumes: []batchv1alpha1.VolumeSpec{{MountPath: "/data", VolumeClaimName: "stale"}}})
		},
		"forwarding": func(a *application) error { return a.setForwarding(t.Context()) },
		"status":     func(a *application) error { return a.writeStatus(t.Context(), plan.WriteStatus{}) },
		"deletion": func(a *application) error {
			if err := a.deleteJob(t.Context()); err == nil {
				t.Error("a job that was changed is deleted") // a conflict is expected
			} else {
				return err
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begun(t, simpleJob(1))
			a := w.applying(t)
			changed := w.truth().DeepCopy()
			changed.Spec.Tasks[0].Replicas = 2
			if err := w.server.Client().Update(t.Context(), changed); err != nil {
				t.Fatal(err)
			}
			if err := write(a); !apierrors.IsConflict(err) {
				t.Errorf("got %v, want a conflict", err)
			}
			if now := w.truth(); now.Spec.Tasks[0].Replicas != 2 || len(now.Spec.Volumes) > 0 {
				t.Errorf("the job was written over: %+v", now.Spec)
			}
		})
	}
}
