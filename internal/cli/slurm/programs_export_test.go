package slurm

import (
	"slices"

	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
)

// Listing returns the option tables of the programs that list jobs, nodes and queues, or that select jobs.
func Listing() []*getopt.Table {
	var tables []*getopt.Table
	for _, p := range programs {
		if slices.Contains([]string{"squeue", "sacct", "sinfo", "sprio", "sshare", "sstat", "scancel"}, p.Table.Program) {
			tables = append(tables, p.Table)
		}
	}
	return tables
}

// Filters reports whether the options of a group select what is listed.
func Filters(group string) bool { return group == program.FilterGroup || group == "Which nodes" }
