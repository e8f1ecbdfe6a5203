package listing

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/sreport"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

var sreportTable = getopt.Table{Program: "sreport", Options: []getopt.Option{
	{Long: "time", Short: 't', Arg: getopt.Required, Value: "UNIT", Help: "Unit of time: seconds, minutes (default) or hours", Group: program.OutputGroup},
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
	Short: "Report the use of resources by account and user",
	Long: `
		Report the resources that ended jobs had allocated in a period, from the accounting
		database. The period is yesterday unless start= and end= are given. A job that is
		still running is not included.

		Reports: cluster AccountUtilizationByUser, cluster UserUtilizationByAccount,
		user TopUsage. Conditions: accounts=, users=, clusters=, start=, end=, format=,
		topcount=. Names may be abbreviated.`,
	Example: `
		# Last month, in hours of CPUs and GPUs
		vcctl slurm sreport -t hours -T cpu,gres/gpu cluster AccountUtilizationByUser start=10/01 end=11/01

		# The three users who used most in the last seven days, for scripts
		vcctl slurm sreport -n -P user top start=now-7days end=now topcount=3`,
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
	format := request.DefaultColumns(resources)
	if request.Columns != "" {
		format = request.Columns
	}
	columns, err := tableformat.ParseSized(format, sreport.ColumnFields())
	if err != nil {
		return usererror.Errorf("columns are Cluster, Account, Login, Proper, TresName, Used and Energy", "%s", err)
	}
	if c.Parsed.Has("all_clusters") {
		c.Parsed.Given = append(c.Parsed.Given, getopt.Given{Name: "clusters", Value: "all", HasValue: true})
	}
	var usage []accounting.Usage
	var adding sync.Mutex
	err = c.InClustersParallel("", func(one *program.Call, _ bool) error {
		more, err := clusterdata.ReadUsage(ctx, one, request.Query(resources))
		if errors.Is(err, clusterdata.ErrNoHistory) {
			return usererror.Errorf("ask the administrator to run vcd accounting", "%s", err)
		}
		adding.Lock()
		defer adding.Unlock()
		usage = append(usage, more...)
		return err
	})
	if err != nil {
		return err
	}
	form := outputForm(c)
	var b strings.Builder
	if form.Heading {
		b.WriteString(request.Heading(resources, unit))
	}
	b.WriteString(columns.FormatTable(slices.Clone(request.Lines(usage, resources, unit)), form))
	_, err = io.WriteString(c.Factory.Streams.Out, b.String())
	return err
}
