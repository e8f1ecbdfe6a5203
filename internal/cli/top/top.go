// Package top implements `vcctl top`, which shows the cluster live in the dashboard that the main program provides.
// With --once it prints a summary, the nodes with their free resources, the queues, the pods and the jobs, and exits.
//
//	In:   Nodes, Queues, Pods and Jobs from the API server
//	Out:  text; pure functions in frame.go compute the blocks
package top

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/show"
	"github.com/vc-batch/vc/internal/cli/node"
	"github.com/vc-batch/vc/internal/cli/queue"
	"github.com/vc-batch/vc/internal/usererror"
)

// options holds the inputs of `vcctl top`.
type options struct {
	f             *cli.Factory
	once          bool
	value         cli.Value
	allNamespaces bool
	dashboard     cli.DashboardOptions
}

// themes lists the dashboard's built-in themes for completion. The dashboard itself validates the name, because the user
// can define other themes in the settings file.
var themes = []string{"auto", "dark", "light", "mono", "high-contrast", "colorblind"}

// New returns `vcctl top`.
func New(f *cli.Factory) *cobra.Command { return newTop(f, printFrame) }

func newTop(f *cli.Factory, run func(context.Context, *options) error) *cobra.Command {
	o := &options{f: f}
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show a live dashboard of nodes, queues and jobs",
		Long: cli.FormatHelp(`
			Show a live full-screen dashboard of the cluster: free and used resources, queues,
			and waiting jobs with their reasons. In the dashboard, you can open, follow and
			change jobs. Press ? to show the keys of a screen, or q to quit. --demo shows a
			made-up cluster, so you do not need a cluster of your own.

			With --once, print a summary, the allocatable and idle resources of the nodes, the
			queues, and the pods and jobs of the namespace, and exit. The idle
			resources of a node are its allocatable resources minus the requests of its pods, as
			in the scheduler, regardless of actual usage.`),
		Example: f.FormatExamples(`
			# The dashboard
			vcctl top

			# Read-only, without colours
			NO_COLOR=1 vcctl top --readonly

			# With Slurm's state names
			vcctl top --slurm

			# For a screen reader: no boxes, bars or maps, and the cursor is on the selected row
			vcctl top --compact

			# Try the dashboard without a cluster
			vcctl top --demo

			# Print the summary, nodes, queues, pods and jobs once
			vcctl top --once

			# For a script: the number of running jobs in all namespaces
			vcctl top --once -A -o json | jq .summary.jobs.Running

			# Print all namespaces repeatedly
			watch vcctl top --once -A`),
		Args: cli.NoArgs(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.once {
				return o.runOnce(cmd, run)
			}
			return o.showDashboard(cmd)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.once, "once", false, "Print a summary once and exit")
	o.value.AddFlag(cmd)
	flags.Lookup("output").Usage = "With --once: json or yaml"
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Show pods and jobs in all namespaces (default in the dashboard, unless -n is given)")
	flags.BoolVar(&o.dashboard.ReadOnly, "readonly", false, "Disable the keys that make changes")
	flags.BoolVar(&o.dashboard.SlurmWords, "slurm", false, "Show Slurm's state and reason names, such as PD (Resources)")
	flags.BoolVar(&o.dashboard.Demo, "demo", false, "Show a made-up cluster, to try the dashboard")
	flags.BoolVar(&o.dashboard.Compact, "compact", false, "Show text without boxes, bars and maps, for narrow terminals and screen readers")
	flags.BoolVar(&o.dashboard.ASCII, "ascii", false, "Use only ASCII characters (default if the locale is not UTF-8)")
	flags.StringVar(&o.dashboard.Theme, "theme", "", "Colours: "+strings.Join(themes, ", ")+", or a custom theme (default: from the settings file, or auto)")
	_ = cmd.RegisterFlagCompletionFunc("theme", cli.CompleteValues(themes...))
	return cmd
}

// runOnce prints the output once. It rejects flags that apply only to the dashboard.
func (o *options) runOnce(cmd *cobra.Command, run func(context.Context, *options) error) error {
	for _, name := range []string{"readonly", "ascii", "theme", "demo", "slurm", "compact"} {
		if cmd.Flags().Changed(name) {
			return usererror.Errorf("remove one of these options", "--%s and --once cannot be combined: --%s applies only to the dashboard", name, name)
		}
	}
	if err := o.value.Validate(); err != nil {
		return err
	}
	return run(cmd.Context(), o)
}

