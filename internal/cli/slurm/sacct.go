package slurm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
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
	{Long: "accounts", Short: 'A', Arg: getopt.Required, Value: "LIST", Help: "Only jobs of these accounts", Group: filters},
	{Long: "allusers", Short: 'a', Help: "Jobs of all users", Group: filters},
	{Long: "jobs", Short: 'j', Arg: getopt.Required, Value: "LIST", Help: "Only these jobs: 42, 42_7, 42.0", Group: filters},
	{Long: "name", Arg: getopt.Required, Value: "LIST", Help: "Only jobs with these names", Group: filters},
	{Long: "nodelist", Short: 'N', Arg: getopt.Required, Value: "HOSTS", Help: "Only jobs on these Kubernetes nodes", Group: filters},
	{Long: "partition", Short: 'r', Arg: getopt.Required, Value: "LIST", Help: "Only jobs in these partitions (queues)", Group: filters},
	{Long: "qos", Short: 'q', Arg: getopt.Required, Value: "LIST", Help: "Only jobs with these qualities of service", Group: filters},
	{Long: "state", Short: 's', Arg: getopt.Required, Value: "LIST", Help: "Only jobs that were in these states", Group: filters},
	{Long: "starttime", Short: 'S', Arg: getopt.Required, Value: "TIME", Help: "Only jobs that were pending or running after this time", Group: filters},
	{Long: "endtime", Short: 'E', Arg: getopt.Required, Value: "TIME", Help: "Only jobs that were pending or running before this time", Group: filters},
	{Long: "truncate", Short: 'T', Help: "Limit the start and end times to the range of -S and -E", Group: filters},
	{Long: "user", Short: 'u', Arg: getopt.Required, Value: "LIST", Help: "Only jobs of these users (default: your jobs)", Group: filters},
	{Long: "uid", Arg: getopt.Required, Value: "LIST", Help: "Same as --user", Group: filters},
	{Long: "wckeys", Short: 'W', Arg: getopt.Required, Value: "LIST", Help: "Only jobs with these workload characterization keys", Group: filters},
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "LIST", Help: "Clusters to query: contexts of the kubeconfig, or all", Group: filters},
	{Long: "cluster", Arg: getopt.Required, Value: "LIST", Hidden: true, Exact: true},
	{Long: "allclusters", Short: 'L', Help: "Query all contexts of the kubeconfig", Group: filters},
	{Long: "local", NoEffect: true, Help: "No effect: only one cluster is shown unless --clusters is given", Group: filters},
	{Long: "federation", Help: "Not supported: there are no federations", Group: filters},
	{Long: "group", Short: 'g', Arg: getopt.Required, Value: "LIST", Help: "Not supported: jobs have no group", Group: filters},
	{Long: "gid", Arg: getopt.Required, Value: "LIST", Help: "Not supported: jobs have no group", Group: filters},
	{Long: "file", Short: 'f', Arg: getopt.Required, Value: "FILE", Help: "Not supported: there is no accounting file", Group: filters},
	{Long: "associations", Short: 'x', Arg: getopt.Required, Value: "LIST", Help: "Not supported: there are no associations", Group: filters},
	{Long: "nnodes", Short: 'i', Arg: getopt.Required, Value: "N[-MAX]", Help: "Only jobs that ran on this number of nodes", Group: filters},
	{Long: "ncpus", Short: 'I', Arg: getopt.Required, Value: "N[-MAX]", Help: "Only jobs that ran on this number of CPUs", Group: filters},
	{Long: "timelimit-min", Short: 'k', Arg: getopt.Required, Value: "TIME", Help: "Only jobs with this time limit; with -K, at least this limit", Group: filters},
	{Long: "timelimit-max", Short: 'K', Arg: getopt.Required, Value: "TIME", Help: "With -k, only jobs with at most this time limit", Group: filters},
	{Long: "reason", Short: 'R', Arg: getopt.Required, Value: "LIST", Help: "Only jobs with these reasons", Group: filters},
	{Long: "constraints", Short: 'C', Arg: getopt.Required, Value: "LIST", Help: "Only jobs with these constraints", Group: filters},
	{Long: "flags", Short: 'F', Arg: getopt.Required, Value: "LIST", Help: "Not supported: jobs have no such flags", Group: filters},
	{Long: "duplicates", Short: 'D', NoEffect: true, Help: "No effect: each job is printed once", Group: filters},
	{Long: "allocations", Short: 'X', Help: "Print only jobs, not their batch scripts and steps", Group: looks},
	{Long: "array", Help: "Print one line for each pending element of an array", Group: looks},
	{Long: "brief", Short: 'b', Help: "Print fewer columns", Group: looks},
	{Long: "long", Short: 'l', Help: "Print more columns", Group: looks},
	{Long: "format", Short: 'o', Arg: getopt.Required, Value: "FIELDS", Help: "Columns to print: jobid,state%20", Group: looks},
	{Long: "helpformat", Short: 'e', Help: "List the available columns", Group: looks},
	{Long: "noheader", Short: 'n', Help: "Do not print the header", Group: looks},
	{Long: "parsable", Short: 'p', Help: "Print | after each column", Group: looks},
	{Long: "parsable2", Short: 'P', Help: "Print | between columns", Group: looks},
	{Long: "delimiter", Arg: getopt.Required, Value: "TEXT", Help: "Print this text instead of |", Group: looks},
	{Long: "units", Arg: getopt.Required, Value: "K|M|G|T|P", Help: "Print memory in this unit", Group: looks},
	{Long: "noconvert", NoEffect: true, Help: "No effect: memory is printed in a suitable unit; see --units", Group: looks},
	{Long: "expand-patterns", NoEffect: true, Help: "No effect: patterns in file names are always expanded", Group: looks},
	{Long: "json", Arg: getopt.Optional, Value: "VERSION", Help: "Print JSON", Group: looks},
	{Long: "yaml", Arg: getopt.Optional, Value: "VERSION", Help: "Print YAML", Group: looks},
	{Long: "completion", Short: 'c', Help: "Not supported: there is no log of completions", Group: looks},
	{Long: "batch-script", Short: 'B', Help: "Print the batch scripts of the jobs given with -j", Group: looks},
	{Long: "env-vars", Help: "Print the environment with which each job given with -j was submitted", Group: looks},
	{Long: "verbose", Short: 'v', Help: "Report options without effect", Group: looks},
}}

