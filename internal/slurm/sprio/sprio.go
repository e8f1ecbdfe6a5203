// Package sprio implements the output of sprio: the values that determine the order of pending jobs.
//
//	In:   rows of pending jobs
//	Out:  columns
//
// Slurm combines weighted factors into a single number. Here, the share of a queue determines when the queue is served,
// and the jobs in a queue are ordered by priority and then by the policies. Therefore, sprio prints these values and
// the resulting place in the queue.
package sprio

import (
	"strconv"

	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
)

// The default formats of sprio.
const (
	Default = "%.15i %9r %.10Y %.10F %.10O"
	Verbose = "%.15i %9r %.8u %.10o %.10Y %.10F %.10W %.10O"
)

// ColumnFields returns all columns.
func ColumnFields() []tableformat.Field[*listrow.Row] {
	type row = *listrow.Row
	column := func(letter byte, title string, value func(row) string) tableformat.Field[row] {
		return tableformat.NewField(letter, "", title, 0, value)
	}
	return []tableformat.Field[row]{
		column('i', "JOBID", func(r row) string { return r.DisplayID(0) }),
		column('r', "PARTITION", func(r row) string { return r.PartitionName() }),
		column('u', "USER", func(r row) string { return r.UserName() }),
		column('o', "ACCOUNT", func(r row) string { return r.AccountName() }),
		column('n', "QOS_NAME", func(r row) string { return r.QOSName() }),
		column('c', "CLUSTER", func(r row) string { return r.Cluster }),
		column('Y', "PRIORITY", func(r row) string { return strconv.FormatInt(r.Priority, 10) }),
		column('Q', "QOS", func(r row) string { return strconv.FormatInt(r.Priority, 10) }),
		column('F', "FAIRSHARE", func(r row) string { return shareText(r) }),
		column('W', "WEIGHT", func(r row) string { return weightText(r) }),
		column('O', "PLACE", func(r row) string { return placeText(r) }),
	}
}

// shareText returns the percentage of the queue's deserved resources that are in use. The queue with the lowest share
// is served next.
func shareText(r *listrow.Row) string {
	if r.Queue == nil {
		return "N/A"
	}
	return strconv.Itoa(int(r.Queue.Status.Share)) + "%"
}

func weightText(r *listrow.Row) string {
	if r.Queue == nil {
		return "N/A"
	}
	return strconv.Itoa(int(r.Queue.Spec.Weight))
}

func placeText(r *listrow.Row) string {
	if n := r.QueuePlace(); n > 0 {
		return strconv.Itoa(n)
	}
	return "N/A"
}
