package slurm

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/sinfo"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

const whichNodes = "Which nodes"

var sinfoTable = getopt.Table{Program: "sinfo", Options: []getopt.Option{
	{Long: "all", Short: 'a', Help: "Show all partitions (default)", Group: whichNodes},
	{Long: "dead", Short: 'd', Help: "Only nodes that do not respond", Group: whichNodes},
	{Long: "responding", Short: 'r', Help: "Only nodes that respond", Group: whichNodes},
	{Long: "hide", NoEffect: true, Help: "No effect: there are no hidden partitions", Group: whichNodes},
	{Long: "nodes", Short: 'n', Arg: getopt.Required, Value: "HOSTS", Help: "Only these nodes", Group: whichNodes},
	{Long: "partition", Short: 'p', Arg: getopt.Required, Value: "LIST", Help: "Only these partitions (queues)", Group: whichNodes},
	{Long: "states", Short: 't', Arg: getopt.Required, Value: "LIST", Help: "Only nodes in these states: idle,mix,alloc,drain,down,maint", Group: whichNodes},
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "LIST", Help: "Clusters to query: contexts of the kubeconfig, or all", Group: whichNodes},
	{Long: "cluster", Arg: getopt.Required, Value: "LIST", Hidden: true, Exact: true},
	{Long: "local", NoEffect: true, Help: "No effect: only one cluster is shown unless --clusters is given", Group: whichNodes},
	{Long: "federation", Help: "Not supported: there are no federations", Group: whichNodes},
	{Long: "reservation", Short: 'T', Help: "Not supported: there are no reservations", Group: whichNodes},
	{Long: "bg", Short: 'b', NoEffect: true, Help: "No effect", Group: whichNodes},
	{Long: "future", Short: 'F', NoEffect: true, Help: "No effect", Group: whichNodes},
	{Long: "exact", Short: 'e', Help: "Do not group nodes of different sizes in one line", Group: looks},
	{Long: "noheader", Short: 'h', Help: "Do not print the header", Group: looks},
	{Long: "iterate", Short: 'i', Arg: getopt.Required, Value: "SECONDS", Help: "Repeat after this number of seconds until interrupted", Group: looks},
	{Long: "long", Short: 'l', Help: "Print more columns", Group: looks},
	{Long: "Node", Short: 'N', Help: "Print one line for each node", Group: looks},
	{Long: "format", Short: 'o', Arg: getopt.Required, Value: "FORMAT", Help: "Columns to print, by letter: %P %.6D %t", Group: looks},
	{Long: "Format", Short: 'O', Arg: getopt.Required, Value: "FORMAT", Help: "Columns to print, by name: Partition:10,Nodes", Group: looks},
	{Long: "list-reasons", Short: 'R', Help: "Show why nodes are drained or down", Group: looks},
	{Long: "summarize", Short: 's', Help: "Print one line for each partition", Group: looks},
	{Long: "sort", Short: 'S', Arg: getopt.Required, Value: "LETTERS", Help: "Sort order: P,-t", Group: looks},
	{Long: "noconvert", NoEffect: true, Help: "No effect: amounts are always in mebibytes", Group: looks},
	{Long: "json", Arg: getopt.Optional, Value: "VERSION", Help: "Print JSON", Group: looks},
	{Long: "yaml", Arg: getopt.Optional, Value: "VERSION", Help: "Print YAML", Group: looks},
	{Long: "verbose", Short: 'v', Help: "Report options without effect", Group: looks},
}}

func newSinfo(f *cli.Factory) *cobra.Command {
	return newProgramCommand(f, program{table: &sinfoTable, run: runSinfo,
		short: "Show partitions and nodes",
		long: `
			Show queues as partitions, with the nodes that their jobs may use and the states
			of these nodes. An asterisk (*) marks the default partition.`,
		example: `
			# Partitions with their nodes, grouped by state
			vcctl slurm sinfo

			# Numbers of allocated, idle, other and all nodes
			vcctl slurm sinfo -s

			# Each node with its resources and the reason why it is drained
			vcctl slurm sinfo -Nel`,
	})
}

// newSinfoView holds the parsed options of sinfo.
type sinfoView struct {
	filter            sinfo.Filter
	columns           tableformat.Columns[*sinfo.Row]
	order             func(a, b *sinfo.Row) int
	each, exact       bool
	heading, dated    bool
	machine           string
	summary, reasoned bool
}

func runSinfo(ctx context.Context, c *call) error {
	if err := c.rejectUnsupported(map[string]string{"federation": noFederations, "reservation": noReservations}); err != nil {
		return err
	}
	v, err := c.newSinfoView()
	if err != nil {
		return err
	}
	again, err := c.repeatInterval()
	if err != nil {
		return err
	}
	return c.printRepeatedly(ctx, again, func() error {
		return c.inClustersParallel("\n", func(one *call, named bool) error {
			if named && v.heading && v.machine == "" {
				fmt.Fprintf(one.f.Streams.Out, "CLUSTER: %s\n", one.clusterName())
			}
			return one.printSinfoOnce(ctx, v)
		})
	})
}

