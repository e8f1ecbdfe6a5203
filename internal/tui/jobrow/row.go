package jobrow

import (
	"cmp"
	"fmt"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// Row is a job, or the elements of an array that are in the same state.
type Row struct {
	Job *snapshot.Job
	// Part holds the elements of an unfolded array; nil means the whole job.
	Part *state.Part
}

// ID returns a unique ID of a row.
func ID(r Row) string {
	if r.Part == nil {
		return string(r.Job.UID)
	}
	return string(r.Job.UID) + "_" + r.Part.Elements.String() + string(r.Part.State.Code)
}

// Keep returns the jobs to show: the jobs in the namespace and, with Mine, only the user's own.
func Keep(ctx *screenapi.Context, jobs []*snapshot.Job) []*snapshot.Job {
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

// Rows returns jobs as rows. Arrays for which unfolded returns true are split into their parts.
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

// IsArray reports whether the job has elements.
func IsArray(job *snapshot.Job) bool {
	_, _, ok := batchv1alpha1.ElementsOf(job.Object)
	return ok
}

// Number returns the job's number with its elements: 918, 922_[9-63%8], 922_1; or "-" if it has no number.
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

// Code returns Slurm's code of the state.
func (r Row) Code() string {
	if r.Part != nil {
		return string(r.Part.State.Code)
	}
	return r.Job.State
}

// Reason returns Slurm's reason for waiting or for the job's end.
func (r Row) Reason() string {
	if r.Part == nil {
		return r.Job.Reason
	}
	if r.Part.State.Reason == state.None {
		return ""
	}
	return r.Part.State.Reason
}

// GPUs returns the number of GPUs that the row requests. A part of an array counts with its share.
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

// GPUsHeld returns the number of GPUs used by the row's pods on nodes, running or not. For a part of an array, and if
// pods are not visible, it returns the request of the row once the row has nodes.
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
			if jobstatus.IsGPU(string(name)) {
				held += amount
			}
		}
	}
	return held
}

// NodeCount returns the number of nodes. For a part of an array, it is the number of the whole array, because the nodes
// of single elements are unknown.
func (r Row) NodeCount() int {
	if r.Part != nil && (r.Waits() || r.Ended()) {
		return 0
	}
	return r.Job.NodeCount
}

// Waits reports whether the row has not started or is suspended.
func (r Row) Waits() bool {
	switch state.Code(r.Code()) {
	case state.Pending, state.Requeued, state.Configuring, state.Suspended:
		return true
	}
	return false
}

// Queued reports whether the row is pending or held, as a Tally counts it.
func (r Row) Queued() bool {
	var t Tally
	t.Add(r)
	return t.Pending+t.Held > 0
}

// Ended reports whether the row has ended.
func (r Row) Ended() bool { return state.Code(r.Code()).Ended() }

// Elapsed returns the time a job has run or ran. ok is false if it has not started.
func Elapsed(job *snapshot.Job, now time.Time) (elapsed time.Duration, ok bool) {
	if job.Started.IsZero() {
		return 0, false
	}
	return state.Times{Start: job.Started, End: job.Ended}.Elapsed(now), true
}
