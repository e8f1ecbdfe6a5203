// Package job implements `vcctl job`. Its commands submit jobs, show their state and why they are waiting, cancel and
// restart them, and print the output of their pods.
//
// Each family of commands is a package: run submits jobs, show lists and explains them, wait waits for them, stream
// connects to their pods, and change modifies and deletes them. Package lookup reads the jobs that are named on the
// command line.
package job

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/change"
	"github.com/vc-batch/vc/internal/cli/job/run"
	"github.com/vc-batch/vc/internal/cli/job/show"
	"github.com/vc-batch/vc/internal/cli/job/stream"
	"github.com/vc-batch/vc/internal/cli/job/wait"
)

// New returns `vcctl job` with all its verbs.
func New(f *cli.Factory) *cobra.Command {
	cmd := cli.NewCommandGroup(f, "job", "Run, list, show and stop jobs", `
		Work with jobs (jobs.batch.volcano.sh): sets of pods that are scheduled, run and
		ended as a unit. In these commands, @latest stands for the newest job in the
		namespace.`, "jobs", "j", "vj", "vcjob")
	cmd.AddCommand(slices.Concat(run.Commands(f), show.Commands(f), wait.Commands(f), stream.Commands(f), change.Commands(f))...)
	return cmd
}
