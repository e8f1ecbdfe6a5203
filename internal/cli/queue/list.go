package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/queueusage"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// listOptions holds the inputs of `vcctl queue list` and `get`.
type listOptions struct {
	f      *cli.Factory
	out    cli.Output
	target target
	compat bool
}

func newList(f *cli.Factory, run func(context.Context, *listOptions) error) *cobra.Command {
	o := &listOptions{f: f}
	cmd := &cobra.Command{
		Use:     "list [NAME...]",
		Aliases: []string{"ls"},
		Short:   "List queues with their state, jobs and usage",
		Long: cli.FormatHelp(`
			List the queues with the number of running and waiting pod groups, and their usage
			(allocated/capability, or allocated/deserved if the queue has no capability). USED
			shows the resource that is closest to its limit; the part to the right of the mark |
			exceeds what the queue deserves and can be reclaimed by other queues. vcctl queue
			tree shows which queue borrows from which.`),
		Example: f.FormatExamples(`
			# All queues
			vcctl queue list

			# Watch: two queues with their shares
			vcctl queue list research infer -o wide -w

			# Sorted by the number of running pod groups
			vcctl queue list --sort-by running`),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				o.target.names = append(o.target.names, cli.BareName(arg, "queues"))
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.target.labels, "selector", "l", "", "List the queues that match this label selector")
	o.addFlags(cmd)
	return cmd
}

func newGet(f *cli.Factory, run func(context.Context, *listOptions) error) *cobra.Command {
	o := &listOptions{f: f}
	cmd := &cobra.Command{
		Use:   "get NAME...",
		Short: "Show one or more queues",
		Long: cli.FormatHelp(`
			Show the queues in the same table as vcctl queue list, or in another format with -o. The command fails
			if a queue does not exist.`),
		Example: f.FormatExamples(`
			# One queue
			vcctl queue get research

			# Its capability, for a script
			vcctl queue get research -o jsonpath='{.spec.capability.cpu}'

			# The queues in a file
			vcctl queue get -f queues.yaml`),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.target.addArguments(f, cmd, args, "name is mandatory to get the particular queue details"); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.target.addFlags(f, cmd, "Show")
	o.addFlags(cmd)
	return cmd
}

func (o *listOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.compat, "compat", false, "Print the table in the format of Volcano's vcctl")
	o.out.AddListFlags(cmd)
	cli.AcceptAllNamespaces(cmd)
	cli.CompleteColumns(cmd, func() []column { return listColumns(o.f) })
}

func listQueues(ctx context.Context, o *listOptions) error {
	if o.target.files.HasSources() {
		filed, err := readQueues(o.f, &o.target.files)
		if err != nil {
			return err
		}
		for _, one := range filed {
			o.target.names = append(o.target.names, one.queue.Name)
		}
	}
	labels, err := cli.ParseSelector(o.target.labels)
	if err != nil {
		return err
	}
	l := &cli.List[*schedulingv1beta1.Queue]{
		Kind: "queues", New: newQueueList,
		Columns: listColumns(o.f), Names: o.target.names, Selector: labels, Single: len(o.target.names) == 1,
		Spare:   spareColumns,
		Suggest: o.f.SuggestNames(queueKind(), false),
	}
	asVolcano := o.compat || o.target.old || o.f.UsesVolcanoTables()
	if asVolcano && o.out.IsPlainTable() {
		l.Plain = o.printCompatTable
	}
	return o.addExistingNames(ctx, l.Run(ctx, o.f, &o.out))
}

// addExistingNames adds the names of existing queues to errors about queues that do not exist.
func (o *listOptions) addExistingNames(ctx context.Context, err error) error {
	return usererror.Map(err, func(one error) error {
		var missing *cli.MissingError
		if errors.As(one, &missing) {
			return queueNotFoundError(ctx, o.f, missing.Name)
		}
		return one
	})
}

func (o *listOptions) printCompatTable(queues []*schedulingv1beta1.Queue) error {
	line := func(cells ...any) error {
		_, err := fmt.Fprintf(o.f.Streams.Out, "%-25v%-8v%-8v%-8v%-8v%-8v%-8v%-8v%-8v\n", cli.FormatCells(cells)...)
		return err
	}
	err := line("Name", "Weight", "State", "Parent", "Inqueue", "Pending", "Running", "Unknown", "Completed")
	for _, q := range queues {
		if err != nil {
			return err
		}
		s := &q.Status
		err = line(q.Name, q.Spec.Weight, s.State, q.Spec.Parent, s.Inqueue, s.Pending, s.Running, s.Unknown, s.Completed)
	}
	return err
}

// effectiveState returns the state of a queue. A queue that the controller has not processed yet is open.
func effectiveState(q *schedulingv1beta1.Queue) schedulingv1beta1.QueueState {
	if q.Status.State == "" {
		return schedulingv1beta1.QueueStateOpen
	}
	return q.Status.State
}

// spareColumns lists the columns that a narrow terminal omits first.
var spareColumns = []string{"AGE", "PARENT", "WEIGHT", "MEMORY", "INQUEUE", "CPU", "GPU", "PENDING", "RUNNING"}

