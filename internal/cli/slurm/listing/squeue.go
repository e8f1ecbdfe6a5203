// Package listing implements the programs that print lists and never change anything: squeue, sacct, sinfo, sprio,
// sshare and sdiag. The packages with the same names below internal/slurm compute what these programs print.
//
//	In:   filters and formats; jobs, nodes and queues from clusterdata
//	Out:  tables, JSON or YAML on Streams.Out
package listing

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/squeue"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
	"github.com/vc-batch/vc/internal/usererror"
)

var squeueTable = getopt.Table{Program: "squeue", Options: []getopt.Option{
	{Long: "account", Short: 'A', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs of these accounts", Group: program.FilterGroup},
	{Long: "all", Short: 'a', Help: "Show jobs in all partitions (default)", Group: program.FilterGroup},
	{Long: "hide", NoEffect: true, Help: "No effect: all partitions are visible", Group: program.FilterGroup},
	{Long: "jobs", Short: 'j', Arg: getopt.Optional, Value: "LIST", Help: "Only these jobs: 42, 42_7, 42_[1-3]", Group: program.FilterGroup},
	{Long: "me", Help: "Only your jobs", Group: program.FilterGroup},
	{Long: "name", Short: 'n', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs with these names", Group: program.FilterGroup},
	{Long: "partition", Short: 'p', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs in these partitions (queues)", Group: program.FilterGroup},
	{Long: "qos", Short: 'q', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs with these qualities of service", Group: program.FilterGroup},
	{Long: "states", Short: 't', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs in these states: PD,running or all", Group: program.FilterGroup},
	{Long: "user", Short: 'u', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs of these users", Group: program.FilterGroup},
	{Long: "nodelist", Short: 'w', Arg: getopt.Required, Value: "HOSTS", Help: "Show only jobs on these Kubernetes nodes", Group: program.FilterGroup},
	{Long: "reservation", Short: 'R', Arg: getopt.Required, Value: "NAME", Help: "Not supported: nodes cannot be reserved in advance", Group: program.FilterGroup},
	{Long: "licenses", Short: 'L', Arg: getopt.Required, Value: "LIST", Help: "Not supported: licenses are not managed", Group: program.FilterGroup},
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "LIST", Help: "Clusters to query: kubeconfig contexts, or all", Group: program.FilterGroup},
	{Long: "cluster", Arg: getopt.Required, Value: "LIST", Hidden: true, Exact: true},
	{Long: "accounts", Arg: getopt.Required, Value: "LIST", Hidden: true, Alias: "account"},
	{Long: "nodes", Arg: getopt.Required, Value: "HOSTS", Hidden: true, Alias: "nodelist"},
	{Long: "partitions", Arg: getopt.Required, Value: "LIST", Hidden: true, Alias: "partition"},
	{Long: "users", Short: 'U', Arg: getopt.Required, Value: "LIST", Hidden: true, Alias: "user"},
	{Long: "local", NoEffect: true, Help: "No effect: only one cluster is shown unless --clusters is given", Group: program.FilterGroup},
	{Long: "federation", Help: "Not supported: clusters are not federated", Group: program.FilterGroup},
	{Long: "sibling", Help: "Not supported: clusters are not federated", Group: program.FilterGroup},
	{Long: "array", Short: 'r', Help: "Print one row for each task of an array", Group: program.OutputGroup},
	{Long: "array-unique", Help: "Same as --array", Group: program.OutputGroup},
	{Long: "expand-patterns", NoEffect: true, Help: "No effect: patterns in file names are always expanded", Group: program.OutputGroup},
	{Long: "noheader", Short: 'h', Help: "Do not print the header", Group: program.OutputGroup},
	{Long: "iterate", Short: 'i', Arg: getopt.Required, Value: "SECONDS", Help: "Repeat after this number of seconds until interrupted", Group: program.OutputGroup},
	{Long: "long", Short: 'l', Help: "Print more columns", Group: program.OutputGroup},
	{Long: "format", Short: 'o', Arg: getopt.Required, Value: "FORMAT", Help: `Output format, for example "%.18i %j"`, Group: program.OutputGroup},
	{Long: "Format", Short: 'O', Arg: getopt.Required, Value: "FORMAT", Help: "Columns to print, by name, for example JobID:10,Name", Group: program.OutputGroup},
	{Long: "sort", Short: 'S', Arg: getopt.Required, Value: "LETTERS", Help: "Sort order: P,t,-p", Group: program.OutputGroup},
	{Long: "start", Help: "Show the estimated start times of pending jobs", Group: program.OutputGroup},
	{Long: "steps", Short: 's', Arg: getopt.Optional, Value: "LIST", Help: "List steps instead of jobs", Group: program.OutputGroup},
	{Long: "only-job-state", Help: "Read only the job states; default columns: JOBID and STATE", Group: program.OutputGroup},
	{Long: "noconvert", NoEffect: true, Help: "No effect: memory is printed in a suitable unit", Group: program.OutputGroup},
	{Long: "priority", Short: 'P', NoEffect: true, Help: "No effect: each job is in one partition", Group: program.OutputGroup},
	{Long: "notme", Help: "Show only jobs of other users", Group: program.FilterGroup},
	{Long: "json", Arg: getopt.Optional, Value: "VERSION", Help: "Print JSON", Group: program.OutputGroup},
	{Long: "yaml", Arg: getopt.Optional, Value: "VERSION", Help: "Print YAML", Group: program.OutputGroup},
	{Long: "verbose", Short: 'v', Help: "Report options without effect", Group: program.OutputGroup},
}}

// Squeue lists pending and running jobs.
var Squeue = program.Program{Table: &squeueTable, Run: runSqueue,
	Short: "List pending and running jobs",
	Long: `
		List jobs in Slurm's format. A partition is a queue. Node counts are pod
		counts, and node names are the names of Kubernetes nodes. If you are allowed to
		list jobs in all namespaces, the list contains these jobs; otherwise, it contains
		only the jobs in your namespace.`,
	Example: `
		# All pending and running jobs
		vcctl slurm squeue

		# Your jobs and their estimated start times
		vcctl slurm squeue --me --start

		# For scripts: number and state of all jobs of a user, including ended jobs
		vcctl slurm squeue -h -o '%i %t' -t all -u mei`,
}

// squeueView holds the parsed options of squeue.
type squeueView struct {
	filter   squeue.Filter
	style    squeue.Style
	columns  tableformat.Columns[*listrow.Row]
	order    func(a, b *listrow.Row) int
	sorted   string // the letters of the requested order
	each     bool
	heading  bool
	dated    bool // print the date first
	starting bool // pending jobs only
	without  []string
	machine  string // json or yaml
}

func runSqueue(ctx context.Context, c *program.Call) error {
	if err := c.RejectUnsupported(map[string]string{"reservation": program.NoReservations, "licenses": program.NoLicenses, "federation": program.NoFederations, "sibling": program.NoFederations}); err != nil {
		return err
	}
	v, err := newSqueueView(ctx, c)
	if err != nil {
		return err
	}
	return printRepeatedly(ctx, c, v.heading && v.machine == "", func(one *program.Call) error { return printSqueueOnce(ctx, one, v) })
}

// newSqueueView parses options and environment variables.
func newSqueueView(ctx context.Context, c *program.Call) (*squeueView, error) {
	env := c.Factory.Streams.Env
	v := &squeueView{heading: !c.Parsed.Has("noheader"), starting: c.Parsed.Has("start")}
	hasOption := c.Parsed.Has("array") || c.Parsed.Has("array-unique")
	hasVariable := env("SQUEUE_ARRAY") != "" || env("SQUEUE_ARRAY_UNIQUE") != ""
	v.each = hasOption || hasVariable
	v.style = squeue.Style{Time: timeformat.NewStyle(env("SLURM_TIME_FORMAT"))}
	if bits := env("SLURM_BITSTR_LEN"); bits != "" {
		if n, err := strconv.Atoi(bits); err == nil && n >= 0 {
			v.style.Bits = n
			if n == 0 {
				v.style.Bits = -1
			}
		}
	}
	v.dated = c.Parsed.Has("long") || c.Parsed.Has("iterate")
	v.machine = documentFormat(c)
	if err := readSqueueFilter(ctx, c, v); err != nil {
		return nil, err
	}
	return v, readSqueueColumns(c, v)
}

func readSqueueFilter(ctx context.Context, c *program.Call, v *squeueView) error {
	f := &v.filter
	err := c.ReadListFilters(program.NewListFilter("account", "SQUEUE_ACCOUNT", &f.Accounts), program.NewListFilter("name", "SQUEUE_NAMES", &f.Names), program.NewListFilter("partition", "SQUEUE_PARTITION", &f.Partitions),
		program.NewListFilter("qos", "SQUEUE_QOS", &f.QOS), program.NewListFilter("user", "SQUEUE_USERS", &f.Users))
	if err != nil {
		return err
	}
	if c.Parsed.Has("me") {
		f.Users = c.ListOwnUserNames(ctx)
	}
	if c.Parsed.Has("notme") {
		v.without = c.ListOwnUserNames(ctx)
	}
	if f.Nodes, err = c.ReadHostNames("nodelist"); err != nil {
		return err
	}
	if text, ok := c.OptionOrVariable("states", "SQUEUE_STATES"); ok {
		codes, all, err := squeue.ParseStates(text)
		if err != nil {
			return usererror.Errorf("states are "+stateWords()+", or all", "%s", err)
		}
		f.States, f.All = codes, all
	}
	if v.starting {
		f.States, f.All = []state.Code{state.Pending}, false
	}
	var named []string
	for _, option := range []string{"jobs", "steps"} {
		if c.Parsed.Has(option) {
			value, _ := c.Parsed.LastValue(option)
			named = append(named, value)
		}
	}
	operands := c.Parsed.Operands
	if len(named) > 0 && named[len(named)-1] == "" && len(operands) > 0 {
		named, operands = append(named, operands...), nil
	}
	if len(operands) > 0 {
		return usererror.Errorf("specify jobs with -j, for example squeue -j 42", "Unrecognized option: %s", operands[0])
	}
	if f.Jobs, err = program.ParseJobWords(named); err != nil {
		return err
	}
	return c.RejectEmptyLists(f.Jobs, "jobs", "steps")
}

func stateWords() string {
	var all []string
	for _, code := range state.AllCodes() {
		all = append(all, strings.ToLower(code.LongName())+" ("+string(code)+")")
	}
	return strings.Join(all, ", ")
}

func readSqueueColumns(c *program.Call, v *squeueView) error {
	format, order := squeue.Default, squeue.DefaultOrder
	switch {
	case v.starting:
		format, order = squeue.Start, squeue.StartOrder
	case c.Parsed.Has("steps"):
		format = squeue.Steps
	case c.Parsed.Has("only-job-state"):
		format = "%.18i %.8T"
	case c.Parsed.Has("long"):
		format = squeue.Verbose
	}
	hasOwnFormat := v.starting || c.Parsed.Has("long") || c.Parsed.Has("steps")
	if text := c.Factory.Streams.Env("SQUEUE_FORMAT"); text != "" && !hasOwnFormat {
		format = text
	}
	words := c.Factory.Streams.Env("SQUEUE_FORMAT2")
	for _, g := range c.Parsed.Given { // the last one is used
		switch g.Name {
		case "format":
			format, words = g.Value, ""
		case "Format":
			words = g.Value
		}
	}
	fields := v.style.ColumnFields()
	if c.Parsed.Has("steps") {
		fields = squeue.StepColumns(fields)
	}
	var err error
	if v.columns, err = selectedColumns(c, format, words, fields, "Invalid job format specification"); err != nil {
		return err
	}
	if text, ok := c.OptionOrVariable("sort", "SQUEUE_SORT"); ok {
		order = text
	}
	if order != squeue.DefaultOrder { // the default order compares states without reading pods
		v.sorted = order
	}
	if v.order, err = v.style.ParseOrder(order); err != nil {
		return usererror.Errorf("use column letters, for example P,t,-p", "%s", err)
	}
	return nil
}

// printSqueueOnce reads the jobs of one cluster and prints them.
func printSqueueOnce(ctx context.Context, c *program.Call, v *squeueView) error {
	read, err := clusterdata.ReadView(ctx, c, clusterdata.Wants{Named: v.filter.Jobs, Pods: v.needsPods(), Ended: v.filter.All || slices.ContainsFunc(v.filter.States, state.Code.HasEnded), Groups: true, Facts: true})
	if err != nil {
		return err
	}
	if len(v.filter.Jobs) > 1 {
		if err := read.CheckNames(v.filter.Jobs); err != nil {
			return err
		}
	}
	if err := read.ReadPodsOfArrays(ctx); err != nil {
		return err
	}
	rows := slices.DeleteFunc(clusterdata.JobRows(c, read, v.each), func(r *listrow.Row) bool {
		isOfExcludedUser := slices.Contains(v.without, r.UserName())
		return !v.filter.SelectsRow(r) || isOfExcludedUser || isPurged(r)
	})
	for _, r := range rows {
		r.NarrowElements(v.filter.Jobs)
	}
	if c.Parsed.Has("steps") {
		rows = slices.DeleteFunc(rows, func(r *listrow.Row) bool { return r.State.Code != state.Running })
	}
	mustFindJob := len(v.filter.Jobs) == 1 && v.machine == ""
	if len(rows) == 0 && mustFindJob && areAllPurged(c, read) {
		return read.MissingJobError(v.filter.Jobs[0])
	}
	slices.SortStableFunc(rows, v.order)
	return printSqueue(c, v, rows)
}

// isPurged reports whether a job ended longer than program.MinJobAge ago.
func isPurged(r *listrow.Row) bool {
	return r.State.Code.HasEnded() && !r.Times.End.IsZero() && r.Now.Sub(r.Times.End) > program.MinJobAge
}

// areAllPurged reports whether all jobs in the view are purged.
func areAllPurged(c *program.Call, read *clusterdata.View) bool {
	return !slices.ContainsFunc(clusterdata.JobRows(c, read, false), func(r *listrow.Row) bool { return !isPurged(r) })
}

// byPods lists the letters of the columns that depend on pods: a job's nodes, the start times of its elements, and
// how the job ended.
const byPods = "BNRMSeLtTDrY"

// needsPods reports whether the output depends on pods, because of its columns, its order or the requested states.
// States depend on pods because only pods distinguish a configuring job from a running one, and a time-out from a
// failure.
func (v *squeueView) needsPods() bool {
	switch {
	case v.machine != "":
		return true
	case len(v.filter.Nodes) > 0, v.filter.States != nil:
		return true
	case strings.ContainsAny(v.sorted, byPods):
		return true
	}
	return slices.ContainsFunc(v.columns, func(c tableformat.Column[*listrow.Row]) bool {
		return c.Field.Letter == 0 || strings.IndexByte(byPods, c.Field.Letter) >= 0
	})
}

func printSqueue(c *program.Call, v *squeueView, rows []*listrow.Row) error {
	if v.machine != "" {
		return program.PrintDocument(c.Factory.Streams.Out, v.machine, squeue.NewDocument(rows, append([]string{c.Table.Program}, c.Words...), program.SlurmVersion, c.Factory.Now()))
	}
	return printTable(c, v.columns, rows, v.heading, v.dated)
}
