package listing

import (
	"context"
	"slices"

	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/sinfo"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

const whichNodes = "Which nodes"

var sinfoTable = getopt.Table{Program: "sinfo", Options: []getopt.Option{
	{Long: "all", Short: 'a', Help: "Show all partitions (default)", Group: whichNodes},
	{Long: "dead", Short: 'd', Help: "Show only nodes that do not respond", Group: whichNodes},
	{Long: "responding", Short: 'r', Help: "Show only nodes that respond", Group: whichNodes},
	{Long: "hide", NoEffect: true, Help: "No effect: all partitions are visible", Group: whichNodes},
	{Long: "nodes", Short: 'n', Arg: getopt.Required, Value: "HOSTS", Help: "Only these nodes", Group: whichNodes},
	{Long: "partition", Short: 'p', Arg: getopt.Required, Value: "LIST", Help: "Show only these partitions (queues)", Group: whichNodes},
	{Long: "states", Short: 't', Arg: getopt.Required, Value: "LIST", Help: "Show only nodes in these states: idle,mix,alloc,drain,down,maint", Group: whichNodes},
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "LIST", Help: "Clusters to query: contexts of the kubeconfig, or all", Group: whichNodes},
	{Long: "cluster", Arg: getopt.Required, Value: "LIST", Hidden: true, Exact: true},
	{Long: "local", NoEffect: true, Help: "No effect: only one cluster is shown unless --clusters is given", Group: whichNodes},
	{Long: "federation", Help: "Not supported: clusters are not federated", Group: whichNodes},
	{Long: "reservation", Short: 'T', Help: "Not supported: nodes cannot be reserved in advance", Group: whichNodes},
	{Long: "bg", Short: 'b', NoEffect: true, Help: "No effect", Group: whichNodes},
	{Long: "future", Short: 'F', NoEffect: true, Help: "No effect", Group: whichNodes},
	{Long: "exact", Short: 'e', Help: "Do not group nodes of different sizes in one line", Group: program.OutputGroup},
	{Long: "noheader", Short: 'h', Help: "Do not print the header", Group: program.OutputGroup},
	{Long: "iterate", Short: 'i', Arg: getopt.Required, Value: "SECONDS", Help: "Repeat after this number of seconds until interrupted", Group: program.OutputGroup},
	{Long: "long", Short: 'l', Help: "Print more columns", Group: program.OutputGroup},
	{Long: "Node", Short: 'N', Help: "Print one line for each node", Group: program.OutputGroup},
	{Long: "format", Short: 'o', Arg: getopt.Required, Value: "FORMAT", Help: `Output format, for example "%P %.6D %t"`, Group: program.OutputGroup},
	{Long: "Format", Short: 'O', Arg: getopt.Required, Value: "FORMAT", Help: "Columns to print, by name, for example Partition:10,Nodes", Group: program.OutputGroup},
	{Long: "list-reasons", Short: 'R', Help: "Show why nodes are drained or down", Group: program.OutputGroup},
	{Long: "summarize", Short: 's', Help: "Print one line for each partition", Group: program.OutputGroup},
	{Long: "sort", Short: 'S', Arg: getopt.Required, Value: "LETTERS", Help: "Sort order: P,-t", Group: program.OutputGroup},
	{Long: "noconvert", NoEffect: true, Help: "No effect: amounts are always in mebibytes", Group: program.OutputGroup},
	{Long: "json", Arg: getopt.Optional, Value: "VERSION", Help: "Print JSON", Group: program.OutputGroup},
	{Long: "yaml", Arg: getopt.Optional, Value: "VERSION", Help: "Print YAML", Group: program.OutputGroup},
	{Long: "verbose", Short: 'v', Help: "Report options without effect", Group: program.OutputGroup},
}}

// Sinfo lists partitions and nodes.
var Sinfo = program.Program{Table: &sinfoTable, Run: runSinfo,
	Short: "Show partitions and nodes",
	Long: `
		Show queues as partitions, with the nodes that their jobs can use and the states
		of these nodes. An asterisk (*) marks the default partition.`,
	Example: `
		# Partitions with their nodes, grouped by state
		vcctl slurm sinfo

		# Node counts: allocated, idle, other and total
		vcctl slurm sinfo -s

		# Each node with its resources and the reason why it is drained
		vcctl slurm sinfo -Nel`,
}

