// Package usagereport implements `vcctl report`, which shows the use of resources by queue, account, user or namespace.
//
//	In:   sums of use from the accounting database
//	Out:  a table with bars, JSON, YAML, CSV, or an HTML page with plots
package usagereport

import (
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/wire"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/recorded"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// options holds the inputs of `vcctl report`.
type options struct {
	f                       *cli.Factory
	out                     cli.Value
	noHeaders               bool
	by, per, resource       string
	byGiven                 bool // --by was specified
	users, queues, accounts []string
	since, until            string
	top                     int
}

// New returns `vcctl report`.
func New(f *cli.Factory) *cobra.Command { return newReport(f, showReport) }

func newReport(f *cli.Factory, run func(context.Context, *options) error) *cobra.Command {
	o := &options{f: f, out: cli.Value{Extra: []string{"csv", "html"}}}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Show the usage of resources by queue, account, user or namespace",
		Long: cli.FormatHelp(`
			Show the resources that ended jobs had allocated, from the accounting database, in
			hours: one CPU-hour is one CPU for one hour. A job that still runs is not included.
			SHARE is the percentage of the total usage in the same period.

			Days, weeks and months are in UTC, and weeks begin on Monday. The first period is
			complete: if necessary, it begins before --since. Usage is recorded by the hour.

			-o html writes a page for a browser to standard output: plots over time and tables
			by queue, account and user, or only by --by. The page needs no network. Its plots
			have a bar for each day, for each week if the interval is longer than 62 days, and
			for each month if it is longer than a year, unless --per selects the period. Ten
			names have colors of their own. The tables list --top names.

			Without the ClusterRole vc-accounting-admin, the report shows only your own usage.`),
		Example: f.FormatExamples(`
			# Who used the CPUs of the cluster in the last 30 days
			vcctl report --by user

			# GPU-hours of each account, month by month
			vcctl report --by account --resource gpu --per month --since 26w

			# One queue, day by day
			vcctl report --by user --queue research --per day --since 7d

			# The usage of a whole quarter, for a spreadsheet
			vcctl report --by namespace --per month --since 2026-07-01 --until 2026-10-01 --top 0 -o csv

			# A page with plots of a quarter, for a browser
			vcctl report --resource gpu --since 2026-07-01 --until 2026-10-01 -o html >report.html`),
		Args: cli.NoArgs(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.byGiven = cmd.Flags().Changed("by")
			return run(cmd.Context(), o)
		},
	}
	bys := slices.Sorted(maps.Keys(dimensions))
	flags := cmd.Flags()
	o.out.AddFlag(cmd)
	flags.BoolVar(&o.noHeaders, "no-headers", false, "Omit the header row")
	flags.StringVar(&o.by, "by", "queue", "Show the usage of each: "+strings.Join(bys, ", "))
	flags.StringVar(&o.per, "per", "", "Show the usage in each period: day, week, month")
	flags.StringVar(&o.resource, "resource", "cpu", "Resource: cpu, memory, gpu, node, or a name such as nvidia.com/gpu")
	flags.StringSliceVar(&o.users, "user", nil, "Show only the usage of these users")
	flags.StringSliceVarP(&o.queues, "queue", "q", nil, "Show only the usage of these queues")
	flags.StringSliceVar(&o.accounts, "account", nil, "Show only the usage of these accounts")
	flags.StringVar(&o.since, "since", "30d", "Show usage after this time: an age (12h, 7d) or a date (2026-11-21)")
	flags.StringVar(&o.until, "until", "now", "Show usage before this time")
	flags.IntVar(&o.top, "top", 10, "List at most this number of names, and sum up the others (0 = all)")
	_ = cmd.RegisterFlagCompletionFunc("by", cli.CompleteValues(bys...))
	_ = cmd.RegisterFlagCompletionFunc("per", cli.CompleteValues("day", "week", "month"))
	_ = cmd.RegisterFlagCompletionFunc("resource", cli.CompleteValues("cpu", "memory", "gpu", "node"))
	_ = cmd.RegisterFlagCompletionFunc("user", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("since", cli.CompleteValues("24h", "7d", "30d", "52w", "yesterday"))
	_ = cmd.RegisterFlagCompletionFunc("until", cli.CompleteValues("now", "24h", "7d", "yesterday"))
	_ = cmd.RegisterFlagCompletionFunc("account", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("queue", f.CompleteQueues())
	return cmd
}

// unit describes a resource in a report.
type unit struct {
	// resource is the name in the accounting database, and title the name in the report. The resource gpu stands for the
	// GPUs of all vendors.
	resource, title string
	// amount is the amount that counts as one.
	amount int64
}

// gpu is the value of --resource for GPUs of all vendors.
const gpu = "gpu"

// parseResource parses the value of --resource.
func parseResource(text string) (unit, error) {
	switch lower := strings.ToLower(text); {
	case lower == "cpu":
		return unit{accounting.CPU, "CPU", 1000}, nil
	case lower == "memory" || lower == "mem":
		return unit{accounting.Memory, "GIB", 1024}, nil
	case lower == "node":
		return unit{accounting.Nodes, "NODE", 1}, nil
	case lower == gpu:
		return unit{gpu, "GPU", 1}, nil
	case strings.Contains(text, "/"):
		return unit{text, strings.ToUpper(text[strings.LastIndexByte(text, '/')+1:]), 1}, nil
	}
	return unit{}, usererror.Errorf("use cpu, memory, gpu, node, or the name of a resource such as nvidia.com/gpu", "--resource: unknown resource %q", text)
}

// Report is a report as JSON and YAML show it.
type Report struct {
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	By       string    `json:"by"`
	Per      string    `json:"per,omitempty"`
	Resource string    `json:"resource"`
	// Unit is the unit of Hours, for example CPU-HOURS.
	Unit string `json:"unit"`
	Rows []Row  `json:"rows"`
}

func showReport(ctx context.Context, o *options) error {
	if err := o.out.Validate(); err != nil {
		return err
	}
	by, ok := dimensions[o.by]
	if !ok {
		return usererror.Errorf("use account, namespace, queue or user", "--by: usage cannot be reported by %q", o.by)
	}
	if _, ok := steps[o.per]; !ok && o.per != "" {
		return usererror.Errorf("use day, week or month", "--per: unknown period %q", o.per)
	}
	of, err := parseResource(o.resource)
	if err != nil {
		return err
	}
	if o.top < 0 {
		return usererror.Errorf("use 0 to list all names", "--top: %d is less than 0", o.top)
	}
	isPage := o.out.Format == "html"
	shown := []string{o.by}
	if isPage {
		if shown, err = o.preparePage(); err != nil {
			return err
		}
	}
	query, err := o.newQuery(shown, of)
	if err != nil {
		return err
	}
	config, err := o.f.RESTConfig()
	if err != nil {
		return err
	}
	busy := o.f.Streams.StartBusyLine("reading the usage of resources")
	defer busy.RemoveLine()
	usage, err := recorded.Usage(ctx, config, query)
	if err != nil {
		return recorded.Explain(err)
	}
	if of.resource == gpu {
		usage = slices.DeleteFunc(usage, func(u accounting.Usage) bool { return !render.IsGPU(corev1.ResourceName(u.Resource)) })
	}
	busy.RemoveLine()
	recorded.WarnOwnOnly(ctx, o.f, wire.AllUsageResource, "usage")
	if isPage {
		return o.writePage(query, of, shown, usage)
	}
	return o.printReport(&Report{
		From: query.From, To: query.To, By: o.by, Per: o.per, Resource: of.resource, Unit: of.title + "-HOURS",
		Rows: sumUp(usage, by, o.per, o.top, 3600*float64(of.amount)),
	})
}

// newQuery returns the query for the use that the report needs. Its times are full hours, because use is stored by the hour.
func (o *options) newQuery(shown []string, of unit) (accounting.UsageQuery, error) {
	from, to, err := recorded.ParseInterval(o.since, o.until, o.f.Now())
	if err != nil {
		return accounting.UsageQuery{}, err
	}
	query := accounting.UsageQuery{
		From: accounting.Hour.Start(from), To: to.UTC(), Users: o.users, Queues: o.queues, Accounts: o.accounts,
		Resources: []string{of.resource},
	}
	for _, name := range shown {
		query.By = append(query.By, dimensions[name].by)
	}
	if of.resource == gpu {
		query.Resources = nil // the names of the GPUs are not known
	}
	if !accounting.Hour.Start(to).Equal(to) {
		query.To = accounting.Hour.End(to)
	}
	if o.per != "" {
		query.From, query.Step = startOf(o.per, from), steps[o.per]
		query.By = append(query.By, accounting.ByTime)
	}
	if o.f.NamespaceGiven() {
		namespace, err := o.f.Namespace()
		if err != nil {
			return query, err
		}
		query.Namespaces = []string{namespace}
	}
	return query, nil
}

// printReport prints the report in the selected format.
func (o *options) printReport(r *Report) error {
	if done, err := o.out.PrintAnswer(o.f, r); done {
		return err
	}
	if o.out.Format == "csv" {
		return o.printCSV(r)
	}
	if len(r.Rows) == 0 {
		_, err := fmt.Fprintf(o.f.Streams.Err, "No usage of %s from %s to %s was recorded.\n", r.Resource, r.From.Format(time.RFC3339), r.To.Format(time.RFC3339))
		return err
	}
	return o.printTable(r)
}

// barWidth is the width of bars in cells.
const barWidth = 20

func (o *options) printTable(r *Report) error {
	highest := 0.0
	for i := range r.Rows {
		highest = max(highest, r.Rows[i].Hours)
	}
	table := render.Table{NoHeader: o.noHeaders, Header: []string{strings.ToUpper(r.By), r.Unit, "SHARE", ""}, MaxWidth: o.f.Streams.Width}
	if r.Per != "" {
		table.Header = append([]string{strings.ToUpper(r.Per)}, table.Header...)
	}
	last := ""
	for i := range r.Rows {
		row := &r.Rows[i]
		cells := []string{row.label(), fmt.Sprintf("%.2f", row.Hours), fmt.Sprintf("%.1f%%", 100*row.Share), render.FormatBar(row.Hours, highest, barWidth, o.f.Streams.SupportsUnicode())}
		if r.Per != "" {
			period := row.Period
			if period == last && !o.noHeaders {
				period = ""
			}
			last = row.Period
			cells = append([]string{period}, cells...)
		}
		table.Rows = append(table.Rows, cells)
	}
	return table.Fprint(o.f.Streams.Out)
}

// label returns the name of a row in a table.
func (r *Row) label() string {
	switch {
	case r.Others:
		return "(others)"
	case r.Name == "":
		return render.None
	}
	return r.Name
}

func (o *options) printCSV(r *Report) error {
	var rows [][]string
	if !o.noHeaders {
		rows = append(rows, []string{"period", r.By, "resource", "hours", "share", "others"})
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		rows = append(rows, []string{
			row.Period, printable.EscapeLine(row.Name), r.Resource, strconv.FormatFloat(row.Hours, 'f', 4, 64), strconv.FormatFloat(row.Share, 'f', 4, 64),
			strconv.FormatBool(row.Others),
		})
	}
	return csv.NewWriter(o.f.Streams.Out).WriteAll(rows)
}
