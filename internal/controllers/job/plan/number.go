package plan

import batch "github.com/vc-batch/vc/api/batch/v1alpha1"

// NumberJob gives the job its number: the first of Count in a row that nobody else has.
type NumberJob struct{ Count int }

func (NumberJob) write() {}

// number asks for the number of a job that has none yet, or one that is another's. It says whether the job should be looked at again before
// anything is made that carries the number. A job that nobody can number now goes on without.
func (b *builder) number() (wait bool) {
	if _, ok := batch.JobID(b.in.Job); ok && !b.in.NumberTaken || !b.in.Numbers {
		return false
	}
	if wait := b.in.NumbersFrom.Sub(b.in.Now); wait > 0 {
		b.again(wait)
		return false
	}
	b.write(NumberJob{Count: batch.IDsOf(b.job)})
	return b.in.PodGroup == nil
}
