package slurm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/squeue"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
	"github.com/vc-batch/vc/internal/usererror"
)

const (
	filters = "Which jobs"
	looks   = "Output"
)

var squeueTable = getopt.Table{Program: "squeue", Options: []getopt.Option{
	{Long: "account", Short: 'A', Arg: getopt.Required, Value: "LIST", Help: "Only jobs of these accounts", Group: filters},
	{Long: "all", Short: 'a', Help: "Show jobs in all partitions (default)", Group: filters},
	{Long: "hide", NoEffect: true, Help: "No effect: there are no hidden partitions", Group: filters},
	{Long: "jobs", Short: 'j', Arg: getopt.Optional, Value: "LIST", Help: "Only these jobs: 42, 42_7, 42_[1-3]", Group: filters},
	{Long: "me", Help: "Only your jobs", Group: filters},
	{Long: "name", Short: 'n', Arg: getopt.Required, Value: "LIST", Help: "Only jobs with these names", Group: filters},
	{Long: "partition", Short: 'p', Arg: getopt.Required, Value: "LIST", Help: "Only jobs in these partitions (queues)", Group: filters},
	{Long: "qos", Short: 'q', Arg: getopt.Required, Value: "LIST", Help: "Only jobs with these qualities of service", Group: filters},
	{Long: "states", Short: 't', Arg: getopt.Required, Value: "LIST", Help: "Only jobs in these states: PD,running or all", Group: filters},
	{Long: "user", Short: 'u', Arg: getopt.Required, Value: "LIST", Help: "Only jobs of these users", Group: filters},
	{Long: "nodelist", Short: 'w', Arg: getopt.Required, Value: "HOSTS", Help: "Only jobs on these Kubernetes nodes", Group: filters},
	{Long: "reservation", Short: 'R', Arg: getopt.Required, Value: "NAME", Help: "Not supported: there are no reservations", Group: filters},
	{Long: "licenses", Short: 'L', Arg: getopt.Required, Value: "LIST", Help: "Not supported: there are no licenses", Group: filters},
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "LIST", Help: "Clusters to query: contexts of the kubeconfig, or all", Group: filters},
	{Long: "cluster", Arg: getopt.Required, Value: "LIST", Hidden: true, Exact: true},
	{Long: "accounts", Arg: getopt.Required, Value: "LIST", Hidden: true, Alias: "account"},
	{Long: "nodes", Arg: getopt.Required, Value: "HOSTS", Hidden: true, Alias: "nodelist"},
	{Long: "partitions", Arg: getopt.Required, Value: "LIST", Hidden: true, Alias: "partition"},
	{Long: "users", Short: 'U', Arg: getopt.Required, Value: "LIST", Hidden: true, Alias: "user"},
	{Long: "local", NoEffect: true, Help: "No effect: only one cluster is shown unless --clusters is given", Group: filters},
	{Long: "federation", Help: "Not supported: there are no federations", Group: filters},
	{Long: "sibling", Help: "Not supported: there are no federations", Group: filters},
	{Long: "array", Short: 'r', Help: "Print one row for each element of an array", Group: looks},
	{Long: "array-unique", Help: "Same as --array", Group: looks},
	{Long: "expand-patterns", NoEffect: true, Help: "No effect: patterns in file names are always expanded", Group: looks},
	{Long: "noheader", Short: 'h', Help: "Do not print the header", Group: looks},
	{Long: "iterate", Short: 'i', Arg: getopt.Required, Value: "SECONDS", Help: "Repeat after this number of seconds until interrupted", Group: looks},
	{Long: "long", Short: 'l', Help: "Print more columns", Group: looks},
	{Long: "format", Short: 'o', Arg: getopt.Required, Value: "FORMAT", Help: "Columns to print, by letter: %.18i %j", Group: looks},
	{Long: "Format", Short: 'O', Arg: getopt.Required, Value: "FORMAT", Help: "Columns to print, by name: JobID:10,Name", Group: looks},
	{Long: "sort", Short: 'S', Arg: getopt.Required, Value: "LETTERS", Help: "Sort order: P,t,-p", Group: looks},
	{Long: "start", Help: "Show the estimated start of pending jobs", Group: looks},
	{Long: "steps", Short: 's', Arg: getopt.Optional, Value: "LIST", Help: "List steps instead of jobs", Group: looks},
	{Long: "only-job-state", Help: "Read only job states; the default columns are JOBID and STATE", Group: looks},
	{Long: "noconvert", NoEffect: true, Help: "No effect: memory is printed in a suitable unit", Group: looks},
	{Long: "priority", Short: 'P', NoEffect: true, Help: "No effect: each job is in one partition", Group: looks},
	{Long: "notme", Help: "Only jobs of other users", Group: filters},
	{Long: "json", Arg: getopt.Optional, Value: "VERSION", Help: "Print JSON", Group: looks},
	{Long: "yaml", Arg: getopt.Optional, Value: "VERSION", Help: "Print YAML", Group: looks},
	{Long: "verbose", Short: 'v', Help: "Report options without effect", Group: looks},
}}

