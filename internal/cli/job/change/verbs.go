package change

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/clusterops"
)

// verb is an action that a Command performs on a job, together with its texts.
type verb struct {
	*clusterops.Verb
	aliases []string
	// help, long and examples are the help texts of the command.
	help, long, examples string
	note                 string
}

const podsStop = "pods will be stopped; work since the last checkpoint is lost"

func newSuspend(f *cli.Factory, run func(context.Context, *commandOptions) error) *cobra.Command {
	return newCommand(f, run, verb{
		Verb: clusterops.Suspend,
		help: "Suspend jobs: stop their pods, but keep the jobs",
		long: `
			Suspend jobs: their pods are stopped, but the jobs remain and can be resumed.
			The pods are not paused: work done since their last checkpoint is lost.`,
		examples: `
			# One job, or several
			vcctl job suspend train
			vcctl job suspend train eval

			# All jobs with a label, and wait until their pods are gone
			vcctl job suspend -l team=nlp --yes --wait`,
		note: podsStop,
	})
}

func newResume(f *cli.Factory, run func(context.Context, *commandOptions) error) *cobra.Command {
	return newCommand(f, run, verb{
		Verb: clusterops.Resume,
		help: "Start suspended jobs again",
		long: `
			Resume suspended jobs: they return to the queue and start again as soon as enough
			resources are free.`,
		examples: `
			# One job
			vcctl job resume train

			# All suspended jobs with a label
			vcctl job resume -l team=nlp --yes`,
	})
}

func newRestart(f *cli.Factory, run func(context.Context, *commandOptions) error) *cobra.Command {
	return newCommand(f, run, verb{
		Verb: clusterops.Restart,
		help: "Restart jobs: stop all their pods and start over",
		long: `
			Restart jobs: all their pods are stopped and deleted, including pods that
			succeeded, and the jobs return to the queue. Work done since the last
			checkpoint is lost. A job that has ended cannot be restarted: submit it again.`,
		examples: `
			# One job
			vcctl job restart train

			# Wait until its old pods are gone and it is queued again
			vcctl job restart train --wait --timeout 5m`,
		note: podsStop,
	})
}

func newCancel(f *cli.Factory, run func(context.Context, *commandOptions) error) *cobra.Command {
	return newCommand(f, run, verb{
		Verb: clusterops.Cancel, aliases: []string{"terminate", "stop"},
		help: "End jobs permanently, but keep their records",
		long: `
			Cancel jobs: their pods are stopped permanently. The jobs remain in phase
			Terminated so that you can inspect them;  ` + "`vcctl job delete`" + ` removes them, and
			` + "`vcctl job suspend`" + ` stops jobs so that they can be resumed later.`,
		examples: `
			# One job
			vcctl job cancel train

			# All waiting and running jobs in the namespace, without confirmation
			vcctl job cancel --all --yes`,
		note: podsStop,
	})
}

func newHold(f *cli.Factory, run func(context.Context, *commandOptions) error) *cobra.Command {
	return newCommand(f, run, verb{
		Verb: clusterops.Hold,
		help: "Keep pending jobs from starting",
		long: `
			Hold jobs: a pending job does not start until it is released. Time spent
			on hold still counts as waiting time. To stop running jobs, use ` + "`vcctl job suspend`" + `.`,
		examples: `
			# One job
			vcctl job hold eval

			# All pending jobs with a label
			vcctl job hold -l team=nlp --yes`,
	})
}

func newRelease(f *cli.Factory, run func(context.Context, *commandOptions) error) *cobra.Command {
	return newCommand(f, run, verb{
		Verb: clusterops.Release,
		help: "Let held jobs start",
		long: `
			Release jobs that were held by ` + "`vcctl job hold`" + ` or ` + "`scontrol hold`" + `: they start as soon as
			enough resources are free. Jobs that
			were held by an administrator stay held.`,
		examples: `
			# One job
			vcctl job release eval

			# All in the namespace
			vcctl job release --all --yes`,
	})
}
