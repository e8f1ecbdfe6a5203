package jobrow

import (
	"cmp"
	"fmt"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/account"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screen"
)

// Row is a job, or elements of an array that stand alike.
type Row struct {
	Job *snapshot.Job
	// Part is which elements, when the array is unfolded; nil is the whole job.
	Part *state.Part
}

// ID tells rows apart.
func ID(r Row) string {
	if r.Part == nil {
		return string(r.Job.UID)
	}
	return string(r.Job.UID) + "_" + r.Part.Elements.String() + string(r.Part.State.Code)
}

// Keep are the jobs that the user wants to see: of the namespace, and with Mine his own.
func Keep(ctx *screen.Context, jobs []*snapshot.Job) []*snapshot.Job {
	if ctx.Namespace == "" && !ctx.Mine {
		return jobs
	}
	var kept []*snapshot.Job
	for _, job := range jobs {
		if (ctx.Namespace == "" || job.Namespace == ctx.Namespace) && (!ctx.Mine || job.User == ctx.User) {
			kept = append(kept, job)
		}
	}
	return kept
}

// Rows are jobs as rows; arrays for whose UID unfolded says so are shown part by part.
func Rows(jobs []*snapshot.Job, now time.Time, unfolded func(*snapshot.Job) bool) []Row {
	rows := make([]Row, 0, len(jobs))
	for _, job := range jobs {
		if !IsArray(job) || unfolded == nil || !unfolded(job) {
			rows = append(rows, Row{Job: job})
			continue
		}
		parts, ok := state.Elements(job.Facts(now))
		if !ok || len(parts) == 0 {
			rows = append(rows, Row{Job: job})
			continue
		}
		for i := range parts {
			rows = append(rows, Row{Job: job, Part: &parts[i]})
		}
	}
	return rows
}

// IsArray says whether the job has elements.
func IsArray(job *snapshot.Job) bool {
	_, _, ok := batchv1alpha1.ElementsOf(job.Object)
	return ok
}

// Number is what the job is called by number: 918, 922_[9-63%8], 922_1; its name when it has none.
func (r Row) Number() string {
	id := cmp.Or(r.Job.ID, "-")
	elements, _, ok := batchv1alpha1.ElementsOf(r.Job.Object)
	if !ok {
		return id
	}
	if r.Part != nil {
		elements = r.Part.Elements
		if elements.Count() == 1 {
			return id + "_" + elements.String()
		}
	}
	limit := ""
	if n, err := batchv1alpha1.ArrayLimit(r.Job.Object); err == nil && n > 0 && (r.Part == nil || r.Code() == string(state.Pending)) {
		limit = fmt.Sprintf("%%%d", n)
	}
	return id + "_[" + elements.String() + limit + "]"
}

// Code is Slurm's code of the state.
func (r Row) Code() string {
	if r.Part != nil {
		return string(r.Part.State.Code)
	}
	return r.Job.State
}

// Reason is Slurm's word for why it waits, or how it ended.
func (r Row) Reason() string {
	if r.Part == nil {
		return r.Job.Reason
	}
	if r.Part.State.Reason == state.None {
		return ""
	}
	return r.Part.State.Reason
}

// GPUs is what the row asks for in all: of a part of an array its share.
func (r Row) GPUs() int64 {
	if r.Part == nil {
		return r.Job.GPUs
	}
	elements, _, ok := batchv1alpha1.ElementsOf(r.Job.Object)
	if !ok || elements.Count() == 0 {
		return r.Job.GPUs
	}
	return r.Job.GPUs * int64(r.Part.Elements.Count()) / int64(elements.Count())
}

// GPUsHeld is how many of them its pods hold on nodes, running or not. Of an array's part, and where pods may not be seen,
// it is what the row asks for, once it has nodes.
func (r Row) GPUsHeld() int64 {
	if r.Part != nil || len(r.Job.Pods) == 0 {
		if r.Ended() || r.Waits() && state.Code(r.Code()) != state.Configuring {
			return 0
		}
		return r.GPUs()
	}
	var held int64
	for _, pod := range r.Job.Pods {
		if pod.Node == "" || pod.Asks == nil {
			continue
		}
		for name, amount := range pod.Asks.Devices {
			if account.IsGPU(string(name)) {
				held += amount
			}
		}
	}
	return held
}

// NodeCount is on how many nodes it is: of an array as a whole, since which element is where is not known.
func (r Row) NodeCount() int {
	if r.Part != nil && (r.Waits() || r.Ended()) {
		return 0
	}
	return r.Job.NodeCount
}

// Waits says that it has not begun, or stands still.
func (r Row) Waits() bool {
	switch state.Code(r.Code()) {
	case state.Pending, state.Requeued, state.Configuring, state.Suspended:
		return true
	}
	return false
}

// Queued says that it is pending or held, as a Tally counts.
func (r Row) Queued() bool {
	var t Tally
	t.Add(r)
	return t.Pending+t.Held > 0
}

// Ended says that it is over.
func (r Row) Ended() bool { return state.Code(r.Code()).Ended() }

// Elapsed is how long it has run or ran; ok is false when it has not started.
func Elapsed(job *snapshot.Job, now time.Time) (elapsed time.Duration, ok bool) {
	if job.Started.IsZero() {
		return 0, false
	}
	return state.Times{Start: job.Started, End: job.Ended}.Elapsed(now), true
}
