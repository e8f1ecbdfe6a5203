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
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
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
		Args: cobra.NoArgs,
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
func (p *frame) readNodes(ctx context.Context, c client.Client) error {
	nodes := &corev1.NodeList{}
	err := cli.Pages(ctx, c, nodes, func() error {
		for i := range nodes.Items {
			p.nodes = append(p.nodes, nodes.Items[i].DeepCopy())
		}
		return nil
	})
	if err != nil {
		return err
	}
	pods := &corev1.PodList{}
	running := fields.AndSelectors(fields.OneTermNotEqualSelector("status.phase", "Succeeded"), fields.OneTermNotEqualSelector("status.phase", "Failed"),
		fields.OneTermNotEqualSelector("spec.nodeName", ""))
	return cli.Pages(ctx, c, pods, func() error {
		for i := range pods.Items {
			p.all = append(p.all, slim(&pods.Items[i]))
		}
		return nil
	}, client.MatchingFieldsSelector{Selector: running})
}

// slim keeps of a pod what the sums need.
func slim(pod *corev1.Pod) *corev1.Pod {
	kept := &corev1.Pod{}
	kept.Spec.NodeName = pod.Spec.NodeName
	kept.Status.Phase = pod.Status.Phase
	kept.Status.Conditions = pod.Status.Conditions
	kept.Spec.Overhead = pod.Spec.Overhead
	kept.Spec.Resources = pod.Spec.Resources
	kept.Spec.Containers = resourcesOnly(pod.Spec.Containers)
	kept.Spec.InitContainers = resourcesOnly(pod.Spec.InitContainers)
	return kept
}

func resourcesOnly(containers []corev1.Container) []corev1.Container {
	kept := make([]corev1.Container, len(containers))
	for i := range containers {
		kept[i].Name = containers[i].Name
		kept[i].Resources = containers[i].Resources
		kept[i].RestartPolicy = containers[i].RestartPolicy
	}
	return kept
}
