// Package job is `vcctl job`: submit jobs, see where they stand and why they
// wait, stop them, start them again, read what their pods say.
//
//	In:   arguments and files; Jobs, PodGroups, Pods and Events from the API server
//	Out:  tables and texts; Jobs, Commands and whatever else a file holds, created
//
// What is printed is computed by pure functions (facts.go, why.go, build.go)
// from objects and a moment; the rest reads and writes.
package job

import (
	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// New returns `vcctl job` with all its verbs.
func New(f *cli.Factory) *cobra.Command {
	cmd := cli.Group(f, "job", "Run jobs, see where they stand, stop them", `
		Work with jobs (jobs.batch.volcano.sh): sets of pods that are scheduled, run
		and ended as one. To these commands @latest is the name of the newest job of the
		namespace.`, "jobs", "j", "vj", "vcjob")
	cmd.AddCommand(
		newRun(f, run), newRerun(f, rerun), newScale(f, scale), newEdit(f, edit), newList(f, list), newView(f, view), newExplain(f, explainJobs), newLogs(f, logs), newWait(f, await), newExec(f, execute), newAttach(f, execute),
		newHold(f, issue), newRelease(f, issue), newSuspend(f, issue), newResume(f, issue), newRestart(f, issue), newCancel(f, issue), newDelete(f, remove),
	)
	return cmd
}
