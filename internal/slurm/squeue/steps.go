package squeue

import (
	"github.com/vc-batch/vc/internal/slurm/listrow"
)

// StepColumns returns the columns for -s. They are the same as the columns for jobs, except that the ID and the name
// belong to the step. Each running job has only its batch step, because no other steps are visible from outside the
// job.
func StepColumns(fields []field) []field {
	steps := make([]field, len(fields))
	for i, f := range fields {
		switch f.Letter {
		case 'i', 'A':
			f.Title = "STEPID"
			f.Value = func(r *listrow.Row) string { return r.DisplayID(0) + ".batch" }
		case 'j':
			f.Value = func(*listrow.Row) string { return "batch" }
		}
		steps[i] = f
	}
	return steps
}
