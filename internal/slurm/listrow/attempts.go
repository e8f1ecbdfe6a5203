package listrow

import (
	"cmp"
	"slices"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/submission"
)

// Attempt is an ended attempt to run a job that was followed by a restart.
type Attempt struct {
	// Number is 0 for the first attempt, and the number of the restart for all others.
	Number int32
	// Element is the element of an array, or negative for the whole job.
	Element int32
	// Code is Requeued if nothing but the restart ended the attempt.
	Code   state.Code
	Reason string
	Exit   state.Exit
	// Start is zero if the attempt did not start.
	Start, End time.Time
	Nodes      []string
	// Use holds the amounts that the pods used. It is zero if they were not measured.
	Use launchconfig.Usage
}

// AttemptsOf returns the earlier attempts in the status of a job, oldest first.
func AttemptsOf(job *batchv1alpha1.Job) []Attempt {
	var attempts []Attempt
	for i := range job.Status.Attempts {
		in := &job.Status.Attempts[i]
		attempt := Attempt{Number: in.Number, Element: -1, Code: CodeOfAttempt(in), Reason: state.None, End: in.EndTime.Time, Nodes: in.Nodes}
		if in.StartTime != nil {
			attempt.Start = in.StartTime.Time
		}
		if in.Failure != nil {
			attempt.Reason = SlurmReason(in.Failure.Reason)
			if in.Failure.ExitCode != nil {
				attempt.Exit = state.NewExit(*in.Failure.ExitCode)
			}
		}
		attempts = append(attempts, attempt)
	}
	return attempts
}

// SlurmReason returns Slurm's word for the reason of a failure. Reasons that Slurm does not have stay as they are.
func SlurmReason(text string) string {
	return cmp.Or(reason.Get(reason.Code(text)).Slurm, text, state.None)
}

// CodeOfAttempt returns the state in which an attempt ended that was followed by a restart.
func CodeOfAttempt(attempt *batchv1alpha1.JobAttempt) state.Code {
	switch attempt.Phase {
	case batchv1alpha1.Completed:
		return state.Completed
	case batchv1alpha1.Terminated:
		return state.Cancelled
	case batchv1alpha1.Aborted:
		return state.Suspended
	}
	if attempt.Failure == nil {
		return state.Requeued
	}
	code := state.Code(reason.Get(reason.Code(attempt.Failure.Reason)).SlurmState)
	if !code.HasEnded() || code == "" {
		return state.Failed
	}
	return code
}

// AttemptRows returns the rows of the earlier attempts of a job, oldest first.
func AttemptRows(s *Source, attempts []Attempt) []Row {
	all, _, isArray := batchv1alpha1.ElementsOf(s.Job)
	options, times := submission.OptionsOf(s.Job), state.TimesOf(s.stateFacts(nil))
	var rows []Row
	for _, attempt := range attempts {
		of := *s
		of.Job = jobOfAttempt(s.Job, attempt)
		of.Group, of.Pods, of.PodsRead = nil, nil, true
		row := Row{
			Source: &of, Asked: options, IsEarlier: true,
			State: state.State{Code: attempt.Code, Reason: attempt.Reason}, Exit: attempt.Exit,
			Times: state.Times{Submit: times.Submit, Eligible: times.Eligible, Start: attempt.Start, End: attempt.End},
			Sum:   &state.Pods{Nodes: attempt.Nodes}, RecordedUse: attempt.Use,
		}
		switch {
		case !isArray:
		case attempt.Element < 0:
			row.Elements, row.Folded = slices.Clone(all), true
		default:
			row.Elements = batchv1alpha1.Indices{{First: attempt.Element, Last: attempt.Element}}
			row.Position = all.Position(attempt.Element)
		}
		row.setExitFromState()
		rows = append(rows, row)
	}
	return rows
}

// jobOfAttempt returns a job whose status describes an earlier attempt.
func jobOfAttempt(job *batchv1alpha1.Job, attempt Attempt) *batchv1alpha1.Job {
	of := *job
	of.Status = batchv1alpha1.JobStatus{UserRestarts: attempt.Number}
	return &of
}
