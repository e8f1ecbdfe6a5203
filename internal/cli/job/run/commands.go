// Package run implements the commands of `vcctl job` that submit jobs: run and rerun.
//
//	In:   flags and files that describe jobs; for rerun, an existing Job
//	Out:  created objects; with --wait and --attach, the outcome and the logs of the jobs
package run

import (
	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// Commands returns the commands that submit jobs.
func Commands(f *cli.Factory) []*cobra.Command {
	return []*cobra.Command{newRun(f, runJobs), newRerun(f, rerunJob)}
}
