package daemon

import (
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/jobid"
)

// newJobIDAllocator creates the allocator of job IDs. Admission and the controllers of this process share it, so that
// the IDs increase in the order of the calls.
func (o *Options) newJobIDAllocator() error {
	api, err := client.New(o.Config, client.Options{Scheme: newScheme()})
	if err != nil {
		return withHint(fmt.Errorf("client for job IDs: %w", err), hintForAPIError(err))
	}
	ids := jobid.New(jobid.ConfigMap{API: api, Namespace: o.LeaseNamespace}, time.Now)
	if o.Admission.JobIDs == nil {
		o.Admission.JobIDs = ids
	}
	if o.Controllers.JobIDs == nil {
		o.Controllers.JobIDs = ids
	}
	return nil
}
