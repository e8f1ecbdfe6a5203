// Package top is `vcctl top`: the cluster at a glance. With --once it prints
// three blocks and ends: what the nodes have and have left, the pods, the jobs.
//
//	In:   Nodes, Pods and Jobs from the API server
//	Out:  text; the blocks are computed by pure functions in frame.go
package top

import (
	"context"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/node"
)

// options are the inputs of `vcctl top`.
type options struct {
	f             *cli.Factory
	once          bool
	allNamespaces bool
}

// New returns `vcctl top`.
func New(f *cli.Factory) *cobra.Command { return newTop(f, run) }

func newTop(f *cli.Factory, run func(context.Context, *options) error) *cobra.Command {
	o := &options{f: f}
	cmd := &cobra.Command{
		Use:   "top --once",
		Short: "The cluster at a glance: nodes, pods, jobs",
		Long: cli.Text(`
			Show what the nodes have and what of it is idle, the pods and the jobs of the
			namespace, once. Idle is what a node has minus what the pods on it ask for,
			as the scheduler counts it; it is not what they use.`),
		Example: f.Examples(`
			# Nodes, pods and jobs
			vcctl top --once

			# Of all namespaces, again and again
			watch vcctl top --once -A`),
		Args: cli.NoArgs(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !o.once {
				return cli.Errorf(cli.Path(f, cmd)+" --once; to repeat it: watch "+cli.Path(f, cmd)+" --once",
					"top shows one frame only: --once is needed")
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.once, "once", false, "Print once and end")
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "The pods and jobs of all namespaces")
	return cmd
}

// frame is all that one picture shows.
type frame struct {
	nodes []*corev1.Node
	// all are the pods that hold resources, of every namespace.
	all []*corev1.Pod
	// pods and jobs are those of the namespace.
	pods []*corev1.Pod
	jobs []*batchv1alpha1.Job
	// hidden says why the nodes are not shown; "" when they are.
	hidden string
}

func run(ctx context.Context, o *options) error {
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
	picture, err := read(ctx, c, namespace)
	if err != nil {
		return err
	}
	return picture.write(o.f.Streams.Out, o.f.Now(), o.f.Streams.Width, o.allNamespaces)
}

// read lists what the frame shows. The pods of other namespaces are read for
// the sums only, and only those that still hold something.
func read(ctx context.Context, c client.Client, namespace string) (*frame, error) {
	picture := &frame{}
	if err := picture.readNodes(ctx, c); apierrors.IsForbidden(err) {
		picture.nodes, picture.all = nil, nil
		picture.hidden = cli.Humanize(err, cli.Connection{}).What
	} else if err != nil {
		return nil, err
	}
	own := &corev1.PodList{}
	err := cli.Pages(ctx, c, own, func() error {
		for i := range own.Items {
			picture.pods = append(picture.pods, own.Items[i].DeepCopy())
		}
		return nil
	}, client.InNamespace(namespace))
	if err != nil {
		return nil, err
	}
	jobs := &batchv1alpha1.JobList{}
	err = cli.Pages(ctx, c, jobs, func() error {
		for i := range jobs.Items {
			picture.jobs = append(picture.jobs, jobs.Items[i].DeepCopy())
		}
		return nil
	}, client.InNamespace(namespace))
	return picture, err
}

// readNodes reads the nodes and what is asked for on them. Many users may do
// neither; they still get their pods and jobs.
func (p *frame) readNodes(ctx context.Context, c client.Client) (err error) {
	if p.nodes, err = node.ReadNodes(ctx, c); err != nil {
		return err
	}
	p.all, _, err = node.ReadPods(ctx, c, "")
	return err
}
