package listing

import (
	"cmp"
	"context"
	"io"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/sprio"
	"github.com/vc-batch/vc/internal/slurm/squeue"
	"github.com/vc-batch/vc/internal/slurm/sshare"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

var sprioTable = getopt.Table{Program: "sprio", Options: []getopt.Option{
	{Long: "jobs", Short: 'j', Arg: getopt.Optional, Value: "LIST", Help: "Only these jobs", Group: program.FilterGroup},
	{Long: "partition", Short: 'p', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs in these partitions (queues)", Group: program.FilterGroup},
	{Long: "user", Short: 'u', Arg: getopt.Required, Value: "LIST", Help: "Show only jobs of these users", Group: program.FilterGroup},
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "LIST", Help: "Clusters to query: contexts of the kubeconfig", Group: program.FilterGroup},
	{Long: "cluster", Arg: getopt.Required, Value: "LIST", Hidden: true, Exact: true},
	{Long: "local", NoEffect: true, Help: "No effect: only one cluster is shown unless --clusters is given", Group: program.FilterGroup},
	{Long: "federation", Help: "Not supported: clusters are not federated", Group: program.FilterGroup},
	{Long: "sibling", Help: "Not supported: clusters are not federated", Group: program.FilterGroup},
	{Long: "noheader", Short: 'h', Help: "Do not print the header", Group: program.OutputGroup},
	{Long: "long", Short: 'l', Help: "Print more columns", Group: program.OutputGroup},
	{Long: "norm", Short: 'n', NoEffect: true, Help: "No effect: priorities have no factors to normalize", Group: program.OutputGroup},
	{Long: "format", Short: 'o', Arg: getopt.Required, Value: "FORMAT", Help: `Output format, for example "%i %Y %O"`, Group: program.OutputGroup},
	{Long: "sort", Short: 'S', Arg: getopt.Required, Value: "LETTERS", Help: "Sort order: i, P, u (default: by position in the queue)", Group: program.OutputGroup},
	{Long: "weights", Short: 'w', Help: "Not supported: priorities have no weighted factors", Group: program.OutputGroup},
	{Long: "verbose", Short: 'v', Help: "Report options without effect", Group: program.OutputGroup},
}}

// Sprio lists the priorities of pending jobs.
var Sprio = program.Program{Table: &sprioTable, Run: runSprio,
	Short: "Show what determines the order of pending jobs",
	Long: `
		For each pending job, show its priority, its position in the queue, and its queue's
		share: the fraction of the queue's deserved resources that is in use. The queue
		with the lowest share is served next.`,
	Example: `
		# All pending jobs
		vcctl slurm sprio

		# Jobs of one user, with more columns
		vcctl slurm sprio -l -u mei`,
}

func runSprio(ctx context.Context, c *program.Call) error {
	if err := c.RejectUnsupported(map[string]string{"federation": program.NoFederations, "sibling": program.NoFederations, "weights": "priorities have no weighted factors; vcctl queue tree shows shares"}); err != nil {
		return err
	}
	named, operands := c.Parsed.AllValues("jobs"), c.Parsed.Operands
	if len(named) > 0 && named[len(named)-1] == "" {
		named, operands = append(named, operands...), nil
	}
	if len(operands) > 0 {
		return usererror.Errorf("specify jobs with -j", "Unrecognized option: %s", operands[0])
	}
	refs, err := program.ParseJobWords(named)
	if err != nil {
		return err
	}
	if err := c.RejectEmptyLists(refs, "jobs"); err != nil {
		return err
	}
	filter := squeue.Filter{Jobs: refs, States: []state.Code{state.Pending}}
	if err := c.ReadListFilters(program.NewListFilter("partition", "", &filter.Partitions), program.NewListFilter("user", "", &filter.Users)); err != nil {
		return err
	}
	format := sprio.Default
	if c.Parsed.Has("long") {
		format = sprio.Verbose
	}
	if text, ok := c.Parsed.LastValue("format"); ok {
		format = text
	}
	columns, err := selectedColumns(c, format, "", sprio.ColumnFields(), "Invalid job format specification")
	if err != nil {
		return err
	}
	order := func(a, b *listrow.Row) int {
		if n := strings.Compare(a.PartitionName(), b.PartitionName()); n != 0 {
			return n
		}
		return cmp.Or(listrow.CompareByPlace(a, b), listrow.CompareByNumber(a, b))
	}
	if text, ok := c.Parsed.LastValue("sort"); ok {
		if order, err = (squeue.Style{}).ParseOrder(text); err != nil {
			return usererror.Errorf("use column letters, for example i or -p", "%s", err)
		}
	}
	return c.InClustersParallel("\n", func(one *program.Call, _ bool) error {
		v, err := clusterdata.ReadView(ctx, one, clusterdata.Wants{Named: refs, Groups: true})
		if err != nil {
			return err
		}
		if err := v.CheckNames(refs); err != nil {
			return err
		}
		rows := slices.DeleteFunc(clusterdata.JobRows(one, v, false), func(r *listrow.Row) bool { return !filter.SelectsRow(r) })
		slices.SortStableFunc(rows, order)
		_, err = io.WriteString(one.Factory.Streams.Out, columns.FormatLines(rows, !c.Parsed.Has("noheader")))
		return err
	})
}

var sshareTable = getopt.Table{Program: "sshare", Options: []getopt.Option{
	{Long: "accounts", Short: 'A', Arg: getopt.Required, Value: "LIST", Help: "Show only these accounts, or these queues if the cluster does not use Fair Tree", Group: program.FilterGroup},
	{Long: "all", Short: 'a', Help: "Show all users of accounts, not only you", Group: program.FilterGroup},
	{Long: "users", Short: 'u', Arg: getopt.Required, Value: "LIST", Help: "Show the accounts of these users", Group: program.FilterGroup},
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "LIST", Help: "Clusters to query: contexts of the kubeconfig", Group: program.FilterGroup},
	{Long: "cluster", Arg: getopt.Required, Value: "LIST", Hidden: true, Exact: true},
	{Long: "Users", Short: 'U', Help: "Show only users, not the accounts above them", Group: program.FilterGroup},
	{Long: "noheader", Short: 'n', Help: "Do not print the header", Group: program.OutputGroup},
	{Long: "header", Short: 'h', Hidden: true, Alias: "noheader"},
	{Long: "long", Short: 'l', Help: "Print more columns", Group: program.OutputGroup},
	{Long: "partition", Short: 'm', NoEffect: true, Help: "No effect: accounts have no partitions", Group: program.OutputGroup},
	{Long: "format", Short: 'o', Arg: getopt.Required, Value: "FIELDS", Help: "Columns to print: Account,FairShare%12", Group: program.OutputGroup},
	{Long: "parsable", Short: 'p', Help: "Print | after each column", Group: program.OutputGroup},
	{Long: "parsable2", Short: 'P', Help: "Print | between columns", Group: program.OutputGroup},
	{Long: "verbose", Short: 'v', Help: "Report options without effect", Group: program.OutputGroup},
}}

