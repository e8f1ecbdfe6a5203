package slurm

import "github.com/vc-batch/vc/internal/slurm/getopt"

// Listing holds the options of the programs that list jobs, nodes and queues, or that select jobs.
var Listing = []getopt.Table{squeueTable, sacctTable, sinfoTable, sprioTable, sshareTable, scancelTable}

// Filters reports whether the options of a group select what is listed.
func Filters(group string) bool { return group == filters || group == whichNodes }
