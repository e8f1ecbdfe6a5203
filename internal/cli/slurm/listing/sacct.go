package listing

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/sacct"
	"github.com/vc-batch/vc/internal/slurm/squeue"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
	"github.com/vc-batch/vc/internal/usererror"
)

var sacctTable = getopt.Table{Program: "sacct", Options: []getopt.Option{
	{Long: "accounts", Short: 'A', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs of these accounts", Group: program.FilterGroup},
	{Long: "allusers", Short: 'a', Help: "Jobs of all users", Group: program.FilterGroup},
	{Long: "jobs", Short: 'j', Arg: getopt.Required, Value: "LIST", Help: "Only these jobs: 42, 42_7, 42.0", Group: program.FilterGroup},
	{Long: "name", Arg: getopt.Required, Value: "LIST", Help: "Show only jobs with these names", Group: program.FilterGroup},
	{Long: "nodelist", Short: 'N', Arg: getopt.Required, Value: "HOSTS", Help: "Show only jobs on these Kubernetes nodes", Group: program.FilterGroup},
	{Long: "partition", Short: 'r', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs in these partitions (queues)", Group: program.FilterGroup},
	{Long: "qos", Short: 'q', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs with these qualities of service", Group: program.FilterGroup},
	{Long: "state", Short: 's', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs that were in these states", Group: program.FilterGroup},
	{Long: "starttime", Short: 'S', Arg: getopt.Required, Value: "TIME", Help: "Show only jobs that were pending or running after this time", Group: program.FilterGroup},
	{Long: "endtime", Short: 'E', Arg: getopt.Required, Value: "TIME", Help: "Show only jobs that were pending or running before this time", Group: program.FilterGroup},
	{Long: "truncate", Short: 'T', Help: "Limit the start and end times to the range of -S and -E", Group: program.FilterGroup},
	{Long: "user", Short: 'u', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs of these users (default: your jobs)", Group: program.FilterGroup},
	{Long: "uid", Arg: getopt.Required, Value: "LIST", Help: "Same as --user", Group: program.FilterGroup},
	{Long: "wckeys", Short: 'W', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs with these workload characterization keys", Group: program.FilterGroup},
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "LIST", Help: "Clusters to query: contexts of the kubeconfig, or all", Group: program.FilterGroup},
	{Long: "cluster", Arg: getopt.Required, Value: "LIST", Hidden: true, Exact: true},
	{Long: "allclusters", Short: 'L', Help: "Query all contexts of the kubeconfig", Group: program.FilterGroup},
	{Long: "local", NoEffect: true, Help: "No effect: only one cluster is shown unless --clusters is given", Group: program.FilterGroup},
	{Long: "federation", Help: "Not supported: clusters are not federated", Group: program.FilterGroup},
	{Long: "group", Short: 'g', Arg: getopt.Required, Value: "LIST", Help: "Not supported: jobs have no group", Group: program.FilterGroup},
	{Long: "gid", Arg: getopt.Required, Value: "LIST", Help: "Not supported: jobs have no group", Group: program.FilterGroup},
	{Long: "file", Short: 'f', Arg: getopt.Required, Value: "FILE", Help: "Not supported: jobs are not recorded in an accounting file", Group: program.FilterGroup},
	{Long: "associations", Short: 'x', Arg: getopt.Required, Value: "LIST", Help: "Not supported: associations have no IDs", Group: program.FilterGroup},
	{Long: "nnodes", Short: 'i', Arg: getopt.Required, Value: "N[-MAX]", Help: "Show only jobs that ran on this number of nodes", Group: program.FilterGroup},
	{Long: "ncpus", Short: 'I', Arg: getopt.Required, Value: "N[-MAX]", Help: "Show only jobs that ran on this number of CPUs", Group: program.FilterGroup},
	{Long: "timelimit-min", Short: 'k', Arg: getopt.Required, Value: "TIME", Help: "Show only jobs with this time limit; with -K, with at least this limit", Group: program.FilterGroup},
	{Long: "timelimit-max", Short: 'K', Arg: getopt.Required, Value: "TIME", Help: "With -k, show only jobs with at most this time limit", Group: program.FilterGroup},
	{Long: "reason", Short: 'R', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs with these reasons", Group: program.FilterGroup},
	{Long: "constraints", Short: 'C', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs with these constraints", Group: program.FilterGroup},
	{Long: "flags", Short: 'F', Arg: getopt.Required, Value: "LIST", Help: "Not supported: jobs do not have these flags", Group: program.FilterGroup},
	{Long: "duplicates", Short: 'D', Help: "Print all attempts of restarted jobs, not only the last", Group: program.FilterGroup},
	{Long: "allocations", Short: 'X', Help: "Print only jobs, not their batch scripts and steps", Group: program.OutputGroup},
	{Long: "array", Help: "Print one line for each pending task of an array", Group: program.OutputGroup},
	{Long: "brief", Short: 'b', Help: "Print fewer columns", Group: program.OutputGroup},
	{Long: "long", Short: 'l', Help: "Print more columns", Group: program.OutputGroup},
	{Long: "format", Short: 'o', Arg: getopt.Required, Value: "FIELDS", Help: "Columns to print: jobid,state%20", Group: program.OutputGroup},
	{Long: "helpformat", Short: 'e', Help: "List the available columns", Group: program.OutputGroup},
	{Long: "noheader", Short: 'n', Help: "Do not print the header", Group: program.OutputGroup},
	{Long: "parsable", Short: 'p', Help: "Print | after each column", Group: program.OutputGroup},
	{Long: "parsable2", Short: 'P', Help: "Print | between columns", Group: program.OutputGroup},
	{Long: "delimiter", Arg: getopt.Required, Value: "TEXT", Help: "Separate columns with this text instead of |", Group: program.OutputGroup},
	{Long: "units", Arg: getopt.Required, Value: "K|M|G|T|P", Help: "Print memory in this unit: K, M, G, T or P", Group: program.OutputGroup},
	{Long: "noconvert", NoEffect: true, Help: "No effect: memory is printed in a suitable unit; see --units", Group: program.OutputGroup},
	{Long: "expand-patterns", NoEffect: true, Help: "No effect: patterns in file names are always expanded", Group: program.OutputGroup},
	{Long: "json", Arg: getopt.Optional, Value: "VERSION", Help: "Print JSON", Group: program.OutputGroup},
	{Long: "yaml", Arg: getopt.Optional, Value: "VERSION", Help: "Print YAML", Group: program.OutputGroup},
	{Long: "completion", Short: 'c', Help: "Not supported: job completions are not logged", Group: program.OutputGroup},
	{Long: "batch-script", Short: 'B', Help: "Print the batch scripts of the jobs given with -j", Group: program.OutputGroup},
	{Long: "env-vars", Help: "Print the submission environment of each job given with -j", Group: program.OutputGroup},
	{Long: "verbose", Short: 'v', Help: "Report options without effect", Group: program.OutputGroup},
}}

// Sacct lists jobs and their steps, and shows how they ended.
var Sacct = program.Program{Table: &sacctTable, Run: runSacct,
	Short: "List current and ended jobs and their steps",
	Long: `
		List jobs, batch scripts and steps, with their exit codes and the resources that
		they used. Deleted jobs are listed if the cluster has an accounting database. Without
		one, ended jobs are listed until their ttlSecondsAfterFinished has passed.`,
	Example: `
		# Your jobs since midnight
		vcctl slurm sacct

		# One job, in a format for scripts
		vcctl slurm sacct -X -n -P -o JobID,State -j 42

		# All attempts of a job that was restarted
		vcctl slurm sacct -D -X -j 42 -o JobID,State,ExitCode,Start,End,NodeList

		# List the available columns
		vcctl slurm sacct -e`,
}

// sacctView holds the parsed options of sacct.
type sacctView struct {
	filter  squeue.Filter
	states  []state.Code
	window  sacct.Window
	sizes   sacct.Sizes
	columns tableformat.Columns[*sacct.Line]
	form    tableformat.Form
}

func runSacct(ctx context.Context, c *program.Call) error {
	err := c.RejectUnsupported(map[string]string{"federation": program.NoFederations, "group": "jobs have no group", "gid": "jobs have no group", "file": "jobs are not recorded in an accounting file", "associations": "associations have no IDs; use -A and -u",
		"completion": "job completions are not logged", "flags": "jobs do not have these flags"})
	if err != nil {
		return err
	}
	style := sacct.Style{Time: timeformat.NewStyle(c.Factory.Streams.Env("SLURM_TIME_FORMAT"))}
	if units, ok := c.Parsed.LastValue("units"); ok {
		if len(units) != 1 || !strings.ContainsAny(units, "KMGTP") {
			return usererror.Errorf("use the unit K, M, G, T or P", "Invalid unit type: %s", units)
		}
		style.Units = units[0]
	}
	if c.Parsed.Has("helpformat") {
		return printFieldNames(c, style.ColumnFields())
	}
	if c.Parsed.Has("batch-script") || c.Parsed.Has("env-vars") {
		return printSacctTexts(ctx, c)
	}
	v, err := newSacctView(ctx, c, style)
	if err != nil {
		return err
	}
	if c.Parsed.Has("allclusters") {
		c.Parsed.Given = append(c.Parsed.Given, getopt.Given{Name: "clusters", Value: "all", HasValue: true})
	}
	var lines []*sacct.Line
	var adding sync.Mutex
	err = c.InClustersParallel("", func(one *program.Call, _ bool) error {
		more, err := readSacctLines(ctx, one, v)
		adding.Lock()
		defer adding.Unlock()
		lines = append(lines, more...)
		return err
	})
	slices.SortStableFunc(lines, func(a, b *sacct.Line) int { return strings.Compare(a.Cluster, b.Cluster) })
	if err != nil && len(lines) == 0 {
		return err
	}
	return errors.Join(err, printSacct(c, v, lines)) // prints the jobs of the clusters that answered
}

func newSacctView(ctx context.Context, c *program.Call, style sacct.Style) (*sacctView, error) {
	v := &sacctView{form: outputForm(c)}
	if len(c.Parsed.Operands) > 0 {
		return nil, usererror.Errorf("specify jobs with -j", "Unrecognized option: %s", c.Parsed.Operands[0])
	}
	if err := readSacctFilter(ctx, c, v); err != nil {
		return nil, err
	}
	if err := readSacctWindow(c, v); err != nil {
		return nil, err
	}
	format := sacct.Default
	if text := c.Factory.Streams.Env("SACCT_FORMAT"); text != "" {
		format = text
	}
	chosen := false // the first -o replaces the default, and further ones add columns
	for _, g := range c.Parsed.Given {
		switch {
		case g.Name == "brief":
			format = sacct.Brief
		case g.Name == "long":
			format = sacct.Verbose
		case g.Name == "format" && strings.HasPrefix(g.Value, "+"):
			format += "," + g.Value[1:]
		case g.Name == "format" && chosen:
			format += "," + g.Value
		case g.Name == "format":
			format, chosen = g.Value, true
		}
	}
	var err error
	if v.columns, err = tableformat.ParseSized(format, style.ColumnFields()); err != nil {
		return nil, usererror.Errorf("sacct -e lists the columns", "%s", err)
	}
	return v, nil
}

func readSacctFilter(ctx context.Context, c *program.Call, v *sacctView) error {
	f := &v.filter
	f.All = true
	err := c.ReadListFilters(program.NewListFilter("accounts", "", &f.Accounts), program.NewListFilter("name", "", &f.Names), program.NewListFilter("partition", "", &f.Partitions), program.NewListFilter("qos", "", &f.QOS),
		program.NewListFilter("wckeys", "", &f.WCKeys), program.NewListFilter("user", "", &f.Users), program.NewListFilter("uid", "", &f.Users))
	if err != nil {
		return err
	}
	named := c.Parsed.Has("jobs")
	if named {
		if f.Jobs, err = program.ParseJobWords(c.Parsed.AllValues("jobs")); err != nil {
			return err
		}
		if err := c.RejectEmptyLists(f.Jobs, "jobs"); err != nil {
			return err
		}
	}
	selectsJobs := named || len(f.Users) > 0 || c.Parsed.Has("allusers")
	if !selectsJobs && c.UserName() != "root" {
		f.Users = c.ListOwnUserNames(ctx)
	}
	if v.sizes, err = readSacctSizes(c); err != nil {
		return err
	}
	if f.Nodes, err = c.ReadHostNames("nodelist"); err != nil {
		return err
	}
	if text, ok := c.Parsed.LastValue("state"); ok {
		codes, all, err := squeue.ParseStates(text)
		if err != nil {
			return usererror.Errorf("states are "+stateWords(), "%s", err)
		}
		if !all {
			v.states = codes
		}
	}
	return nil
}

// kept is the duration for which jobs are kept after they end, unless the site's profile specifies another one.
const kept = 7 * 24 * time.Hour

// readSacctWindow parses -S and -E. By default, the window begins at midnight and ends now. With -j, it begins at the
// earliest possible time. With -s, the window is the current moment.
func readSacctWindow(c *program.Call, v *sacctView) error {
	now := c.Factory.Now()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	v.window = sacct.Window{From: midnight, To: now}
	switch {
	case c.Parsed.Has("jobs"):
		v.window.From = time.Unix(0, 0)
	case c.Parsed.Has("state"):
		v.window.From = now
	}
	for option, at := range map[string]*time.Time{"starttime": &v.window.From, "endtime": &v.window.To} {
		text, ok := c.OptionOrVariable(option, map[string]string{"starttime": "SACCT_STARTTIME", "endtime": "SACCT_ENDTIME"}[option])
		if !ok {
			continue
		}
		t, err := parseMoment(text, now)
		if err != nil {
			return usererror.Errorf("use a format such as 2026-11-21T22:18, 22:18, 11/21 or now-2days", "Invalid time specification: %s", text)
		}
		*at = t
	}
	if v.window.From.After(v.window.To) {
		return usererror.Errorf("specify a start time (-S) before the end time (-E); -E defaults to the current time", "Start time (%s) requested is after end time (%s).", v.window.From.Format(timeformat.Standard), v.window.To.Format(timeformat.Standard))
	}
	return nil
}

// noteRetention prints a note if the requested window begins earlier than the period for which ended jobs are kept. It is
// for clusters without an accounting database.
func noteRetention(ctx context.Context, c *program.Call, v *sacctView) error {
	if !c.Parsed.Has("starttime") {
		return nil
	}
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	p, err := clusterdata.ReadSiteProfile(ctx, c, cl)
	if err != nil {
		return err
	}
	keep := kept
	if p.KeepSeconds > 0 {
		keep = time.Duration(p.KeepSeconds) * time.Second
	}
	if oldest := c.Factory.Now().Add(-keep); v.window.From.Before(oldest) {
		c.PrintNoteOnce("jobs are deleted %s after they end, so jobs that ended before %s are no longer listed", state.LongClock(keep), oldest.Format(timeformat.Standard))
	}
	return nil
}

// parseMoment parses the start or end of the window. A time without a date means today, even if it is in the future.
func parseMoment(text string, now time.Time) (time.Time, error) {
	if coming, err := optionvalue.ParseDate(text, now, optionvalue.Coming); err == nil && coming.YearDay() == now.YearDay() && coming.Year() == now.Year() {
		return coming, nil
	}
	return optionvalue.ParseDate(text, now, optionvalue.Past)
}

func readSacctLines(ctx context.Context, c *program.Call, v *sacctView) ([]*sacct.Line, error) {
	read, err := clusterdata.ReadView(ctx, c, clusterdata.Wants{Named: v.filter.Jobs, Pods: true, Ended: true, Groups: true, Facts: true})
	if err != nil {
		return nil, err
	}
	if err := addHistory(ctx, c, v, read); err != nil {
		return nil, err
	}
	if err := read.CheckNames(v.filter.Jobs); err != nil {
		return nil, err
	}
	listRows := clusterdata.JobRows
	if c.Parsed.Has("duplicates") {
		listRows = clusterdata.AttemptRows
	}
	rows := slices.DeleteFunc(listRows(c, read, c.Parsed.Has("array")), func(r *listrow.Row) bool {
		return !v.filter.SelectsRow(r) || !v.window.IncludesRow(r, v.states) || !v.sizes.MatchesRow(r)
	})
	slices.SortStableFunc(rows, listrow.CompareByNumber)
	var lines []*sacct.Line
	for _, r := range rows {
		r.NarrowElements(v.filter.Jobs)
		list := sacct.LinesOf(r, c.Parsed.Has("allocations"))
		for i := range list {
			if c.Parsed.Has("truncate") {
				list[i].LimitToWindow(v.window)
			}
			if selectsStep(v.filter.Jobs, r, list[i].Step) {
				lines = append(lines, &list[i])
			}
		}
	}
	return lines, nil
}

// selectsStep reports whether the references select a step of a job.
func selectsStep(refs []optionvalue.Job, r *listrow.Row, step string) bool {
	if len(refs) == 0 {
		return true
	}
	return slices.ContainsFunc(refs, func(ref optionvalue.Job) bool {
		allSteps := ref.Step == ""
		return r.MatchesReference(ref) && (allSteps || ref.Step == step)
	})
}

func printSacct(c *program.Call, v *sacctView, lines []*sacct.Line) error {
	for _, kind := range []string{"json", "yaml"} {
		if c.Parsed.Has(kind) {
			return program.PrintDocument(c.Factory.Streams.Out, kind, sacct.NewDocument(lines, append([]string{c.Table.Program}, c.Words...), program.SlurmVersion))
		}
	}
	_, err := io.WriteString(c.Factory.Streams.Out, v.columns.FormatTable(lines, v.form))
	return err
}