func newSqueue(f *cli.Factory) *cobra.Command {
	return newProgramCommand(f, program{table: &squeueTable, run: runSqueue,
		short: "List pending and running jobs",
		long: `
			List jobs in Slurm's format. A partition is a queue. Node counts are numbers of
			pods, and node names are Kubernetes nodes. Jobs in all namespaces are listed if
			you are allowed to list them, otherwise only jobs in your namespace.`,
		example: `
			# All pending and running jobs
			vcctl slurm squeue

			# Your jobs and their estimated start
			vcctl slurm squeue --me --start

			# For scripts: number and state of all jobs of a user, including ended ones
			vcctl slurm squeue -h -o '%i %t' -t all -u mei`,
	})
}

// newSqueueView holds the parsed options of squeue.
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
	without  string
	machine  string // json or yaml
}

// rejectUnsupported returns an error if an unsupported option is specified. because maps options to the reasons.
func (c *call) rejectUnsupported(because map[string]string) error {
	for _, g := range c.parsed.Given {
		if why, is := because[g.Name]; is {
			return usererror.Errorf("remove --"+g.Name, "--%s is not supported here (%s)", g.Name, why)
		}
	}
	return nil
}

const (
	noReservations = "Volcano has no advance reservations"
	noLicenses     = "there are no licenses"
	noFederations  = "there are no federations"
)

func runSqueue(ctx context.Context, c *call) error {
	if err := c.rejectUnsupported(map[string]string{"reservation": noReservations, "licenses": noLicenses, "federation": noFederations, "sibling": noFederations}); err != nil {
		return err
	}
	v, err := c.newSqueueView()
	if err != nil {
		return err
	}
	again, err := c.repeatInterval()
	if err != nil {
		return err
	}
	print := func() error {
		return c.inClustersParallel("\n", func(one *call, named bool) error {
			if named && v.machine == "" && v.heading {
				fmt.Fprintf(one.f.Streams.Out, "CLUSTER: %s\n", one.clusterName())
			}
			return one.printSqueueOnce(ctx, v)
		})
	}
	return c.printRepeatedly(ctx, again, print)
}

// repeatInterval returns the interval of -i, or 0 if squeue prints only once.
func (c *call) repeatInterval() (time.Duration, error) {
	text, ok := c.parsed.LastValue("iterate")
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 || n > 1<<30 {
		return 0, usererror.Errorf("specify at least 1 second, for example -i 5", "Invalid numeric value %q for --iterate.", text)
	}
	return time.Duration(n) * time.Second, nil
}

