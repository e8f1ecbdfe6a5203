// Package wait implements `vcctl job wait`, and the parts of waiting that other commands use: following a job until it
// reaches a state, and printing why it is waiting in the meantime.
//
//	In:           watches of Jobs and PodGroups
//	Out:          messages about jobs that meet the condition, are lost or are late; reasons why jobs are waiting
//	Invariants:   a reason is printed after it has persisted for a second, and not after Announcer.Close
//	Concurrency:  an Announcer is safe for concurrent use; its watches and timers run in their own goroutines
package wait

import (
	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// Commands returns the command that waits for jobs.
func Commands(f *cli.Factory) []*cobra.Command {
	return []*cobra.Command{newWait(f, waitForJobs)}
}
