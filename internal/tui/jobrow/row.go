package jobrow

import (
	"cmp"
	"fmt"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// Row represents a job, or those elements of an array that are in the same state.
type Row struct {
	Job *snapshot.Job
	// Part holds the elements that the row of an unfolded array represents; nil means the whole job.
	Part *state.Part
}

// UniqueID returns a unique ID of a row.
func UniqueID(r Row) string {
	if r.Part == nil {
		return string(r.Job.UID)
	}
	return string(r.Job.UID) + "_" + r.Part.Elements.String() + string(r.Part.State.Code)
}

// JobsToShow returns the jobs to show, which are those in the namespace and, if Mine is set, only the user's own.
func JobsToShow(ctx *screenapi.Context, jobs []*snapshot.Job) []*snapshot.Job {
	if ctx.Namespace == "" && !ctx.Mine {
		return jobs
	}
	var kept []*snapshot.Job
	for _, job := range jobs {
		inNamespace := ctx.Namespace == "" || job.Namespace == ctx.Namespace
		if inNamespace && (!ctx.Mine || job.User == ctx.User) {
			kept = append(kept, job)
		}
	}
	return kept
}

// RowsOfJobs returns the rows of the jobs. Arrays for which unfolded returns true are split into their parts.
func RowsOfJobs(jobs []*snapshot.Job, now time.Time, unfolded func(*snapshot.Job) bool) []Row {
	rows := make([]Row, 0, len(jobs))
	for _, job := range jobs {
		if !IsArray(job) || unfolded == nil || !unfolded(job) {
			rows = append(rows, Row{Job: job})
			continue
		}
		parts, ok := state.ElementParts(job.StateFacts(now))
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

// IsArray reports whether the job is an array.
func IsArray(job *snapshot.Job) bool {
	_, _, ok := batchv1alpha1.ElementsOf(job.Object)
	return ok
}

// NumberAndElements returns the job's number and elements, such as 918, 922_[9-63%8] or 922_1. It returns "-" if the
// job has no number.
func (r Row) NumberAndElements() string {
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
	showsLimit := r.Part == nil || r.SlurmStateCode() == string(state.Pending)
	if n, err := batchv1alpha1.ArrayLimit(r.Job.Object); showsLimit && err == nil && n > 0 {
		limit = fmt.Sprintf("%%%d", n)
	}
	return id + "_[" + elements.String() + limit + "]"
}

// StateText returns the state of the row: the phase that vcctl job list shows, or Slurm's code.
func (r Row) StateText(words screenapi.Vocabulary) string {
	switch {
	case words == screenapi.SlurmWords:
		return r.SlurmStateCode()
	case r.Part != nil:
		return phaseOfCode(r.Part.State.Code)
	}
	return string(r.Job.Phase)
}

// phaseOfCode returns the phase of a job in one of Slurm's states. Only array tasks, which have no phase, need it.
func phaseOfCode(code state.Code) string {
	switch code {
	case state.Pending, state.Configuring:
		return string(batchv1alpha1.Pending)
	case state.Running:
		return string(batchv1alpha1.Running)
	case state.Completing:
		return string(batchv1alpha1.Completing)
	case state.Completed:
		return string(batchv1alpha1.Completed)
	case state.Suspended:
		return string(batchv1alpha1.Aborted)
	case state.Requeued:
		return string(batchv1alpha1.Restarting)
	case state.Cancelled:
		return string(batchv1alpha1.Terminated)
	}
	return string(batchv1alpha1.Failed)
}

// ReasonText returns the reason why the row waits or has ended: the code that vcctl job list shows, or Slurm's reason.
func (r Row) ReasonText(words screenapi.Vocabulary) string {
	if words == screenapi.SlurmWords {
		return r.Reason()
	}
	if isOtherStateThanJob := r.Part != nil && r.SlurmStateCode() != r.Job.State; isOtherStateThanJob {
		return ""
	}
	return r.Job.Code
}

// SlurmStateCode returns Slurm's code for the state of the row.
func (r Row) SlurmStateCode() string {
	if r.Part != nil {
		return string(r.Part.State.Code)
	}
	return r.Job.State
}

// Reason returns Slurm's reason why the row waits or has ended.
func (r Row) Reason() string {
	if r.Part == nil {
		return r.Job.Reason
	}
	if r.Part.State.Reason == state.None {
		return ""
	}
	return r.Part.State.Reason
}

// RequestedGPUs returns the number of GPUs that the row requests. For a part of an array, it returns the part's share.
func (r Row) RequestedGPUs() int64 { return r.shareOfPart(r.Job.GPUs) }

// RequestedMilliCPU returns the CPU that the row requests, in thousandths, like RequestedGPUs.
func (r Row) RequestedMilliCPU() int64 { return r.shareOfPart(r.Job.MilliCPU) }

// RequestedMemory returns the bytes of memory that the row requests, like RequestedGPUs.
func (r Row) RequestedMemory() int64 { return r.shareOfPart(r.Job.MemoryBytes) }

// shareOfPart returns the share of a job's amount that belongs to the row.
func (r Row) shareOfPart(total int64) int64 {
	if r.Part == nil {
		return total
	}
	elements, _, ok := batchv1alpha1.ElementsOf(r.Job.Object)
	if !ok || elements.Count() == 0 {
		return total
	}
	return total * int64(r.Part.Elements.Count()) / int64(elements.Count())
}

// GPUsInUse returns the number of GPUs in use by those pods of the row that have nodes, running or not. For a part of
// an array, or if pods are not visible, it returns the row's request once the row has nodes.
func (r Row) GPUsInUse() int64 {
	if r.Part != nil || len(r.Job.Pods) == 0 {
		if r.HasEnded() || (r.IsWaiting() && state.Code(r.SlurmStateCode()) != state.Configuring) {
			return 0
		}
		return r.RequestedGPUs()
	}
	var held int64
	for _, pod := range r.Job.Pods {
		if pod.Node == "" || pod.Asks == nil {
			continue
		}
		for name, amount := range pod.Asks.Devices {
			if render.IsGPU(name) {
				held += amount
			}
		}
	}
	return held
}

// NodeCount returns the number of nodes. For a part of an array, it returns the number for the whole array, because
// the nodes of individual elements are unknown.
func (r Row) NodeCount() int {
	if r.Part != nil && (r.IsWaiting() || r.HasEnded()) {
		return 0
	}
	return r.Job.NodeCount
}

// IsWaiting reports whether the row has not started or is suspended.
func (r Row) IsWaiting() bool {
	switch state.Code(r.SlurmStateCode()) {
	case state.Pending, state.Requeued, state.Configuring, state.Suspended:
		return true
	}
	return false
}

// IsQueued reports whether a Tally counts the row as pending or held.
func (r Row) IsQueued() bool {
	var t Tally
	t.Add(r)
	return t.Pending+t.Held > 0
}

// HasEnded reports whether the row has ended.
func (r Row) HasEnded() bool { return state.Code(r.SlurmStateCode()).HasEnded() }

// ElapsedTime returns how long a job has been running, or ran if it has ended. ok is false if it has not started.
func ElapsedTime(job *snapshot.Job, now time.Time) (elapsed time.Duration, ok bool) {
	if job.Started.IsZero() {
		return 0, false
	}
	return state.Times{Start: job.Started, End: job.Ended}.ElapsedTime(now), true
}