// sinfoView holds the parsed options of sinfo.
type sinfoView struct {
	filter            sinfo.Filter
	columns           tableformat.Columns[*sinfo.Row]
	order             func(a, b *sinfo.Row) int
	each, exact       bool
	heading, dated    bool
	machine           string
	summary, reasoned bool
}

func runSinfo(ctx context.Context, c *program.Call) error {
	if err := c.RejectUnsupported(map[string]string{"federation": program.NoFederations, "reservation": program.NoReservations}); err != nil {
		return err
	}
	v, err := newSinfoView(c)
	if err != nil {
		return err
	}
	return printRepeatedly(ctx, c, v.heading && v.machine == "", func(one *program.Call) error { return printSinfoOnce(ctx, one, v) })
}

func newSinfoView(c *program.Call) (*sinfoView, error) {
	has := c.Parsed.Has
	v := &sinfoView{heading: !has("noheader"), each: has("Node"), exact: has("exact"), dated: has("long") || has("iterate"), summary: has("summarize"), reasoned: has("list-reasons")}
	f := &v.filter
	if err := c.ReadListFilters(program.NewListFilter("partition", "SINFO_PARTITION", &f.Partitions), program.NewListFilter("states", "", &f.States)); err != nil {
		return nil, err
	}
	f.Dead, f.Responding, f.Reasoned = has("dead"), has("responding"), v.reasoned
	if err := sinfo.CheckStates(f.States); err != nil {
		return nil, usererror.Errorf("use idle, planned, mix, alloc, drain, drng, maint, down or unknown", "%s", err)
	}
	var err error
	if f.Nodes, err = c.ReadHostNames("nodes"); err != nil {
		return nil, err
	}
	v.machine = documentFormat(c)
	if len(c.Parsed.Operands) > 0 {
		return nil, usererror.Errorf("specify partitions with -p and nodes with -n, for example sinfo -p research", "Unrecognized option: %s", c.Parsed.Operands[0])
	}
	return v, readSinfoColumns(c, v)
}

// chooseSinfoFormat returns the format to use if no format is specified. The format depends on the other options.
func chooseSinfoFormat(c *program.Call, v *sinfoView) string {
	long := c.Parsed.Has("long")
	switch {
	case v.summary:
		return sinfo.Summary
	case v.reasoned && long:
		return sinfo.ReasonsVerbose
	case v.reasoned:
		return sinfo.Reasons
	case v.each && long:
		return sinfo.ByNodeVerbose
	case v.each:
		return sinfo.ByNode
	case long:
		return sinfo.Verbose
	}
	if text := c.Factory.Streams.Env("SINFO_FORMAT"); text != "" {
		return text
	}
	return sinfo.Default
}

func readSinfoColumns(c *program.Call, v *sinfoView) error {
	format, words := chooseSinfoFormat(c, v), ""
	for _, g := range c.Parsed.Given {
		switch g.Name {
		case "format":
			format, words = g.Value, ""
		case "Format":
			words = g.Value
		}
	}
	var err error
	if v.columns, err = selectedColumns(c, format, words, sinfo.ColumnFields(), "Invalid node format specification"); err != nil {
		return err
	}
	order := sinfo.DefaultOrder
	if v.each {
		order = sinfo.NodeOrder
	}
	if text, ok := c.OptionOrVariable("sort", "SINFO_SORT"); ok {
		order = text
	}
	if v.order, err = sinfo.ParseOrder(order); err != nil {
		return usererror.Errorf("use column letters, for example P,-t", "%s", err)
	}
	return nil
}

func printSinfoOnce(ctx context.Context, c *program.Call, v *sinfoView) error {
	partitions, _, err := clusterdata.ReadPartitions(ctx, c)
	if err != nil {
		return err
	}
	for _, name := range v.filter.Partitions {
		if !slices.ContainsFunc(partitions, func(p *sinfo.Partition) bool { return p.Name == name }) {
			return usererror.Errorf("sinfo without -p lists the partitions", "Invalid partition name specified: %s", name)
		}
	}
	rows := sinfo.GroupRows(partitions, v.columns, v.filter, v.each, v.exact, c.ClusterName())
	slices.SortStableFunc(rows, v.order)
	if v.machine != "" {
		return program.PrintDocument(c.Factory.Streams.Out, v.machine, sinfo.NewDocument(rows, append([]string{c.Table.Program}, c.Words...), program.SlurmVersion))
	}
	return printTable(c, v.columns, rows, v.heading, v.dated)
}
