// Package show implements the commands of `vcctl job` that show jobs: list, view and explain.
//
//	In:   Jobs, PodGroups, Pods and Events from the API server
//	Out:  tables and texts, which other command groups print as well (tables.go)
package show

import (
	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// Commands returns the commands that show jobs.
func Commands(f *cli.Factory) []*cobra.Command {
	return []*cobra.Command{newList(f, listJobs), newView(f, viewJobs), newExplain(f, explainJobs)}
}
