package job

import "github.com/vc-batch/vc/internal/jobtrace"

// Traces receives the traces of jobs that have ended. Add must not block.
type Traces interface{ Add(jobtrace.Trace) }

// traceJob records an attempt to run the job if the status that was written begins another phase, and passes on the trace
// if the job has ended. The history of a job that ran under an earlier process is incomplete: it lacks the attempts that
// ended before this process started.
func (a *application) traceJob() {
	if a.traces == nil || a.plan.Entered == "" {
		return
	}
	a.known.history = a.known.history.Record(a.in.Job, a.job, a.in.PodGroup, a.in.Pods)
	if jobtrace.HasEnded(a.plan.Entered) {
		a.traces.Add(jobtrace.Compute(a.job, a.known.history))
	}
}
