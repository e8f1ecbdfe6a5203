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
	cmd := cli.NewCommandGroup(f, "job", "Run, list, show and stop jobs", `
		Work with jobs (jobs.batch.volcano.sh): sets of pods that are scheduled, run and
		ended as a unit. In these commands, @latest stands for the newest job in the
		namespace.`, "jobs", "j", "vj", "vcjob")
	cmd.AddCommand(
		newRun(f, runJobs), newRerun(f, rerunJob), newScale(f, scaleJob), newEdit(f, editJob), newList(f, listJobs), newView(f, viewJobs), newExplain(f, explainJobs), newLogs(f, printLogs), newWait(f, waitForJobs), newExec(f, runInPod), newAttach(f, runInPod),
		newHold(f, issueVerb), newRelease(f, issueVerb), newSuspend(f, issueVerb), newResume(f, issueVerb), newRestart(f, issueVerb), newCancel(f, issueVerb), newDelete(f, deleteJobs),
	)
	return cmd
}
