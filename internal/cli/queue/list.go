package queue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/render"
)

// listOptions are the inputs of `vcctl queue list` and `get`.
type listOptions struct {
	f      *cli.Factory
	out    cli.Output
	target target
	labels string
	compat bool
}

func newList(f *cli.Factory, run func(context.Context, *listOptions) error) *cobra.Command {
	o := &listOptions{f: f}
	cmd := &cobra.Command{
		Use:     "list [NAME...]",
		Aliases: []string{"ls"},
		Short:   "List queues: state, jobs, and what they hold",
		Long: cli.Text(`
			List the queues with the number of pod groups that run in them and wait in them,
			and what they hold of what they may (allocated/capability). USED shows the
			resource that is nearest to its limit.`),
		Example: f.Examples(`
			# All queues
			vcctl queue list

			# Two of them, with their shares, and again whenever they change
			vcctl queue list research infer -o wide -w

			# The queue that holds most first
			vcctl queue list --sort-by running`),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				o.target.names = append(o.target.names, cli.BareName(arg))
			}
			return run(cmd.Context(), o)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func newGet(f *cli.Factory, run func(context.Context, *listOptions) error) *cobra.Command {
	o := &listOptions{f: f}
	cmd := &cobra.Command{
		Use:   "get NAME...",
		Short: "Show one queue or several",
		Long: cli.Text(`
			Show queues by name: the row of the list, or with -o the object. A queue that
			does not exist is an error.`),
		Example: f.Examples(`
			# One queue
			vcctl queue get research

			# Its capability, for a script
			vcctl queue get research -o jsonpath='{.spec.capability.cpu}'`),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.target.complete(f, args)
			if len(o.target.names) == 0 {
				return cli.UsageError(f, cmd, "name is mandatory to get the particular queue details")
			}
			return run(cmd.Context(), o)
		},
	}
	o.target.addFlag(cmd)
	o.addFlags(cmd)
	return cmd
}

func (o *listOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.labels, "selector", "l", "", "Label selector")
	cmd.Flags().BoolVar(&o.compat, "compat", false, "Print the table that Volcano's vcctl prints")
	o.out.AddList(cmd)
}

func list(ctx context.Context, o *listOptions) error {
	labels, err := cli.ParseSelector(o.labels)
	if err != nil {
		return err
	}
	l := &cli.List[*schedulingv1beta1.Queue]{
		Kind: "queues", New: func() client.ObjectList { return &schedulingv1beta1.QueueList{} },
		Columns: columns(o.f), Names: o.target.names, Selector: labels, Single: len(o.target.names) == 1,
		Suggest: o.f.Suggest(schedulingv1beta1.GroupVersion.WithKind("Queue"), false),
	}
	if o.compat && !o.out.Machine() {
		l.Plain = o.compatTable
	}
	return l.Run(ctx, o.f, &o.out)
}

