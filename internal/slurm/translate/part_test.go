package translate

import (
	"testing"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

func TestOnlyOnePartSetsAField(t *testing.T) {
	t.Parallel()
	queue := &part{job: batchv1alpha1.JobSpec{Queue: "research"}}
	if whole := mergeParts(queue, &part{job: batchv1alpha1.JobSpec{MaxRetry: 3}}); len(whole.errs) > 0 || whole.job.Queue != "research" || whole.job.MaxRetry != 3 {
		t.Errorf("two fields: %+v, %v", whole.job, whole.errs)
	}
	whole := mergeParts(queue, queue)
	if len(whole.errs) != 1 || whole.errs[0].Error() != "two parts of the job both set JobSpec.Queue" {
		t.Errorf("one field twice: %v", whole.errs)
	}
}
