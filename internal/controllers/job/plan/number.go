package plan

import batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"

// NumberJob assigns the job its number, which is the first of Count consecutive free numbers.
type NumberJob struct{ Count int }

func (NumberJob) write() {}

// requestJobNumber requests a number for a job that has none, or whose number belongs to another job. It reports
// whether the job must wait for the number before objects that contain the number are created. While numbers are not
// available, the job continues without one.
func (b *builder) requestJobNumber() (wait bool) {
	if _, ok := batchv1alpha1.JobID(b.in.Job); (ok && !b.in.NumberTaken) || !b.in.Numbers {
		return false
	}
	if wait := b.in.NumbersFrom.Sub(b.in.Now); wait > 0 {
		b.requestPlanAfter(wait)
		return false
	}
	b.appendWrites(NumberJob{Count: batchv1alpha1.IDsOf(b.job)})
	return b.in.PodGroup == nil
}
