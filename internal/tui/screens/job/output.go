package job

import (
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// outputFile returns the name of the output file of a job submitted with sbatch, or "". For an array, it returns the
// pattern of the name, because each element has its own file.
func (j *Job) outputFile(ctx *screenapi.Context) string {
	if j.job == nil {
		return ""
	}
	rows := listrow.RowsOf(&listrow.Source{Job: j.job.Object, Group: j.job.Group, Now: ctx.Now}, false)
	if len(rows) == 0 {
		return ""
	}
	if rows[0].IsArray() {
		return rows[0].Asked.StdOut
	}
	return rows[0].ExpandFile(rows[0].Asked.StdOut)
}

// noOutputReason returns the reason why there is no output file, or "".
func (j *Job) noOutputReason(ctx *screenapi.Context) string {
	if j.outputFile(ctx) == "" {
		return "the job writes to its logs, not to a file (l shows the logs)"
	}
	return ""
}

// copyOutput copies the path of the output file. The file itself is on the nodes and login hosts, not on this
// machine.
func (j *Job) copyOutput(ctx *screenapi.Context) []screenapi.Effect {
	path := j.outputFile(ctx)
	return []screenapi.Effect{screenapi.Copy{What: "output file " + path, Text: path + "\n"}}
}