// printRepeatedly calls print once or, if again is positive, repeatedly with an empty line between the outputs. After
// the first output, errors are printed and do not end the loop.
func (c *call) printRepeatedly(ctx context.Context, again time.Duration, print func() error) error {
	out := c.f.Streams.Out
	if err := print(); err != nil || again == 0 {
		return err
	}
	ticker := time.NewTicker(again)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			fmt.Fprintln(out)
			if err := print(); err != nil && ctx.Err() == nil {
				_ = c.printError(err) // the next attempt may succeed
			}
		}
	}
}

// newSqueueView parses options and environment variables.
func (c *call) newSqueueView() (*squeueView, error) {
	env := c.f.Streams.Env
	v := &squeueView{heading: !c.parsed.Has("noheader"), starting: c.parsed.Has("start")}
	hasOption := c.parsed.Has("array") || c.parsed.Has("array-unique")
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
	v.dated = c.parsed.Has("long") || c.parsed.Has("iterate")
	for _, name := range []string{"json", "yaml"} {
		if c.parsed.Has(name) {
			v.machine = name
		}
	}
	if err := c.readSqueueFilter(v); err != nil {
		return nil, err
	}
	return v, c.readSqueueColumns(v)
}

func (c *call) readSqueueFilter(v *squeueView) error {
	f := &v.filter
	err := c.readListFilters(listed{"account", "SQUEUE_ACCOUNT", &f.Accounts}, listed{"name", "SQUEUE_NAMES", &f.Names}, listed{"partition", "SQUEUE_PARTITION", &f.Partitions},
		listed{"qos", "SQUEUE_QOS", &f.QOS}, listed{"user", "SQUEUE_USERS", &f.Users})
	if err != nil {
		return err
	}
	if c.parsed.Has("me") {
		f.Users = []string{c.userName()}
	}
	if c.parsed.Has("notme") {
		v.without = c.userName()
	}
	if f.Nodes, err = c.readHostNames("nodelist"); err != nil {
		return err
	}
	if text, ok := c.optionOrVariable("states", "SQUEUE_STATES"); ok {
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
		if c.parsed.Has(option) {
			value, _ := c.parsed.LastValue(option)
			named = append(named, value)
		}
	}
	operands := c.parsed.Operands
	if len(named) > 0 && named[len(named)-1] == "" && len(operands) > 0 {
		named, operands = append(named, operands...), nil
	}
	if len(operands) > 0 {
		return usererror.Errorf("specify jobs with -j, for example squeue -j 42", "Unrecognized option: %s", operands[0])
	}
	if f.Jobs, err = parseJobWords(named); err != nil {
		return err
	}
	return c.rejectEmptyLists(f.Jobs, "jobs", "steps")
}

func stateWords() string {
	var all []string
	for _, code := range state.AllCodes() {
		all = append(all, strings.ToLower(code.LongName())+" ("+string(code)+")")
	}
	return strings.Join(all, ", ")
}

func (c *call) readSqueueColumns(v *squeueView) error {
	format, order := squeue.Default, squeue.DefaultOrder
	switch {
	case v.starting:
		format, order = squeue.Start, squeue.StartOrder
	case c.parsed.Has("steps"):
		format = squeue.Steps
	case c.parsed.Has("only-job-state"):
		format = "%.18i %.8T"
	case c.parsed.Has("long"):
		format = squeue.Verbose
	}
	hasOwnFormat := v.starting || c.parsed.Has("long") || c.parsed.Has("steps")
	if text := c.f.Streams.Env("SQUEUE_FORMAT"); text != "" && !hasOwnFormat {
		format = text
	}
	words := c.f.Streams.Env("SQUEUE_FORMAT2")
	for _, g := range c.parsed.Given { // the last one is used
		switch g.Name {
		case "format":
			format, words = g.Value, ""
		case "Format":
			words = g.Value
		}
	}
	fields := v.style.ColumnFields()
	if c.parsed.Has("steps") {
		fields = squeue.StepColumns(fields)
	}
	var err error
	if v.columns, err = selectedColumns(c, format, words, fields, "Invalid job format specification"); err != nil {
		return err
	}
	if text, ok := c.optionOrVariable("sort", "SQUEUE_SORT"); ok {
		order = text
	}
	if order != squeue.DefaultOrder { // the default order compares states without pods
		v.sorted = order
	}
	if v.order, err = v.style.ParseOrder(order); err != nil {
		return usererror.Errorf("use the letters of columns, for example P,t,-p", "%s", err)
	}
	return nil
}

