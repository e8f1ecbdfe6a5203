package admission

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// JobIDs hands out the numbers of jobs; jobid.Allocator is one.
type JobIDs interface {
	// Take returns the first of n numbers in a row.
	Take(ctx context.Context, n int) (int64, error)
}

// number gives a new job its number and keeps that of an old one. A number that the new job's manifest brings along is another job's: it was
// copied. Where no number can be had the controller gives one later.
func (h *hooks) number(ctx context.Context, request admission.Request, job *batchv1alpha1.Job) {
	switch request.Operation {
	case admissionv1.Create:
		delete(job.Labels, keys.JobID)
		delete(job.Annotations, keys.JobIDWas)
		if h.ids == nil || request.DryRun != nil && *request.DryRun {
			return
		}
		if id, err := h.ids.Take(ctx, batchv1alpha1.IDsOf(job)); err == nil {
			batchv1alpha1.SetJobID(job, id)
		}
	case admissionv1.Update:
		// A manifest that is put in the place of the job does not know its number.
		_, old, err := decode[batchv1alpha1.Job](request)
		if err != nil {
			return // answered where the job is checked
		}
		if id, ok := batchv1alpha1.JobID(old); ok && job.Labels[keys.JobID] == "" {
			batchv1alpha1.SetJobID(job, id)
		}
	}
}
