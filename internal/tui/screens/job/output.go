package job

import (
	"github.com/vc-batch/vc/internal/slurm/record"
	"github.com/vc-batch/vc/internal/tui/screen"
)

// output is the file that the job writes to, for a job of sbatch that has one; of an array its pattern, since each element has a file of its own.
func (j *Job) output(ctx *screen.Context) string {
	if j.job == nil {
		return ""
	}
	rows := record.Rows(&record.Source{Job: j.job.Object, Group: j.job.Group, Now: ctx.Now}, false)
	if len(rows) == 0 {
		return ""
	}
	if rows[0].IsArray() {
		return rows[0].Asked.StdOut
	}
	return rows[0].File(rows[0].Asked.StdOut)
}

// noOutput says why there is no such file.
func (j *Job) noOutput(ctx *screen.Context) string {
	if j.output(ctx) == "" {
		return "the job writes to its log, not to a file (l shows the log)"
	}
	return ""
}

// copyOutput copies the path: the file is on the nodes, and where people log in, not here.
func (j *Job) copyOutput(ctx *screen.Context) []screen.Effect {
	path := j.output(ctx)
	return []screen.Effect{screen.Copy{What: "output file " + path, Text: path + "\n"}}
}
