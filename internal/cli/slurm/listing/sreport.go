package listing

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/sreport"
	"github.com/vc-batch/vc/internal/usererror"
)

var sreportTable = getopt.Table{Program: "sreport", Options: []getopt.Option{
	{Long: "time", Short: 't', Arg: getopt.Required, Value: "UNIT", Help: "Unit of time: seconds, minutes (default), hours, percent of the capacity, or secper, minper or hourper for both", Group: program.OutputGroup},
	{Long: "tres", Short: 'T', Arg: getopt.Required, Value: "LIST", Help: "Resources to report: cpu (default), mem, node, gres/gpu", Group: program.FilterGroup},
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "LIST", Help: "Clusters to query: contexts of the kubeconfig, or all", Group: program.FilterGroup},
	{Long: "cluster", Arg: getopt.Required, Value: "LIST", Hidden: true, Exact: true},
	{Long: "all_clusters", Short: 'a', Help: "Query all contexts of the kubeconfig", Group: program.FilterGroup},
	{Long: "local", NoEffect: true, Help: "No effect: only one cluster is shown unless --clusters is given", Group: program.FilterGroup},
	{Long: "noheader", Short: 'n', Help: "Do not print the header", Group: program.OutputGroup},
	{Long: "parsable", Short: 'p', Help: "Print | after each column", Group: program.OutputGroup},
	{Long: "parsable2", Short: 'P', Help: "Print | between columns", Group: program.OutputGroup},
	{Long: "quiet", Short: 'Q', NoEffect: true, Help: "No effect: only errors are printed in addition to the report", Group: program.OutputGroup},
	{Long: "verbose", Short: 'v', Help: "Report options without effect", Group: program.OutputGroup},
}}

// Sreport reports who used the cluster.
var Sreport = program.Program{Table: &sreportTable, Run: runSreport,
	Short: "Report the usage of resources by account and user",
	Long: `
		Report the resources that ended jobs had allocated in a period, from the accounting
		database. The period is yesterday unless start= and end= are given. A job that is
		still running is not included.

		Reports: cluster AccountUtilizationByUser (with Tree, each account includes the
		accounts below it), cluster AccountUtilizationByQOS, cluster
		UserUtilizationByAccount, cluster Utilization, job SizesByAccount (with Grouping=
		and PrintJobCount) and user TopUsage (with TopCount= and Group). Conditions of most
		reports: accounts=, users=, clusters=, start=, end=, format=. Names may be
		abbreviated.

		Shares and the report cluster Utilization use the recorded capacity of the nodes.
		Down is the unused capacity of nodes that were not ready or cordoned, and PLND Down
		is always 0. Planned is idle capacity for which jobs were waiting. Shares are N/A
		for a period before vc-accounting was enabled.`,
	Example: `
		# Last month, in hours of CPUs and GPUs
		vcctl slurm sreport -t hours -T cpu,gres/gpu cluster AccountUtilizationByUser start=10/01 end=11/01

		# The three users who used most in the last seven days, for scripts
		vcctl slurm sreport -n -P user top start=now-7days end=now topcount=3

		# How much of the cluster was used in the last 30 days
		vcctl slurm sreport -t percent -T cpu,mem cluster Utilization start=now-30days end=now

		# How many jobs of each account used how many CPUs
		vcctl slurm sreport job SizesByAccount Grouping=8,64,512 PrintJobCount start=now-30days`,
}

func runSreport(ctx context.Context, c *program.Call) error {
	request, err := sreport.Parse(c.Parsed.Operands, c.Factory.Now())
	if err != nil {
		return err
	}
	unit, resources := sreport.Minutes, []sreport.TRES{sreport.CPU}
	if text, ok := c.Parsed.LastValue("time"); ok {
		if unit, err = sreport.ParseUnit(text); err != nil {
			return err
		}
	}
	if text, ok := c.Parsed.LastValue("tres"); ok {
		if resources, err = sreport.ParseTRES(text); err != nil {
			return err
		}
	}
	columns, err := request.ParseColumns(resources, unit)
	if err != nil {
		return err
	}
	if c.Parsed.Has("all_clusters") {
		c.Parsed.Given = append(c.Parsed.Given, getopt.Given{Name: "clusters", Value: "all", HasValue: true})
	}
	report := &usageReport{request: request, resources: resources, unit: unit}
	var lines []sreport.Line
	var adding sync.Mutex
	err = c.InClustersParallel("", func(one *program.Call, _ bool) error {
		facts, err := report.readFacts(ctx, one)
		if err != nil {
			return err
		}
		more := request.Lines(facts, resources, unit)
		adding.Lock()
		defer adding.Unlock()
		lines = append(lines, more...)
		return nil
	})
	if err != nil {
		return err
	}
	form := outputForm(c)
	var b strings.Builder
	if form.Heading {
		b.WriteString(request.Heading(resources, unit))
	}
	b.WriteString(columns.FormatTable(request.Merge(lines), form))
	_, err = io.WriteString(c.Factory.Streams.Out, b.String())
	return err
}

// usageReport is a report for which facts are read.
type usageReport struct {
	request   *sreport.Request
	resources []sreport.TRES
	unit      sreport.Unit
}

// readFacts reads what the report of a cluster is made from.
func (r *usageReport) readFacts(ctx context.Context, c *program.Call) (*sreport.Facts, error) {
	facts := &sreport.Facts{}
	if r.request.IsAboutClusters() {
		allowed, err := clusterdata.MayReadUseOfAll(ctx, c)
		if err != nil {
			return nil, err
		}
		if !allowed {
			return nil, usererror.Errorf("ask the administrator for the ClusterRole vc-accounting-admin", "you may read only your own usage, and this report needs the usage of all users")
		}
		if facts.Waiting, err = readUsage(ctx, c, r.request.WaitingQuery(r.resources)); err != nil {
			return nil, err
		}
	}
	var err error
	if facts.Usage, err = readUsage(ctx, c, r.request.Query(r.resources)); err != nil {
		return nil, err
	}
	if r.request.Tree {
		if facts.Parents, err = clusterdata.ReadAccountParents(ctx, c); err != nil {
			return nil, err
		}
	}
	if r.request.NeedsCapacity(r.unit) {
		facts.Capacity, err = r.readCapacity(ctx, c)
	}
	return facts, err
}

// readCapacity reads the capacity of the nodes, and prints a note if it was not recorded for the whole period.
func (r *usageReport) readCapacity(ctx context.Context, c *program.Call) ([]accounting.Capacity, error) {
	capacity, err := clusterdata.ReadCapacity(ctx, c, r.request.CapacityQuery(r.resources))
	if errors.Is(err, clusterdata.ErrNoHistory) { // an older version of vcd records no capacity
		err = nil
	}
	if err == nil && len(capacity) == 0 {
		c.PrintNoteOnce("the capacity of the nodes was not recorded in this period, so shares are N/A")
	}
	return capacity, err
}

func readUsage(ctx context.Context, c *program.Call, query accounting.UsageQuery) ([]accounting.Usage, error) {
	usage, err := clusterdata.ReadUsage(ctx, c, query)
	if errors.Is(err, clusterdata.ErrNoHistory) {
		return nil, usererror.Errorf("ask the administrator to run vcd accounting", "%s", err)
	}
	return usage, err
}