// NewListTable returns the table of `queue list` without its wide columns.
func NewListTable(f *cli.Factory, queues []*schedulingv1beta1.Queue) render.Table {
	table := render.Table{Colored: f.Streams.IsColored(), MaxWidth: f.Streams.Width}
	columns := slices.DeleteFunc(listColumns(f), func(c column) bool { return c.Wide })
	for _, c := range columns {
		table.Header = append(table.Header, c.Title)
	}
	for _, q := range queues {
		var row []string
		for _, c := range columns {
			row = append(row, c.Text(q))
		}
		table.Rows = append(table.Rows, row)
	}
	table.SetSpareColumns(spareColumns...)
	return table
}

// column is a column of a queue table.
type column = cli.Column[*schedulingv1beta1.Queue]

func listColumns(f *cli.Factory) []column {
	return append([]column{
		{Title: "NAME", Text: func(q *schedulingv1beta1.Queue) string { return q.Name }},
		newStateColumn(f),
		{Title: "PARENT", Text: func(q *schedulingv1beta1.Queue) string { return cmp.Or(q.Spec.Parent, "-") }},
		newNumberColumn("WEIGHT", func(q *schedulingv1beta1.Queue) int32 { return q.Spec.Weight }),
		newNumberColumn("RUNNING", func(q *schedulingv1beta1.Queue) int32 { return q.Status.Running }),
		newNumberColumn("INQUEUE", func(q *schedulingv1beta1.Queue) int32 { return q.Status.Inqueue }),
		newNumberColumn("PENDING", func(q *schedulingv1beta1.Queue) int32 { return q.Status.Pending }),
		newUsageColumn("CPU", corev1.ResourceCPU),
		newUsageColumn("MEMORY", corev1.ResourceMemory),
		{Title: "GPU", Text: queueusage.FormatGPUUsage},
		newUsedColumn(f),
	}, append(wideColumns(), column{Title: "AGE", Volatile: true, Text: func(q *schedulingv1beta1.Queue) string {
		return render.FormatAgeSince(f.Now(), q.CreationTimestamp.Time)
	},
		Compare: func(a, b *schedulingv1beta1.Queue) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) }})...)
}

// wideColumns returns the additional columns of -o wide.
func wideColumns() []column {
	amounts := func(title string, list func(*schedulingv1beta1.Queue) corev1.ResourceList) column {
		return column{Title: title, Text: func(q *schedulingv1beta1.Queue) string { return amountsText(list(q)) }}
	}
	wide := []column{
		newNumberColumn("UNKNOWN", func(q *schedulingv1beta1.Queue) int32 { return q.Status.Unknown }),
		newNumberColumn("COMPLETED", func(q *schedulingv1beta1.Queue) int32 { return q.Status.Completed }),
		newNumberColumn("PRIORITY", func(q *schedulingv1beta1.Queue) int32 { return q.Spec.Priority }),
		{Title: "RECLAIMABLE", Text: func(q *schedulingv1beta1.Queue) string {
			return strconv.FormatBool(q.Spec.Reclaimable == nil || *q.Spec.Reclaimable)
		}},
		{Title: "SHARE", Text: func(q *schedulingv1beta1.Queue) string { return fmt.Sprintf("%d%%", q.Status.Share) },
			Compare: func(a, b *schedulingv1beta1.Queue) int { return cmp.Compare(a.Status.Share, b.Status.Share) }},
		amounts("ALLOCATED", func(q *schedulingv1beta1.Queue) corev1.ResourceList { return q.Status.Allocated }),
		amounts("TERMINATING", func(q *schedulingv1beta1.Queue) corev1.ResourceList { return q.Status.Terminating }),
		amounts("GUARANTEE", func(q *schedulingv1beta1.Queue) corev1.ResourceList { return q.Spec.Guarantee.Resource }),
		amounts("DESERVED", queueusage.DeservedResources),
		amounts("CAPABILITY", func(q *schedulingv1beta1.Queue) corev1.ResourceList { return q.Spec.Capability }),
		{Title: "JOB-LIMITS", Text: ownLimitsText},
	}
	for i := range wide {
		wide[i].Wide = true
	}
	return wide
}

func newNumberColumn(title string, n func(*schedulingv1beta1.Queue) int32) column {
	return column{Title: title, Text: func(q *schedulingv1beta1.Queue) string { return strconv.Itoa(int(n(q))) }}
}

func newUsageColumn(title string, name corev1.ResourceName) column {
	return column{Title: title, Text: func(q *schedulingv1beta1.Queue) string { return queueusage.FormatUsage(q, name) }}
}

func newStateColumn(f *cli.Factory) column {
	style := render.Style{Enabled: f.Streams.IsColored()}
	return column{Title: "STATE", Text: func(q *schedulingv1beta1.Queue) string { return style.PaintPhase(string(effectiveState(q))) }}
}

func newUsedColumn(f *cli.Factory) column {
	return column{Title: "USED", Text: func(q *schedulingv1beta1.Queue) string {
		return queueusage.FormatUsageBar(q, f.Streams.SupportsUnicode())
	}, Compare: queueusage.CompareByUsage}
}
