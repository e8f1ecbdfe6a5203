package job

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
)

// verb is what a Command does to a job, and how that is spoken of.
type verb struct {
	name    string
	aliases []string
	action  busv1alpha1.Action
	done    string
	// help, long and examples are the texts of the command.
	help, long, examples string
	// reached says whether the Command, given to the job as it was before, has taken effect.
	reached func(before, now *batchv1alpha1.Job) bool
	// already is what is said, and all that is done, for a job in a phase where there is nothing to do.
	already func(batchv1alpha1.JobPhase) string
	// refuse says why a job in this phase cannot be acted on; "" when it can.
	refuse func(batchv1alpha1.JobPhase) string
	note   string
}

// inPhase is the effect of a Command that leads to one of these phases.
func inPhase(wanted ...batchv1alpha1.JobPhase) func(before, now *batchv1alpha1.Job) bool {
	return func(_, now *batchv1alpha1.Job) bool { return slices.Contains(wanted, phaseOf(now)) }
}

// suspended says whether the job rests, or is about to.
func suspended(phase batchv1alpha1.JobPhase) bool {
	return phase == batchv1alpha1.Aborted || phase == batchv1alpha1.Aborting
}

// afterEnd refuses jobs that have ended, with what to do instead.
func afterEnd(instead string) func(batchv1alpha1.JobPhase) string {
	return func(phase batchv1alpha1.JobPhase) string {
		if finished(phase) {
			return "it has ended; " + instead
		}
		return ""
	}
}

const podsStop = "pods are stopped; work since the last checkpoint is lost"

func newSuspend(f *cli.Factory, run func(context.Context, *commandOptions) error) *cobra.Command {
	return newCommand(f, run, verb{
		name: "suspend", action: busv1alpha1.AbortJobAction, done: "suspended",
		help: "Stop the pods of jobs, keep the jobs",
		long: `
			Suspend jobs: their pods are stopped, the job stays and can be resumed. This is
			no pause: what the pods did since their last checkpoint is lost.`,
		examples: `
			# One job, or several
			vcctl job suspend train
			vcctl job suspend train eval

			# All jobs with a label, and wait until their pods are gone
			vcctl job suspend -l team=nlp --yes --wait`,
		reached: inPhase(batchv1alpha1.Aborted),
		refuse:  afterEnd("there is nothing to suspend"),
		already: func(phase batchv1alpha1.JobPhase) string {
			if suspended(phase) {
				return "suspended already"
			}
			return ""
		},
		note: podsStop,
	})
}

func newResume(f *cli.Factory, run func(context.Context, *commandOptions) error) *cobra.Command {
	return newCommand(f, run, verb{
		name: "resume", action: busv1alpha1.ResumeJobAction, done: "resumed",
		help: "Start suspended jobs again",
		long: `
			Resume suspended jobs: they go back to the queue and start again as soon as
			there is room for them.`,
		examples: `
			# One job
			vcctl job resume train

			# All suspended jobs with a label
			vcctl job resume -l team=nlp --yes`,
		reached: inPhase(batchv1alpha1.Pending, batchv1alpha1.Running, batchv1alpha1.Restarting, batchv1alpha1.Completing, batchv1alpha1.Completed),
		refuse:  afterEnd("run it anew"),
		already: func(phase batchv1alpha1.JobPhase) string {
			if !suspended(phase) {
				return "is not suspended"
			}
			return ""
		},
	})
}

func newRestart(f *cli.Factory, run func(context.Context, *commandOptions) error) *cobra.Command {
	return newCommand(f, run, verb{
		name: "restart", action: busv1alpha1.RestartJobAction, done: "restarted",
		help: "Stop all pods of jobs and start them again",
		long: `
			Restart jobs: all their pods are stopped, those that succeeded as well, and
			the jobs go back to the queue. What the pods did since their last checkpoint
			is lost. A job that has ended cannot be restarted: run it anew.`,
		examples: `
			# One job
			vcctl job restart train

			# And wait until its old pods are gone and it is queued again
			vcctl job restart train --wait --timeout 5m`,
		reached: func(before, now *batchv1alpha1.Job) bool {
			return now.Status.Version > before.Status.Version && phaseOf(now) != batchv1alpha1.Restarting
		},
		refuse: func(phase batchv1alpha1.JobPhase) string {
			if suspended(phase) {
				return "it is suspended; resume it"
			}
			return afterEnd("run it anew")(phase)
		},
		already: func(phase batchv1alpha1.JobPhase) string {
			if phase == batchv1alpha1.Restarting {
				return "is being restarted already"
			}
			return ""
		},
		note: podsStop,
	})
}

func newCancel(f *cli.Factory, run func(context.Context, *commandOptions) error) *cobra.Command {
	return newCommand(f, run, verb{
		name: "cancel", aliases: []string{"terminate", "stop"}, action: busv1alpha1.TerminateJobAction, done: "cancelled",
		help: "End jobs for good, keep them for the record",
		long: `
			Cancel jobs: their pods are stopped for good. The job stays as Terminated, so
			that it can be looked at; ` + "`vcctl job delete`" + ` removes it, and
			` + "`vcctl job suspend`" + ` stops a job that is to go on later.`,
		examples: `
			# One job
			vcctl job cancel train

			# Everything of a namespace that still waits or runs, without a question
			vcctl job cancel --all --yes`,
		reached: inPhase(batchv1alpha1.Terminated),
		refuse: func(phase batchv1alpha1.JobPhase) string {
			if suspended(phase) {
				return "it is suspended and none of its pods runs; delete or resume it"
			}
			return ""
		},
		already: func(phase batchv1alpha1.JobPhase) string {
			if finished(phase) || phase == batchv1alpha1.Terminating {
				return "has ended already"
			}
			return ""
		},
		note: podsStop,
	})
}