// printSqueueOnce reads the jobs of one cluster and prints them.
func (c *call) printSqueueOnce(ctx context.Context, v *squeueView) error {
	read, err := c.readView(ctx, wants{named: v.filter.Jobs, pods: v.needsPods(), ended: v.filter.All || slices.ContainsFunc(v.filter.States, state.Code.HasEnded), groups: true, facts: true})
	if err != nil {
		return err
	}
	if len(v.filter.Jobs) > 1 {
		if err := read.checkNames(v.filter.Jobs); err != nil {
			return err
		}
	}
	if err := read.readPodsOfArrays(ctx); err != nil {
		return err
	}
	rows := slices.DeleteFunc(c.jobRows(read, v.each), func(r *listrow.Row) bool {
		isOfExcludedUser := v.without != "" && r.UserName() == v.without
		return !v.filter.SelectsRow(r) || isOfExcludedUser || isPurged(r)
	})
	for _, r := range rows {
		r.NarrowElements(v.filter.Jobs)
	}
	if c.parsed.Has("steps") {
		rows = slices.DeleteFunc(rows, func(r *listrow.Row) bool { return r.State.Code != state.Running })
	}
	mustFindJob := len(v.filter.Jobs) == 1 && v.machine == ""
	if len(rows) == 0 && mustFindJob && c.areAllPurged(read) {
		return read.missingJobError(v.filter.Jobs[0])
	}
	slices.SortStableFunc(rows, v.order)
	return c.printSqueue(v, rows)
}

// minJobAge is how long squeue lists a job after its end if ended jobs are requested. It is the default of Slurm's
// MinJobAge. Programs assume that a job that squeue -j does not list has ended, and then use sacct.
const minJobAge = 300 * time.Second

// isPurged reports whether a job ended longer than minJobAge ago.
func isPurged(r *listrow.Row) bool {
	return r.State.Code.HasEnded() && !r.Times.End.IsZero() && r.Now.Sub(r.Times.End) > minJobAge
}

// areAllPurged reports whether all jobs in the view are purged.
func (c *call) areAllPurged(read *view) bool {
	return !slices.ContainsFunc(c.jobRows(read, false), func(r *listrow.Row) bool { return !isPurged(r) })
}

// byPods lists the letters of the columns that depend on pods: a job's nodes, the start times of its elements, and
// how the job ended.
const byPods = "BNRMSeLtTDrY"

// needsPods reports whether the output depends on pods, because of its columns, its order or the requested states.
// Pods distinguish a configuring job from a running one, and a time-out from a failure.
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

func (c *call) printSqueue(v *squeueView, rows []*listrow.Row) error {
	out := c.f.Streams.Out
	if v.machine != "" {
		return printDocument(out, v.machine, squeue.NewDocument(rows, append([]string{c.table.Program}, c.words...), slurmVersion, c.f.Now()))
	}
	var b strings.Builder
	if v.dated && v.heading {
		b.WriteString(c.f.Now().Format("Mon Jan 02 15:04:05 2006") + "\n")
	}
	columns := slices.Clone(v.columns)
	columns.WidenToFit(rows, v.heading)
	if v.heading {
		b.WriteString(columns.HeadingLine() + "\n")
	}
	for _, r := range rows {
		b.WriteString(columns.RowLine(r) + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// printDocument writes the output of --json or --yaml.
func printDocument(out io.Writer, kind string, document any) error {
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	if kind == "yaml" {
		if text, err = yaml.JSONToYAML(text); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "%s\n", strings.TrimRight(string(text), "\n"))
	return err
}