func (c *call) newSinfoView() (*sinfoView, error) {
	has := c.parsed.Has
	v := &sinfoView{heading: !has("noheader"), each: has("Node"), exact: has("exact"), dated: has("long") || has("iterate"), summary: has("summarize"), reasoned: has("list-reasons")}
	f := &v.filter
	if err := c.readListFilters(listed{"partition", "SINFO_PARTITION", &f.Partitions}, listed{"states", "", &f.States}); err != nil {
		return nil, err
	}
	f.Dead, f.Responding, f.Reasoned = has("dead"), has("responding"), v.reasoned
	if err := sinfo.CheckStates(f.States); err != nil {
		return nil, usererror.Errorf("states are idle, planned, mix, alloc, drain, drng, maint, down and unknown", "%s", err)
	}
	var err error
	if f.Nodes, err = c.readHostNames("nodes"); err != nil {
		return nil, err
	}
	for _, name := range []string{"json", "yaml"} {
		if has(name) {
			v.machine = name
		}
	}
	if len(c.parsed.Operands) > 0 {
		return nil, usererror.Errorf("specify partitions with -p and nodes with -n, for example sinfo -p research", "Unrecognized option: %s", c.parsed.Operands[0])
	}
	return v, c.readSinfoColumns(v)
}

// chooseSinfoFormat returns the format to use if no format is specified. It depends on the other options.
func (c *call) chooseSinfoFormat(v *sinfoView) string {
	long := c.parsed.Has("long")
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
	if text := c.f.Streams.Env("SINFO_FORMAT"); text != "" {
		return text
	}
	return sinfo.Default
}

func (c *call) readSinfoColumns(v *sinfoView) error {
	format, words := c.chooseSinfoFormat(v), ""
	for _, g := range c.parsed.Given {
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
	if text, ok := c.optionOrVariable("sort", "SINFO_SORT"); ok {
		order = text
	}
	if v.order, err = sinfo.ParseOrder(order); err != nil {
		return usererror.Errorf("use the letters of columns, for example P,-t", "%s", err)
	}
	return nil
}

// readPartitions reads nodes, pods and queues. If the user may not read pods, all nodes appear unused.
func (c *call) readPartitions(ctx context.Context) ([]*sinfo.Partition, []*sinfo.Node, error) {
	cl, err := c.f.Client()
	if err != nil {
		return nil, nil, err
	}
	v := &view{c: cl}
	if err := v.readQueues(ctx); err != nil {
		return nil, nil, err
	}
	var nodes []corev1.Node
	page := &corev1.NodeList{}
	err = cli.ListPages(ctx, cl, page, func() error {
		nodes = append(nodes, page.Items...)
		page.Items = nil
		return nil
	})
	if apierrors.IsForbidden(err) {
		c.printNoteOnce("you are not allowed to list nodes: partitions are shown without nodes")
	} else if err != nil {
		return nil, nil, err
	}
	var pods []corev1.Pod
	podPage := &corev1.PodList{}
	err = cli.ListPages(ctx, cl, podPage, func() error {
		pods = append(pods, podPage.Items...)
		podPage.Items = nil
		return nil
	}, client.MatchingFieldsSelector{Selector: unended})
	if apierrors.IsForbidden(err) {
		c.printNoteOnce("you are not allowed to list pods in all namespaces: nodes in use may be shown as idle")
	} else if err != nil {
		return nil, nil, err
	}
	var queues []*schedulingv1beta1.Queue
	for _, q := range v.queues {
		queues = append(queues, q)
	}
	site, err := c.readSiteProfile(ctx, cl)
	if err != nil {
		return nil, nil, err
	}
	list := sinfo.NodesOf(nodes, pods, site, c.f.Now())
	return sinfo.PartitionsOf(queues, list, site), list, nil
}

// readSiteProfile returns the site's profile. If the profile cannot be read, it prints a note and returns an empty one.
func (c *call) readSiteProfile(ctx context.Context, cl client.Client) (*profile.Profile, error) {
	namespace, err := c.f.Namespace()
	if err != nil {
		return nil, err
	}
	p, _, err := readProfile(ctx, cl, namespace)
	switch {
	case apierrors.IsForbidden(err):
		c.printNoteOnce("you are not allowed to read ConfigMap %s in namespace %s: the site's profile is not used", profile.Name, namespace)
	case err != nil:
		c.printNoteOnce("ConfigMap %s is ignored: %s", profile.Name, c.toSlurmError(err).What)
	default:
		return p, nil
	}
	return &profile.Profile{}, nil
}

func (c *call) printSinfoOnce(ctx context.Context, v *sinfoView) error {
	partitions, _, err := c.readPartitions(ctx)
	if err != nil {
		return err
	}
	for _, name := range v.filter.Partitions {
		if !slices.ContainsFunc(partitions, func(p *sinfo.Partition) bool { return p.Name == name }) {
			return usererror.Errorf("sinfo without -p lists the partitions", "Invalid partition name specified: %s", name)
		}
	}
	rows := sinfo.GroupRows(partitions, v.columns, v.filter, v.each, v.exact, c.clusterName())
	slices.SortStableFunc(rows, v.order)
	if v.machine != "" {
		return printDocument(c.f.Streams.Out, v.machine, sinfo.NewDocument(rows, append([]string{c.table.Program}, c.words...), slurmVersion))
	}
	columns := slices.Clone(v.columns)
	columns.WidenToFit(rows, v.heading)
	var b strings.Builder
	if v.dated && v.heading {
		b.WriteString(c.f.Now().Format("Mon Jan 02 15:04:05 2006") + "\n")
	}
	if v.heading {
		b.WriteString(columns.HeadingLine() + "\n")
	}
	for _, r := range rows {
		b.WriteString(columns.RowLine(r) + "\n")
	}
	_, err = io.WriteString(c.f.Streams.Out, b.String())
	return err
}
