package admission

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// JobIDs allocates job numbers; jobid.Allocator implements it.
type JobIDs interface {
	// Take returns the first of n consecutive numbers.
	Take(ctx context.Context, n int) (int64, error)
}

// assignNumber assigns a number to a new job and keeps the number of an existing one. It removes a number from the
// manifest of a new job, because such a number was copied from another job. If no number is available, the controller
// assigns one later.
func (h *hooks) assignNumber(ctx context.Context, request admission.Request, job *batchv1alpha1.Job) {
	switch request.Operation {
	case admissionv1.Create:
		delete(job.Labels, keys.JobID)
		delete(job.Annotations, keys.JobIDWas)
		if h.ids == nil || (request.DryRun != nil && *request.DryRun) {
			return
		}
		if id, err := h.ids.Take(ctx, batchv1alpha1.IDsOf(job)); err == nil {
			batchv1alpha1.SetJobID(job, id)
		}
	case admissionv1.Update:
		// A manifest that replaces the job does not contain its number.
		_, old, err := decodeObjects[batchv1alpha1.Job](request)
		if err != nil {
			return // the check of the job reports this error
		}
		if id, ok := batchv1alpha1.JobID(old); ok && job.Labels[keys.JobID] == "" {
			batchv1alpha1.SetJobID(job, id)
		}
	}
}