func newSacct(f *cli.Factory) *cobra.Command {
	return newProgramCommand(f, program{table: &sacctTable, run: runSacct,
		short: "List current and ended jobs and their steps",
		long: `
			List jobs, batch scripts and steps, with their exit codes and the resources that
			they used. Ended jobs are listed until their ttlSecondsAfterFinished has passed.`,
		example: `
			# Your jobs since midnight
			vcctl slurm sacct

			# One job, in a format for scripts
			vcctl slurm sacct -X -n -P -o JobID,State -j 42

			# List the available columns
			vcctl slurm sacct -e`,
	})
}

// newSacctView holds the parsed options of sacct.
type sacctView struct {
	filter  squeue.Filter
	states  []state.Code
	window  sacct.Window
	sizes   sacct.Sizes
	columns tableformat.Columns[*sacct.Line]
	form    tableformat.Form
}

func runSacct(ctx context.Context, c *call) error {
	err := c.rejectUnsupported(map[string]string{"federation": noFederations, "group": "jobs have no group", "gid": "jobs have no group", "file": "there is no accounting file", "associations": "there are no associations",
		"completion": "there is no log of completions", "flags": "jobs have no such flags"})
	if err != nil {
		return err
	}
	style := sacct.Style{Time: timeformat.NewStyle(c.f.Streams.Env("SLURM_TIME_FORMAT"))}
	if units, ok := c.parsed.LastValue("units"); ok {
		if len(units) != 1 || !strings.ContainsAny(units, "KMGTP") {
			return usererror.Errorf("units are K, M, G, T and P", "Invalid unit type: %s", units)
		}
		style.Units = units[0]
	}
	if c.parsed.Has("helpformat") {
		return c.printSacctHelp(style)
	}
	if c.parsed.Has("batch-script") || c.parsed.Has("env-vars") {
		return c.printSacctTexts(ctx)
	}
	v, err := c.newSacctView(style)
	if err != nil {
		return err
	}
	if c.parsed.Has("allclusters") {
		c.parsed.Given = append(c.parsed.Given, getopt.Given{Name: "clusters", Value: "all", HasValue: true})
	}
	var lines []*sacct.Line
	var adding sync.Mutex
	err = c.inClustersParallel("", func(one *call, _ bool) error {
		if err := one.noteRetention(ctx, v); err != nil {
			return err
		}
		more, err := one.readSacctLines(ctx, v)
		adding.Lock()
		defer adding.Unlock()
		lines = append(lines, more...)
		return err
	})
	slices.SortStableFunc(lines, func(a, b *sacct.Line) int { return strings.Compare(a.Cluster, b.Cluster) })
	if err != nil && len(lines) == 0 {
		return err
	}
	return errors.Join(err, c.printSacct(v, lines)) // prints the clusters of -M that answered
}

