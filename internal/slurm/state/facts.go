package state

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/account"
	"github.com/vc-batch/vc/internal/slurm/launch"
)

// Facts is what is known of a job.
type Facts struct {
	Job *batch.Job
	// Group is its PodGroup; nil: it has none, or nobody looked.
	Group *scheduling.PodGroup
	// Queue is the one that it is in; nil: nobody looked.
	Queue *scheduling.Queue
	// QueueMissing says that somebody looked and there is none.
	QueueMissing bool
	// Pods is what its pods say; nil: nobody looked.
	Pods *Pods
	// Now is the moment that is spoken of.
	Now time.Time
}

// State is where a job, or a part of an array, stands.
type State struct {
	Code Code
	// Reason is one word, as squeue's %r prints it: why it waits, or how it ended; None when nothing is to be said.
	Reason string
}

// None is the reason of a job of which nothing is to be said.
const None = "None"

// Of is the state of a job. Of an array it is that of the whole; see Elements.
func Of(f Facts) State {
	code := codeOf(f)
	return State{Code: code, Reason: reasonOf(f, code)}
}

func phaseOf(job *batch.Job) batch.JobPhase { return cmp.Or(job.Status.State.Phase, batch.Pending) }

func codeOf(f Facts) Code {
	switch phaseOf(f.Job) {
	case batch.Pending:
		if bound(f) {
			return Configuring
		}
		return Pending
	case batch.Running:
		if f.Pods != nil && f.Pods.Live > 0 && f.Pods.Started == 0 && f.Pods.Bound > 0 && f.Pods.Ended == 0 {
			return Configuring
		}
		return Running
	case batch.Restarting:
		return Requeued
	case batch.Completing, batch.Terminating, batch.Aborting:
		return Completing
	case batch.Completed:
		return Completed
	case batch.Aborted:
		if CancelledBy(f.Job) != "" {
			return Cancelled
		}
		return Suspended
	}
	return endOf(f)
}

// bound says whether as many pods as have to run together have nodes, though they have not all started.
func bound(f Facts) bool {
	if f.Pods != nil && f.Pods.Live > 0 {
		return f.Pods.Bound > 0 && int32(f.Pods.Bound+f.Pods.Ended) >= account.Minimum(f.Job)
	}
	return f.Group != nil && f.Group.Status.Phase == scheduling.PodGroupRunning
}

// endOf is how a job ended that did not complete. The job's own word goes first, which is a policy's action where a policy answered a failure; then what
// the controller kept of the failure, and what pods say that are still there.
func endOf(f Facts) Code {
	if wasCancelled(f.Job) || neverReleased(f.Job) {
		return Cancelled
	}
	codes := []reason.Code{reason.Code(f.Job.Status.State.Reason)}
	if failure := f.Job.Status.Failure; failure != nil {
		codes = append(codes, reason.Code(failure.Reason))
		if failure.ExitCode != nil && *failure.ExitCode == launch.ExitCancelled && reason.Code(failure.Reason) == reason.PodFailed && f.Job.Labels[keys.JobID] != "" {
			return Cancelled // the script cancelled its own job
		}
	}
	for _, said := range codes {
		if code := codeFor(said); code != "" {
			return code
		}
	}
	if f.Pods != nil && f.Pods.End != "" {
		return f.Pods.End
	}
	return Failed
}

// commanded is how the message of a state begins that a person asked for by a Command; behind the Command's own message
// it stands in brackets.
const commanded = "command "

// wasCancelled says whether a person ended the job.
func wasCancelled(job *batch.Job) bool {
	s := &job.Status.State
	return CancelledBy(job) != "" || s.Reason == string(bus.TerminateJobAction) && (strings.HasPrefix(s.Message, commanded) || strings.Contains(s.Message, "("+commanded) && strings.HasSuffix(s.Message, ")"))
}

// neverReleased says whether the job was ended because what it waited for could never be: it had asked for that, and never had a pod.
func neverReleased(job *batch.Job) bool {
	ran := slices.ContainsFunc(job.Status.Conditions, func(c batch.JobCondition) bool { return c.Status == batch.Running })
	s := &job.Status
	return job.Annotations[keys.KillOnInvalidDependency] == "true" && s.State.Reason == string(bus.TerminateJobAction) && !ran && s.Succeeded+s.Failed == 0
}

// CancelledBy is who cancelled the job, as far as that was noted; else empty.
func CancelledBy(job *batch.Job) string { return job.Annotations[keys.CancelledBy] }

// ElementCancelledBy is who cancelled an element of an array, by itself or with the whole of it; empty where that was not noted.
func ElementCancelledBy(job *batch.Job, element int32) string {
	by := batch.ArrayCancelledBy(job)
	for _, user := range slices.Sorted(maps.Keys(by)) {
		if by[user].Has(element) {
			return user
		}
	}
	return CancelledBy(job)
}

// codeFor is the state that a job or an element ended in by the code of what it failed of; empty for what is a failure like others.
func codeFor(cause reason.Code) Code {
	switch cause {
	case reason.DeadlineExceeded:
		return Timeout
	case reason.OOMKilled:
		return OutOfMemory
	case reason.Preempted:
		return Preempted
	case reason.Evicted, reason.NodeStopped:
		return NodeFail
	case reason.StartError, reason.PodRefused:
		return BootFail
	}
	return ""
}

// EndState is the state of what ended with a code.
func EndState(code Code) State {
	if word := ended[code]; word != "" {
		return State{code, word}
	}
	return State{code, None}
}