// showDashboard shows the dashboard.
func (o *options) showDashboard(cmd *cobra.Command) error {
	streams := o.f.Streams
	if o.value.Format != "" {
		return usererror.Errorf("add --once", "--output (-o) has no effect without --once")
	}
	if !streams.OutTTY || !streams.InTTY || streams.Env("TERM") == "dumb" {
		return usererror.Errorf("to print once: "+cli.CommandPath(o.f, cmd)+" --once; to print repeatedly: watch "+cli.CommandPath(o.f, cmd)+" --once",
			"top shows a dashboard, which requires a suitable terminal for input and output")
	}
	if o.f.Dashboard == nil {
		return usererror.Errorf("use vcctl, or "+cli.CommandPath(o.f, cmd)+" --once", "this program does not include a dashboard")
	}
	if o.f.NamespaceGiven() && !o.allNamespaces {
		namespace, err := o.f.Namespace()
		if err != nil {
			return err
		}
		o.dashboard.Namespace = namespace
	}
	o.dashboard.ASCII = o.dashboard.ASCII || !streams.SupportsUnicode()
	return o.f.Dashboard(cmd.Context(), o.f, o.dashboard)
}

// frame holds the data of one output.
type frame struct {
	nodes []*corev1.Node
	// all holds the pods, from all namespaces, that use node resources.
	all []*corev1.Pod
	// pods and jobs hold the objects in the namespace.
	pods   []*corev1.Pod
	jobs   []*batchv1alpha1.Job
	queues []*schedulingv1beta1.Queue
	// hidden is the reason why the nodes are not shown, and hiddenQueues why the queues are not; "" if they are.
	hidden, hiddenQueues string
}

func printFrame(ctx context.Context, o *options) error {
	namespace, err := o.f.Namespace()
	if err != nil {
		return err
	}
	if o.allNamespaces {
		namespace = ""
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	picture, err := readFrame(ctx, c, namespace)
	if err != nil {
		return err
	}
	if done, err := o.value.PrintAnswer(o.f, picture.answer()); done {
		return err
	}
	jobs, err := show.NewListTable(ctx, o.f, c, namespace, picture.jobs)
	if err != nil {
		return err
	}
	queues := queue.NewListTable(o.f, picture.queues)
	return picture.writeFrame(o.f.Streams.Out, queues, jobs, o.f.Now(), o.f.Streams.Width, o.allNamespaces)
}

// readFrame reads the data of a frame. It reads pods in other namespaces only to sum up the resources in use, and only
// pods that still use resources.
func readFrame(ctx context.Context, c client.Client, namespace string) (*frame, error) {
	picture := &frame{}
	if err := picture.readNodes(ctx, c); apierrors.IsForbidden(err) {
		picture.nodes, picture.all = nil, nil
		picture.hidden = cli.HumanizeError(err, cli.Connection{}).What
	} else if err != nil {
		return nil, err
	}
	var err error
	if picture.queues, err = cli.ListObjects[*schedulingv1beta1.Queue](ctx, c, &schedulingv1beta1.QueueList{}); apierrors.IsForbidden(err) {
		picture.queues, picture.hiddenQueues = nil, cli.HumanizeError(err, cli.Connection{}).What
	} else if err != nil {
		return nil, err
	}
	if picture.pods, err = cli.ListObjects[*corev1.Pod](ctx, c, &corev1.PodList{}, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	picture.jobs, err = cli.ListObjects[*batchv1alpha1.Job](ctx, c, &batchv1alpha1.JobList{}, client.InNamespace(namespace))
	return picture, err
}

// readNodes reads the nodes and the pods on them. Many users have no access to these, but still see their own pods
// and jobs.
func (p *frame) readNodes(ctx context.Context, c client.Client) (err error) {
	if p.nodes, err = node.ReadNodes(ctx, c); err != nil {
		return err
	}
	p.all, _, err = node.ReadPods(ctx, c, "")
	return err
}
