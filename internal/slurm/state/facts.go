package state

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/jobstatus"
)

// Facts holds the data about a job.
type Facts struct {
	Job *batchv1alpha1.Job
	// Group is the job's PodGroup. It is nil if the PodGroup does not exist or was not read.
	Group *schedulingv1beta1.PodGroup
	// Queue is the job's queue. It is nil if the queue was not read.
	Queue *schedulingv1beta1.Queue
	// QueueMissing is true if the queue does not exist.
	QueueMissing bool
	// Pods summarizes the job's pods. It is nil if the pods were not read.
	Pods *Pods
	// Now is the current time.
	Now time.Time
}

// State is the state of a job or of part of an array.
type State struct {
	Code Code
	// Reason is a single word, as printed for squeue's %r. It explains why the job is waiting or how it ended, or is
	// None.
	Reason string
}

// None is the reason for jobs without a specific reason.
const None = "None"

// Of returns the state of a job. For an array, this is the state of the whole job. See ElementParts for the elements.
func Of(f Facts) State {
	code := currentCode(f)
	return State{Code: code, Reason: currentReason(f, code)}
}

func phaseOf(job *batchv1alpha1.Job) batchv1alpha1.JobPhase {
	return cmp.Or(job.Status.State.Phase, batchv1alpha1.Pending)
}

func currentCode(f Facts) Code {
	switch phaseOf(f.Job) {
	case batchv1alpha1.Pending:
		if isBound(f) {
			return Configuring
		}
		return Pending
	case batchv1alpha1.Running:
		if f.Pods != nil && f.Pods.isStarting() {
			return Configuring
		}
		return Running
	case batchv1alpha1.Restarting:
		return Requeued
	case batchv1alpha1.Completing, batchv1alpha1.Terminating, batchv1alpha1.Aborting:
		return Completing
	case batchv1alpha1.Completed:
		return Completed
	case batchv1alpha1.Aborted:
		if CancelledBy(f.Job) != "" {
			return Cancelled
		}
		return Suspended
	}
	return finalCode(f)
}

// isBound reports whether the minimum number of pods have nodes, even if not all of these pods have started.
func isBound(f Facts) bool {
	if f.Pods != nil && f.Pods.Live > 0 {
		return f.Pods.Bound > 0 && int32(f.Pods.Bound+f.Pods.Ended) >= jobstatus.MinimumPods(f.Job)
	}
	return f.Group != nil && f.Group.Status.Phase == schedulingv1beta1.PodGroupRunning
}

// finalCode returns the final state of a job that ended without completing. The job's own reason takes precedence. If a
// policy handled a failure, this reason is the policy's action. Next come the failure that the controller recorded and
// the remaining pods.
func finalCode(f Facts) Code {
	if wasCancelled(f.Job) || wasNeverReleased(f.Job) {
		return Cancelled
	}
	codes := []reason.Code{reason.Code(f.Job.Status.State.Reason)}
	if failure := f.Job.Status.Failure; failure != nil {
		codes = append(codes, reason.Code(failure.Reason))
		podFailed := failure.ExitCode != nil && reason.Code(failure.Reason) == reason.PodFailed
		if podFailed && hasCancelledItself(f.Job.Labels, *failure.ExitCode) {
			return Cancelled
		}
	}
	for _, recorded := range codes {
		if code := codeOfReason(recorded); code != "" {
			return code
		}
	}
	if f.Pods != nil && f.Pods.End != "" {
		return f.Pods.End
	}
	return Failed
}

// commanded begins the state message if a user requested the state with a Command. If the Command has a message of its
// own, this text follows that message, in parentheses. The status of a Job, also of old ones, has no other record of
// Commands, so this text is part of the interface to the job controller.
const commanded = "command "

// DeletedReason is the reason in the state of a job that a user deleted before it had ended. The accounting database
// stores jobs with this reason; it does not occur in the API.
const DeletedReason = "Deleted"

// wasCancelled reports whether a user ended the job.
func wasCancelled(job *batchv1alpha1.Job) bool {
	s := &job.Status.State
	if CancelledBy(job) != "" || s.Reason == DeletedReason {
		return true
	}
	hasCommandAtEnd := strings.Contains(s.Message, "("+commanded) && strings.HasSuffix(s.Message, ")")
	isCommanded := hasCommandAtEnd || strings.HasPrefix(s.Message, commanded)
	return isCommanded && s.Reason == string(busv1alpha1.TerminateJobAction)
}

// wasNeverReleased reports whether the job was ended because its dependency could never be met. Such a job has the
// option that requests this behavior, and has never run.
func wasNeverReleased(job *batchv1alpha1.Job) bool {
	s := &job.Status
	if job.Annotations[keys.KillOnInvalidDependency] != "true" || s.State.Reason != string(busv1alpha1.TerminateJobAction) {
		return false
	}
	ran := slices.ContainsFunc(s.Conditions, func(c batchv1alpha1.JobCondition) bool { return c.Status == batchv1alpha1.Running })
	return !ran && s.Succeeded+s.Failed == 0
}

// CancelledBy returns the user who cancelled the job, or "" if the user was not recorded.
func CancelledBy(job *batchv1alpha1.Job) string { return job.Annotations[keys.CancelledBy] }

// ElementCancelledBy returns the user who cancelled an array element or the whole array, or "" if the user was not
// recorded.
func ElementCancelledBy(job *batchv1alpha1.Job, element int32) string {
	by := batchv1alpha1.ArrayCancelledBy(job)
	for _, user := range slices.Sorted(maps.Keys(by)) {
		if by[user].Has(element) {
			return user
		}
	}
	return CancelledBy(job)
}

// codeOfReason returns the final state for the reason of a failure, or "" for an ordinary failure.
func codeOfReason(cause reason.Code) Code {
	if end := Code(reason.Get(cause).SlurmState); end != Failed {
		return end
	}
	return ""
}

// FinalState returns the State for a final code, with the corresponding reason.
func FinalState(code Code) State {
	if cause, bad := ended[code]; bad {
		return State{code, slurmReason(cause)}
	}
	return State{code, None}
}
