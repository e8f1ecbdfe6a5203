// Package change implements the commands of `vcctl job` that change jobs: hold, release, suspend, resume, restart and
// cancel, which share their code (command.go), and scale, edit and delete.
//
//	In:   arguments and files; the selected Jobs
//	Out:  Commands, patches and deletions; with --wait, the state of the jobs afterwards
package change

import (
	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// Commands returns the commands that change jobs.
func Commands(f *cli.Factory) []*cobra.Command {
	return []*cobra.Command{
		newHold(f, issueVerb), newRelease(f, issueVerb), newSuspend(f, issueVerb), newResume(f, issueVerb), newRestart(f, issueVerb), newCancel(f, issueVerb),
		newScale(f, scaleJob), newEdit(f, editJob), newDelete(f, deleteJobs),
	}
}