func (o *listOptions) compatTable(queues []*schedulingv1beta1.Queue) error {
	line := func(cells ...any) error {
		_, err := fmt.Fprintf(o.f.Streams.Out, "%-25v%-8v%-8v%-8v%-8v%-8v%-8v%-8v%-8v\n", cells...)
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

// stateOf is the state of a queue; one that no controller saw yet is open.
func stateOf(q *schedulingv1beta1.Queue) schedulingv1beta1.QueueState {
	if q.Status.State == "" {
		return schedulingv1beta1.QueueStateOpen
	}
	return q.Status.State
}

func columns(f *cli.Factory) []cli.Column[*schedulingv1beta1.Queue] {
	type queue = *schedulingv1beta1.Queue
	style := render.Style{Enabled: f.Streams.Color()}
	number := func(title string, wide bool, n func(queue) int32) cli.Column[queue] {
		return cli.Column[queue]{Title: title, Wide: wide, Text: func(q queue) string { return strconv.Itoa(int(n(q))) }}
	}
	amounts := func(title string, list func(queue) corev1.ResourceList) cli.Column[queue] {
		return cli.Column[queue]{Title: title, Wide: true, Text: func(q queue) string { return amountsText(list(q)) }}
	}
	return []cli.Column[queue]{
		{Title: "NAME", Text: func(q queue) string { return q.Name }},
		{Title: "STATE", Text: func(q queue) string { return style.Phase(string(stateOf(q))) }},
		{Title: "PARENT", Text: func(q queue) string { return dash(q.Spec.Parent) }},
		number("WEIGHT", false, func(q queue) int32 { return q.Spec.Weight }),
		number("RUNNING", false, func(q queue) int32 { return q.Status.Running }),
		number("INQUEUE", false, func(q queue) int32 { return q.Status.Inqueue }),
		number("PENDING", false, func(q queue) int32 { return q.Status.Pending }),
		{Title: "CPU", Text: func(q queue) string { return heldOf(q, corev1.ResourceCPU) }},
		{Title: "MEMORY", Text: func(q queue) string { return heldOf(q, corev1.ResourceMemory) }},
		{Title: "GPU", Text: func(q queue) string { return heldOf(q, "nvidia.com/gpu") }},
		{Title: "USED", Text: func(q queue) string { return usedBar(q, f.Streams.Unicode()) },
			Compare: func(a, b queue) int { return cmp.Compare(usedShare(a), usedShare(b)) }},
		number("UNKNOWN", true, func(q queue) int32 { return q.Status.Unknown }),
		number("COMPLETED", true, func(q queue) int32 { return q.Status.Completed }),
		number("PRIORITY", true, func(q queue) int32 { return q.Spec.Priority }),
		{Title: "RECLAIMABLE", Wide: true, Text: func(q queue) string {
			return strconv.FormatBool(q.Spec.Reclaimable == nil || *q.Spec.Reclaimable)
		}},
		amounts("GUARANTEE", func(q queue) corev1.ResourceList { return q.Spec.Guarantee.Resource }),
		amounts("DESERVED", func(q queue) corev1.ResourceList { return q.Spec.Deserved }),
		amounts("CAPABILITY", func(q queue) corev1.ResourceList { return q.Spec.Capability }),
		{Title: "AGE", Volatile: true, Text: func(q queue) string { return render.Age(f.Now(), q.CreationTimestamp.Time) },
			Compare: func(a, b queue) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) }},
	}
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// heldOf is what the queue holds of a resource, and of how much when that is limited.
func heldOf(q *schedulingv1beta1.Queue, name corev1.ResourceName) string {
	held, holds := q.Status.Allocated[name]
	limit, limited := q.Spec.Capability[name]
	switch {
	case limited:
		return held.String() + "/" + limit.String()
	case holds && !held.IsZero():
		return held.String()
	}
	return "-"
}

// usedShare is the largest share that the queue holds of what bounds it: its
// capability, else what it deserves. It is negative when nothing bounds it.
func usedShare(q *schedulingv1beta1.Queue) float64 {
	share := -1.0
	for _, bound := range []corev1.ResourceList{q.Spec.Capability, q.Spec.Deserved} {
		for name, limit := range bound {
			held := q.Status.Allocated[name]
			if amount := limit.AsApproximateFloat64(); amount > 0 {
				share = max(share, held.AsApproximateFloat64()/amount)
			}
		}
		if share >= 0 {
			return share
		}
	}
	return share
}

const barWidth = 8

func usedBar(q *schedulingv1beta1.Queue, fancy bool) string {
	share := usedShare(q)
	if share < 0 {
		return "-"
	}
	return fmt.Sprintf("%s %3.0f%%", render.Bar(share, 1, barWidth, fancy), share*100)
}

func amountsText(list corev1.ResourceList) string {
	var parts []string
	for name, amount := range list {
		parts = append(parts, string(name)+"="+amount.String())
	}
	slices.Sort(parts)
	return dash(strings.Join(parts, ","))
}
