package listing

import (
	"context"
	"io"
	"slices"

	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/sstat"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

var sstatTable = getopt.Table{Program: "sstat", Options: []getopt.Option{
	{Long: "jobs", Short: 'j', Arg: getopt.Required, Value: "LIST", Help: "The running jobs: 42, 42_7 or 42.batch", Group: program.FilterGroup},
	{Long: "allsteps", Short: 'a', NoEffect: true, Help: "No effect: usage is measured for each job, not for each step", Group: program.FilterGroup},
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "LIST", Help: "Clusters to query: contexts of the kubeconfig", Group: program.FilterGroup},
	{Long: "format", Short: 'o', Arg: getopt.Required, Value: "FIELDS", Help: "Columns to print: jobid,maxrss%20", Group: program.OutputGroup},
	{Long: "fields", Arg: getopt.Required, Hidden: true, Alias: "format"},
	{Long: "helpformat", Short: 'e', Help: "List the available columns", Group: program.OutputGroup},
	{Long: "noheader", Short: 'n', Help: "Do not print the header", Group: program.OutputGroup},
	{Long: "parsable", Short: 'p', Help: "Print | after each column", Group: program.OutputGroup},
	{Long: "parsable2", Short: 'P', Help: "Print | between columns", Group: program.OutputGroup},
	{Long: "noconvert", Help: "Print memory in KiB", Group: program.OutputGroup},
	{Long: "pidformat", Short: 'i', Help: "Not supported: processes of pods are not visible from outside", Group: program.OutputGroup},
	{Long: "verbose", Short: 'v', Help: "Report options without effect", Group: program.OutputGroup},
}}

// Sstat shows what running jobs have used so far.
var Sstat = program.Program{Table: &sstatTable, Run: runSstat,
	Short: "Show the CPU time and memory that running jobs used so far",
	Long: `
		For each running job, show the CPU time and the peak of the memory of its pods. Each
		pod counts as a task, and its usage includes all steps. The usage is measured at
		intervals, so the values are some seconds old on the nodes of vc-local, and a minute
		or more on kubelets. For kubelets, the cluster needs vc-accounting.`,
	Example: `
		# A running job
		vcctl slurm sstat -j 36

		# In a format for scripts
		vcctl slurm sstat -n -P -o JobID,AveCPU,MaxRSS,MaxRSSNode -j 36

		# List the available columns
		vcctl slurm sstat -e`,
}

func runSstat(ctx context.Context, c *program.Call) error {
	if err := c.RejectUnsupported(map[string]string{"pidformat": "processes of pods are not visible from outside"}); err != nil {
		return err
	}
	style := sstat.Style{Exact: c.Parsed.Has("noconvert")}
	if c.Parsed.Has("helpformat") {
		return printFieldNames(c, style.ColumnFields())
	}
	format, given := c.Parsed.LastValue("format")
	if !given {
		format = sstat.Default
	}
	columns, err := tableformat.ParseSized(format, style.ColumnFields())
	if err != nil {
		return usererror.Errorf("sstat -e lists the columns", "%s", err)
	}
	refs, err := readSstatJobs(c)
	if err != nil {
		return err
	}
	return c.InClustersParallel("\n", func(one *program.Call, _ bool) error {
		lines, err := readSstatLines(ctx, one, refs)
		if err != nil {
			return err
		}
		_, err = io.WriteString(one.Factory.Streams.Out, columns.FormatTable(lines, outputForm(c)))
		return err
	})
}

// readSstatJobs returns the jobs in the command line.
func readSstatJobs(c *program.Call) ([]optionvalue.Job, error) {
	if len(c.Parsed.Operands) > 0 {
		return nil, usererror.Errorf("specify jobs with -j", "Unrecognized option: %s", c.Parsed.Operands[0])
	}
	if !c.Parsed.Has("jobs") {
		return nil, usererror.Errorf("for example: sstat -j 42", "specify running jobs with -j")
	}
	refs, err := program.ParseJobWords(c.Parsed.AllValues("jobs"))
	if err != nil {
		return nil, err
	}
	if err := c.RejectEmptyLists(refs, "jobs"); err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if ref.Step != "" && ref.Step != sstat.BatchStep {
			return nil, usererror.Errorf("use the job without a step: its line includes all steps; sacct shows the usage of steps that have ended",
				"the usage of step %s cannot be measured while it runs", ref)
		}
	}
	return refs, nil
}

// readSstatLines returns the lines of the running jobs to which the references refer. A reference to no running job is an
// error.
func readSstatLines(ctx context.Context, c *program.Call, refs []optionvalue.Job) ([]*sstat.Line, error) {
	read, err := clusterdata.ReadView(ctx, c, clusterdata.Wants{Named: refs, Pods: true})
	if err != nil {
		return nil, err
	}
	if err := read.CheckNames(refs); err != nil {
		return nil, err
	}
	rows := slices.DeleteFunc(clusterdata.JobRows(c, read, false), func(r *listrow.Row) bool { return r.State.Code.BaseCode() != state.Running })
	slices.SortStableFunc(rows, listrow.CompareByNumber)
	var lines []*sstat.Line
	for _, r := range rows {
		if slices.ContainsFunc(refs, r.MatchesReference) {
			lines = append(lines, sstat.NewLine(r))
		}
	}
	for _, ref := range refs {
		if !slices.ContainsFunc(lines, func(l *sstat.Line) bool { return l.MatchesReference(ref) }) {
			return nil, usererror.Errorf("sacct shows what ended jobs used, and squeue why a job waits", "no steps running for job %s", ref)
		}
	}
	if slices.ContainsFunc(lines, func(l *sstat.Line) bool { return len(l.Measured) == 0 }) {
		c.PrintNotef("note", "the usage of some jobs was not measured yet")
	}
	return lines, nil
}
