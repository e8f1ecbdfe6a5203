package pod

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/resourcecmd"
	"github.com/vc-batch/vc/internal/usererror"
)

// filters holds the filters of `pod list`.
type filters struct {
	f                      *cli.Factory
	job, task, node, queue string
	phases                 []string
	any                    bool
	// everywhere reports whether the user specified -A; the job filter can then match jobs in multiple namespaces.
	everywhere func() bool
}

var phases = []string{"Pending", "Running", "Succeeded", "Failed", "Unknown"}

func addFilterFlags(f *cli.Factory, cmd *cobra.Command) func(context.Context, bool) (resourcecmd.Narrowed[*corev1.Pod], error) {
	flags := cmd.Flags()
	o := &filters{f: f, everywhere: func() bool { all, err := flags.GetBool("all-namespaces"); return err == nil && all }}
	flags.StringVarP(&o.job, "job", "j", "", "Only pods of this job")
	flags.StringVarP(&o.task, "task", "t", "", "Only pods of this task (filtered on the client side)")
	flags.StringVar(&o.node, "node", "", "Only pods on this node")
	flags.StringVarP(&o.queue, "queue", "q", "", "Only pods in this queue, including pods without a job (filtered on the client side)")
	flags.StringSliceVar(&o.phases, "phase", nil, "Only pods in these phases: "+strings.Join(phases, ", "))
	flags.BoolVar(&o.any, "any", false, "Include pods that do not belong to a job")
	_ = cmd.RegisterFlagCompletionFunc("job", f.CompleteJobs())
	_ = cmd.RegisterFlagCompletionFunc("node", f.CompleteNodes())
	_ = cmd.RegisterFlagCompletionFunc("queue", f.CompleteQueues())
	_ = cmd.RegisterFlagCompletionFunc("phase", cli.CompleteValues(phases...))
	return o.narrowList
}

func (o *filters) narrowList(ctx context.Context, named bool) (resourcecmd.Narrowed[*corev1.Pod], error) {
	var narrowed resourcecmd.Narrowed[*corev1.Pod]
	o.f.WarnUnknown(ctx, "--queue", "queue", schedulingv1beta1.GroupVersion.WithKind("Queue"), o.queue)
	o.f.WarnUnknown(ctx, "--node", "node", corev1.SchemeGroupVersion.WithKind("Node"), o.node)
	wanted, err := cli.ParseWords("--phase", "phase of a pod", o.phases, phases)
	if err != nil {
		return narrowed, err
	}
	if o.job != "" && o.queue != "" && !o.everywhere() {
		if err := o.checkJobQueue(ctx); err != nil {
			return narrowed, err
		}
	}
	switch {
	case o.job != "":
		narrowed.Labels = keys.JobName + "=" + cli.BareName(o.job, "jobs")
	case o.queue == "" && !o.any && !named:
		narrowed.Labels = keys.JobName
	}
	var selectors []fields.Selector
	if o.node != "" {
		selectors = append(selectors, fields.OneTermEqualSelector("spec.nodeName", cli.BareName(o.node, "nodes")))
	}
	if len(wanted) == 1 {
		selectors = append(selectors, fields.OneTermEqualSelector("status.phase", wanted[0]))
	}
	if len(selectors) > 0 {
		narrowed.Fields = fields.AndSelectors(selectors...)
	}
	if o.task == "" && o.queue == "" && len(wanted) == 0 {
		return narrowed, nil
	}
	narrowed.Keep = func(pod *corev1.Pod) bool { return o.matchesPod(pod, wanted) }
	return narrowed, nil
}

func (o *filters) matchesPod(pod *corev1.Pod, phases []string) bool {
	if o.task != "" && taskNameOf(pod) != o.task {
		return false
	}
	checksQueue := o.queue != "" && (o.job == "" || o.everywhere())
	if checksQueue && queueNameOf(pod) != cli.BareName(o.queue, "queues") {
		return false
	}
	for _, phase := range phases {
		if string(pod.Status.Phase) == phase {
			return true
		}
	}
	return len(phases) == 0
}

// checkJobQueue returns an error if the requested job is not in the requested queue.
func (o *filters) checkJobQueue(ctx context.Context) error {
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	namespace, err := o.f.Namespace()
	if err != nil {
		return err
	}
	job := &batchv1alpha1.Job{}
	if err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: cli.BareName(o.job, "jobs")}, job); err != nil {
		if !apierrors.IsNotFound(err) {
			return err
		}
		names, _ := o.f.ListNames(ctx, batchv1alpha1.GroupVersion.WithKind("Job"), true)
		missing := cli.NotFoundError("job", cli.BareName(o.job, "jobs"), namespace, names)
		missing.Hint = cmp.Or(missing.Hint, "`"+o.f.CommandText("job list")+"` shows the existing jobs")
		return missing
	}
	if in := cmp.Or(job.Spec.Queue, keys.DefaultQueue); in != cli.BareName(o.queue, "queues") {
		return usererror.Errorf("the job is in queue "+in+"; remove --queue", "the input vcjob %s does not match the queue %s", job.Name, cli.BareName(o.queue, "queues"))
	}
	return nil
}