// printSacctHelp lists the column names, four per line.
func (c *call) printSacctHelp(style sacct.Style) error {
	var names []string
	for _, f := range style.ColumnFields() {
		names = append(names, f.Names[0])
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	var b strings.Builder
	b.WriteString("Fields available:\n\n")
	for i, name := range names {
		if (i+1)%4 == 0 || i == len(names)-1 {
			b.WriteString(name + "\n")
			continue
		}
		fmt.Fprintf(&b, "%-19s ", name)
	}
	_, err := io.WriteString(c.f.Streams.Out, b.String())
	return err
}

func (c *call) newSacctView(style sacct.Style) (*sacctView, error) {
	v := &sacctView{form: c.outputForm()}
	if len(c.parsed.Operands) > 0 {
		return nil, usererror.Errorf("specify jobs with -j", "Unrecognized option: %s", c.parsed.Operands[0])
	}
	if err := c.readSacctFilter(v); err != nil {
		return nil, err
	}
	if err := c.readSacctWindow(v); err != nil {
		return nil, err
	}
	format := sacct.Default
	if text := c.f.Streams.Env("SACCT_FORMAT"); text != "" {
		format = text
	}
	chosen := false // the first -o replaces the default, further ones add columns
	for _, g := range c.parsed.Given {
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

func (c *call) readSacctFilter(v *sacctView) error {
	f := &v.filter
	f.All = true
	err := c.readListFilters(listed{"accounts", "", &f.Accounts}, listed{"name", "", &f.Names}, listed{"partition", "", &f.Partitions}, listed{"qos", "", &f.QOS},
		listed{"wckeys", "", &f.WCKeys}, listed{"user", "", &f.Users}, listed{"uid", "", &f.Users})
	if err != nil {
		return err
	}
	named := c.parsed.Has("jobs")
	if named {
		if f.Jobs, err = parseJobWords(c.parsed.AllValues("jobs")); err != nil {
			return err
		}
		if err := c.rejectEmptyLists(f.Jobs, "jobs"); err != nil {
			return err
		}
	}
	selectsJobs := named || len(f.Users) > 0 || c.parsed.Has("allusers")
	if me := c.userName(); !selectsJobs && me != "root" {
		f.Users = []string{me}
	}
	if v.sizes, err = c.readSacctSizes(); err != nil {
		return err
	}
	if f.Nodes, err = c.readHostNames("nodelist"); err != nil {
		return err
	}
	if text, ok := c.parsed.LastValue("state"); ok {
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

// kept is how long jobs are kept after their end, unless the site's profile sets another duration.
const kept = 7 * 24 * time.Hour

// readSacctWindow parses -S and -E. By default, the window begins at midnight and ends now. With -j, it begins at the
// earliest possible time. With -s, it is the current moment.
func (c *call) readSacctWindow(v *sacctView) error {
	now := c.f.Now()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	v.window = sacct.Window{From: midnight, To: now}
	switch {
	case c.parsed.Has("jobs"):
		v.window.From = time.Unix(0, 0)
	case c.parsed.Has("state"):
		v.window.From = now
	}
	for option, at := range map[string]*time.Time{"starttime": &v.window.From, "endtime": &v.window.To} {
		text, ok := c.optionOrVariable(option, map[string]string{"starttime": "SACCT_STARTTIME", "endtime": "SACCT_ENDTIME"}[option])
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
		return usererror.Errorf("-S is the start of the time range and -E its end; the default of -E is now", "Start time (%s) requested is after end time (%s).", v.window.From.Format(timeformat.Standard), v.window.To.Format(timeformat.Standard))
	}
	return nil
}

// noteRetention prints a note if the requested window begins earlier than the period for which ended jobs are kept.
func (c *call) noteRetention(ctx context.Context, v *sacctView) error {
	if !c.parsed.Has("starttime") {
		return nil
	}
	cl, err := c.f.Client()
	if err != nil {
		return err
	}
	p, err := c.readSiteProfile(ctx, cl)
	if err != nil {
		return err
	}
	keep := kept
	if p.KeepSeconds > 0 {
		keep = time.Duration(p.KeepSeconds) * time.Second
	}
	if oldest := c.f.Now().Add(-keep); v.window.From.Before(oldest) {
		c.printNoteOnce("jobs are deleted %s after they end: jobs that ended before %s are no longer listed", state.LongClock(keep), oldest.Format(timeformat.Standard))
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

func (c *call) readSacctLines(ctx context.Context, v *sacctView) ([]*sacct.Line, error) {
	read, err := c.readView(ctx, wants{named: v.filter.Jobs, pods: true, ended: true, groups: true, facts: true})
	if err != nil {
		return nil, err
	}
	if err := read.checkNames(v.filter.Jobs); err != nil {
		return nil, err
	}
	rows := slices.DeleteFunc(c.jobRows(read, c.parsed.Has("array")), func(r *listrow.Row) bool {
		return !v.filter.SelectsRow(r) || !v.window.IncludesRow(r, v.states) || !v.sizes.MatchesRow(r)
	})
	slices.SortStableFunc(rows, listrow.CompareByNumber)
	var lines []*sacct.Line
	for _, r := range rows {
		r.NarrowElements(v.filter.Jobs)
		list := sacct.LinesOf(r, c.parsed.Has("allocations"))
		for i := range list {
			if c.parsed.Has("truncate") {
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

func (c *call) printSacct(v *sacctView, lines []*sacct.Line) error {
	for _, kind := range []string{"json", "yaml"} {
		if c.parsed.Has(kind) {
			return printDocument(c.f.Streams.Out, kind, sacct.NewDocument(lines, append([]string{c.table.Program}, c.words...), slurmVersion))
		}
	}
	_, err := io.WriteString(c.f.Streams.Out, v.columns.FormatTable(lines, v.form))
	return err
}
