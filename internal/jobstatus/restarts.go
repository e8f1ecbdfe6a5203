package jobstatus

import (
	"fmt"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// RestartsText describes how often a job was restarted, and how often policies may restart it.
func RestartsText(job *batchv1alpha1.Job) string {
	restarts, limit := job.PolicyRestarts()
	text := fmt.Sprintf("%d of at most %d", restarts, limit)
	if n := job.Status.UserRestarts; n > 0 {
		text += fmt.Sprintf(", plus %d by a user", n)
	}
	return text
}
