package admission

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// defaultTimeLimit gives a job without a time limit the default of its queue or account. If the queue cannot be read, the
// job gets no limit, because defaulting fails open. The check of the job then rejects it if its queue requires a limit.
func (h *hooks) defaultTimeLimit(ctx context.Context, request *admission.Request, job *batchv1alpha1.Job) {
	if h.queues == nil {
		return
	}
	var old *batchv1alpha1.Job
	if len(request.OldObject.Raw) > 0 {
		_, previous, err := decodeObjects[batchv1alpha1.Job](*request)
		if err != nil {
			return
		}
		old = previous
	}
	batchv1alpha1.DefaultTimeLimit(old, job, h.queues.lookup(ctx), h.longestRunTime(job))
}
