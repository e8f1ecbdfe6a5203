// Package job implements `vcctl job`. Its commands submit jobs, show their state and why they wait, cancel and
// restart them, and print the output of their pods.
//
//	In:   arguments and files; Jobs, PodGroups, Pods and Events from the API server
//	Out:  tables and texts; created Jobs, Commands and all other objects in a file
//
// Pure functions (facts.go, build.go) compute the output from objects and a time; the rest reads and writes.
package job

import (
	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// New returns `vcctl job` with all its verbs.
func New(f *cli.Factory) *cobra.Command {
	cmd := cli.Group(f, "job", "Run, list, show and stop jobs", `
		Work with jobs (jobs.batch.volcano.sh): sets of pods that are scheduled, run and
		ended as a unit. In these commands, @latest stands for the newest job in the
		namespace.`, "jobs", "j", "vj", "vcjob")
	cmd.AddCommand(
		newRun(f, run), newRerun(f, rerun), newScale(f, scale), newEdit(f, edit), newList(f, list), newView(f, view), newExplain(f, explainJobs), newLogs(f, logs), newWait(f, await), newExec(f, execute), newAttach(f, execute),
		newHold(f, issue), newRelease(f, issue), newSuspend(f, issue), newResume(f, issue), newRestart(f, issue), newCancel(f, issue), newDelete(f, remove),
	)
	return cmd
}