// Sshare lists the shares of accounts and users, or of queues.
var Sshare = program.Program{Table: &sshareTable, Run: runSshare,
	Short: "Show the shares and usage of accounts or queues",
	Long: `
		With the scheduler's policy fairtree, show the tree of accounts and users: their
		shares, their past usage in seconds of the whole cluster, and the FairShare that
		determines the order of jobs. With -l, also show the budgets of accounts
		(GrpTRESMins), and how much of them running jobs have reserved (TRESRunMins).

		Otherwise, show the hierarchy of queues in the format of Slurm's accounts: each
		queue's weight, its share of the cluster, the CPUs that it uses, and its share of
		all CPUs in use.`,
	Example: `
		# The tree of accounts with you, or the hierarchy of queues
		vcctl slurm sshare

		# All users and all columns
		vcctl slurm sshare -l -a

		# The budgets of the accounts, and what running jobs have reserved
		vcctl slurm sshare -o Account,GrpTRESMins,TRESRunMins

		# In a format for scripts
		vcctl slurm sshare -h -P -o Account,FairShare`,
}

func runSshare(ctx context.Context, c *program.Call) error {
	if len(c.Parsed.Operands) > 0 {
		return usererror.Errorf("specify accounts or queues with -A, for example sshare -A research", "Unrecognized option: %s", c.Parsed.Operands[0])
	}
	format := sshare.Default
	if c.Parsed.Has("long") {
		format = sshare.Verbose
	}
	if text, ok := c.Parsed.LastValue("format"); ok {
		format = text
	}
	columns, err := tableformat.ParseSized(format, sshare.ColumnFields())
	if err != nil {
		return usererror.Errorf("columns are "+sshare.Verbose+",Cluster", "%s", err)
	}
	var accounts, users []string
	if err := c.ReadListFilters(program.NewListFilter("accounts", "", &accounts), program.NewListFilter("users", "", &users)); err != nil {
		return err
	}
	if c.Parsed.Has("Users") && len(users) == 0 {
		users = c.ListOwnUserNames(ctx)
	}
	return c.InClustersParallel("\n", func(one *program.Call, _ bool) error {
		cl, err := one.Factory.Client()
		if err != nil {
			return err
		}
		lines, isFairTree, err := fairTreeLines(ctx, one, cl, users)
		if err == nil && !isFairTree {
			lines, err = shareLines(ctx, one, cl, users)
		}
		if err != nil {
			return err
		}
		lines = slices.DeleteFunc(lines, func(l *sshare.Line) bool { return len(accounts) > 0 && !slices.Contains(accounts, l.Name) })
		if len(accounts) > 0 && len(lines) == 0 {
			one.PrintNotef("note", "%s", noSharesNote(accounts, isFairTree))
		}
		_, err = io.WriteString(one.Factory.Streams.Out, columns.FormatTable(lines, outputForm(c)))
		return err
	})
}

// noSharesNote returns a note that explains why none of the selected accounts has a line.
func noSharesNote(accounts []string, isFairTree bool) string {
	names := strings.Join(accounts, ",")
	if isFairTree {
		return "no line for " + names + "; sacctmgr show account lists the accounts"
	}
	return "no queue is named " + names + "; sshare shows accounts only if the scheduler uses the policy fairtree"
}

// shareLines returns one line for each queue, unless -U is specified, and one line for each account of each user.
func shareLines(ctx context.Context, c *program.Call, cl client.WithWatch, users []string) ([]*sshare.Line, error) {
	var lines []*sshare.Line
	if !c.Parsed.Has("Users") {
		v := &clusterdata.View{Client: cl}
		if err := v.ReadQueues(ctx); err != nil {
			return nil, err
		}
		lines = sshare.LinesOf(slices.Collect(maps.Values(v.Queues)), c.ClusterName())
	}
	if len(users) == 0 {
		return lines, nil
	}
	p, err := clusterdata.ReadSiteProfile(ctx, c, cl)
	if err != nil {
		return nil, err
	}
	accounts := slices.Sorted(maps.Keys(p.Accounts))
	if len(accounts) == 0 { // without configured accounts, all accounts are accepted and the namespace is the default
		namespace, err := c.Factory.Namespace()
		if err != nil {
			return nil, err
		}
		accounts = []string{namespace}
	}
	return append(lines, sshare.LinesOfUsers(users, accounts, c.ClusterName())...), nil
}
