package slurm

import "github.com/vc-batch/vc/internal/slurm/getopt"

// Listing are the options of the programs that list jobs, nodes and queues, or choose jobs.
var Listing = []getopt.Table{squeueTable, sacctTable, sinfoTable, sprioTable, sshareTable, scancelTable}

// Filters says whether options of a group choose what is listed.
func Filters(group string) bool { return group == filters || group == whichNodes }
