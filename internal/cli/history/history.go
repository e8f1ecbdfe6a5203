// Package history implements `vcctl history`, which lists ended jobs with what they used of the requested resources.
//
//	In:   records from the accounting database
//	Out:  a table, JSON, YAML or CSV
package history

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/wire"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/recorded"
	"github.com/vc-batch/vc/internal/usererror"
)

// options holds the inputs of `vcctl history`.
type options struct {
	f             *cli.Factory
	out           cli.Value
	noHeaders     bool
	allNamespaces bool
	allUsers      bool
	users         []string
	queues        []string
	accounts      []string
	states        []string
	since, until  string
	limit         int
}

// outcomes lists the states of ended jobs.
var outcomes = []string{
	string(accounting.Completed), string(accounting.Failed), string(accounting.TimedOut), string(accounting.OutOfMemory), string(accounting.NodeFailed),
	string(accounting.Cancelled), string(accounting.Suspended), string(accounting.Preempted), string(accounting.Restarted),
}

// New returns `vcctl history`.
func New(f *cli.Factory) *cobra.Command { return newHistory(f, listHistory) }

func newHistory(f *cli.Factory, run func(context.Context, *options) error) *cobra.Command {
	o := &options{f: f, out: cli.Value{Extra: []string{"wide", "csv"}}}
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Show ended jobs and how much of their CPUs and memory they used",
		Long: cli.FormatHelp(`
			Show your jobs that ended in the last seven days, also those that were deleted,
			from the accounting database. The latest are last.

			CPU% is the CPU time that a job used, compared with its requested CPUs and its run
			time. MEM% is the highest memory usage, compared with the requested memory. Jobs
			whose usage was not measured have no percentages, for example jobs that ran on
			kubelets for less than half a minute.

			Other users' jobs need the permission of the ClusterRole vc-accounting-admin.`),
		Example: f.FormatExamples(`
			# Your jobs of the last seven days, in all namespaces
			vcctl history -A

			# Jobs that failed since yesterday, with the reason
			vcctl history --since yesterday --state failed,timedout,outofmemory -o wide

			# The last ten jobs of a user
			vcctl history -A --user mei --since 52w --limit 10

			# All jobs of a month, for a spreadsheet
			vcctl history -A --all-users --since 2026-10-01 --until 2026-11-01 --limit 0 -o csv`),
		Args: cli.NoArgs(f),
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o) },
	}
	flags := cmd.Flags()
	o.out.AddFlag(cmd)
	flags.BoolVar(&o.noHeaders, "no-headers", false, "Omit the header row")
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Show jobs in all namespaces")
	flags.StringSliceVar(&o.users, "user", nil, "Show jobs of these users instead of yours")
	flags.BoolVar(&o.allUsers, "all-users", false, "Show jobs of all users")
	flags.StringSliceVarP(&o.queues, "queue", "q", nil, "Show only jobs in these queues")
	flags.StringSliceVar(&o.accounts, "account", nil, "Show only jobs of these accounts")
	flags.StringSliceVar(&o.states, "state", nil, "Show only jobs that ended like this: "+strings.ToLower(strings.Join(outcomes, ", ")))
	flags.StringVar(&o.since, "since", "7d", "Show jobs that ended after this time: an age (12h, 7d) or a date (2026-11-21)")
	flags.StringVar(&o.until, "until", "now", "Show jobs that ended before this time")
	flags.IntVar(&o.limit, "limit", 100, "Show at most this number of jobs, the latest (0 = all)")
	cli.RejectTogether(cmd, "one of them selects users", "all-users", "user")
	_ = cmd.RegisterFlagCompletionFunc("state", cli.CompleteValues(outcomes...))
	_ = cmd.RegisterFlagCompletionFunc("user", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("since", cli.CompleteValues("24h", "7d", "30d", "52w", "yesterday"))
	_ = cmd.RegisterFlagCompletionFunc("until", cli.CompleteValues("now", "24h", "7d", "yesterday"))
	_ = cmd.RegisterFlagCompletionFunc("account", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("queue", f.CompleteQueues())
	return cmd
}

func listHistory(ctx context.Context, o *options) error {
	if err := o.out.Validate(); err != nil {
		return err
	}
	states, err := cli.ParseWords("--state", "state", o.states, outcomes)
	if err != nil {
		return err
	}
	query, until, err := o.newQuery(ctx)
	if err != nil {
		return err
	}
	config, err := o.f.RESTConfig()
	if err != nil {
		return err
	}
	if o.allUsers || len(o.users) > 0 {
		recorded.WarnOwnOnly(ctx, o.f, wire.AllRecordsResource, "jobs")
	}
	busy := o.f.Streams.StartBusyLine("reading the history")
	defer busy.RemoveLine()
	var records []*accounting.Record
	dropped := 0
	for record, err := range recorded.Records(ctx, config, query) {
		if err != nil {
			return recorded.Explain(err)
		}
		if record.Ended.After(until) || !isSelected(states, record.Outcome) {
			continue
		}
		records = append(records, record)
		if o.limit > 0 && len(records)/2 >= o.limit { // records arrive in the order of their ends
			dropped += len(records) - o.limit
			records = slices.Clone(records[len(records)-o.limit:])
		}
	}
	if excess := len(records) - o.limit; o.limit > 0 && excess > 0 {
		dropped += excess
		records = records[excess:]
	}
	busy.RemoveLine()
	if dropped > 0 {
		o.f.Notef("jobs that ended earlier and are not shown: %d; raise --limit to show them", dropped)
	}
	return o.printJobs(records)
}

// isSelected reports whether an outcome is selected; an empty list selects all outcomes. The database must not select
// outcomes: a job that failed before it was restarted would be listed, although it did not end like this.
func isSelected(states []string, outcome accounting.Outcome) bool {
	return len(states) == 0 || slices.Contains(states, string(outcome))
}

// newQuery returns the query for the selected records, and the time before which they must have ended.
func (o *options) newQuery(ctx context.Context) (query accounting.Query, until time.Time, err error) {
	if o.limit < 0 {
		return query, until, usererror.Errorf("use 0 to show all jobs", "--limit: %d is less than 0", o.limit)
	}
	from, until, err := recorded.ParseInterval(o.since, o.until, o.f.Now())
	if err != nil {
		return query, until, err
	}
	query = accounting.Query{From: from.UTC(), To: until.UTC(), Queues: o.queues, Accounts: o.accounts, Users: o.users, LatestOnly: true}
	if !o.allNamespaces {
		namespace, err := o.f.Namespace()
		if err != nil {
			return query, until, err
		}
		query.Namespaces = []string{namespace}
	}
	if len(query.Users) == 0 && !o.allUsers {
		query.Users = o.f.ListOwnUserNames(ctx, ownLogin(o.f)...)
	}
	return query, until, nil
}

// ownLogin returns the login name of the user, if it is known.
func ownLogin(f *cli.Factory) []string {
	if name := f.Streams.FindUserName(); name != "" {
		return []string{name}
	}
	return nil
}
