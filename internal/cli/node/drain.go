package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/usererror"
)

// evictionRetry is the delay before drain retries the eviction of a pod that is protected by a disruption budget.
var evictionRetry = clusterops.RetryAfter

// drainOptions holds the inputs of `vcctl node drain`.
type drainOptions struct {
	f       *cli.Factory
	out     cli.Output
	dryRun  cli.DryRun
	confirm cli.Confirm
	targets targets

	ignoreDaemonSets   bool
	deleteEmptyDirData bool
	force              bool
	gracePeriod        int
	timeout            time.Duration
}

func newDrain(f *cli.Factory, run func(context.Context, *drainOptions) error) *cobra.Command {
	o := &drainOptions{f: f}
	cmd := &cobra.Command{
		Use:   "drain NAME...",
		Short: "Evict pods from nodes for maintenance",
		Long: cli.FormatHelp(`
			Cordon nodes, evict their pods, and wait until the pods have ended, as kubectl
			drain does. First, drain lists the jobs that would lose pods and asks for
			confirmation.

			PodDisruptionBudgets are respected: the eviction of a protected pod is retried
			until it is allowed, or until --timeout expires. Pods that have ended are not
			deleted, so that their logs remain available. If a pod requires
			--ignore-daemonsets, --delete-emptydir-data or --force, drain stops before it
			changes any node.

			When the node is ready again, use 'vcctl node uncordon' to allow pods on it.

			The exit code is 0 if the pods are gone, 8 if --timeout expired first, and 2 if you
			answered no.`),
		Example: f.FormatExamples(`
			# Show which jobs would lose pods
			vcctl node drain n1 --dry-run

			# In a script: without confirmation, for at most ten minutes
			vcctl node drain n1 --ignore-daemonsets --timeout 10m --yes

			# All nodes with a label; pods have one minute to terminate
			vcctl node drain -l gpu=a100 --grace-period 60`),
		ValidArgsFunction: f.CompleteNodes(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.targets.addArguments(f, cmd, args); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	o.targets.addFlags(cmd)
	flags.BoolVar(&o.ignoreDaemonSets, "ignore-daemonsets", false, "Leave pods of DaemonSets on the nodes")
	flags.BoolVar(&o.deleteEmptyDirData, "delete-emptydir-data", false, "Also evict pods with data in an emptyDir volume; the data is lost")
	flags.BoolVar(&o.force, "force", false, "Also evict pods that no controller re-creates")
	flags.IntVar(&o.gracePeriod, "grace-period", -1, "Grace period of each pod in seconds (-1 = the pod's own)")
	flags.DurationVar(&o.timeout, "timeout", 0, "Maximum time to wait, for example 10m (0 = no limit)")
	o.confirm.AddFlag(cmd)
	o.dryRun.AddFlag(cmd)
	o.out.AddFormatFlags(cmd, false)
	return cmd
}

func (o *drainOptions) checkFlags() error {
	if o.timeout < 0 {
		return usererror.Errorf("for example --timeout 10m", "--timeout: %s is less than 0", o.timeout)
	}
	if o.gracePeriod < -1 || o.gracePeriod > math.MaxInt32 {
		return usererror.Errorf("for example --grace-period 60; -1 uses the grace period of each pod", "--grace-period: %d is less than -1", o.gracePeriod)
	}
	return errors.Join(o.out.Validate(), o.dryRun.Validate())
}

func drainNodes(ctx context.Context, o *drainOptions) error {
	if err := o.checkFlags(); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	nodes, err := o.targets.readNodes(ctx, o.f, c)
	if err != nil {
		return err
	}
	d, err := o.newDrainer()
	if err != nil {
		return err
	}
	leaving, err := o.podsToEvict(ctx, d, nodes)
	if err != nil {
		return err
	}
	if effects := describeEffects(ctx, c, leaving); len(effects) > 0 {
		if err := o.confirmDrain(ctx, nodes, effects); err != nil {
			return err
		}
	}
	limited, stop := o.limitContext(ctx)
	defer stop()
	var problems []error
	for _, node := range nodes {
		problems = append(problems, o.drainNode(ctx, limited, c, d, node))
	}
	return errors.Join(problems...)
}

// newDrainer returns the Drain for the nodes. Its callbacks print a line for each pod.
func (o *drainOptions) newDrainer() (*clusterops.Drain, error) {
	typed, err := o.f.Clientset()
	if err != nil {
		return nil, err
	}
	return &clusterops.Drain{
		Typed: typed, IgnoreDaemonSets: o.ignoreDaemonSets, DeleteEmptyDirData: o.deleteEmptyDirData, Force: o.force, GracePeriod: o.gracePeriod,
		Timeout: o.timeout, ServerDryRun: o.dryRun.IsServer(), RetryAfter: evictionRetry, Evicted: o.printEvicted,
		Retried: func(pod *corev1.Pod) {
			o.f.Notef("pod %s/%s cannot be evicted yet: retrying until its PodDisruptionBudget allows it", pod.Namespace, pod.Name)
		},
	}, nil
}

func (o *drainOptions) printEvicted(pod *corev1.Pod) {
	if !o.out.IsMachineReadable() {
		fmt.Fprintf(o.f.Streams.Out, "pod %s/%s evicted%s\n", pod.Namespace, pod.Name, o.dryRun.MessageSuffix())
	}
}

// podsToEvict returns the pods to evict from all nodes. It returns an error if evicting one of them requires a flag
// that the user did not specify.
func (o *drainOptions) podsToEvict(ctx context.Context, d *clusterops.Drain, nodes []*corev1.Node) ([]corev1.Pod, error) {
	var leaving []corev1.Pod
	var problems []error
	for _, node := range nodes {
		pods, warnings, err := d.PodsToEvict(ctx, node.Name)
		problems = append(problems, setHints(err, "no node was changed"))
		leaving = append(leaving, pods...)
		if warnings != "" {
			o.f.Warnf("node %q: %s", node.Name, warnings)
		}
	}
	return leaving, errors.Join(problems...)
}

// setHints sets the hint of each error joined in err.
func setHints(err error, hint string) error {
	return usererror.Map(err, func(one error) error {
		return &usererror.Error{What: one.Error(), Hint: hint, Err: one}
	})
}

// confirmDrain prints which jobs lose pods. It then asks for confirmation, except in a dry run or with --yes.
func (o *drainOptions) confirmDrain(ctx context.Context, nodes []*corev1.Node, effects []string) error {
	if o.dryRun.IsDryRun() || o.confirm.Yes {
		for _, effect := range effects {
			o.f.Notef("%s", effect)
		}
		return nil
	}
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = node.Name
	}
	return o.confirm.AskUser(ctx, o.f, "drain "+strings.Join(names, ", "), effects)
}

// limitContext returns a context for all evictions that is cancelled after --timeout, if specified.
func (o *drainOptions) limitContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, o.timeout)
}

// drainNode cordons one node, evicts its pods and waits until they are deleted or limited is done.
func (o *drainOptions) drainNode(ctx, limited context.Context, c client.Client, d *clusterops.Drain, node *corev1.Node) error {
	done, err := setCordon(ctx, c, node, true, o.dryRun)
	if err != nil {
		return err
	}
	if !o.out.IsMachineReadable() {
		if err := cli.PrintSuccess(o.f, nil, node, done); err != nil {
			return err
		}
	}
	pods, _, err := d.PodsToEvict(ctx, node.Name) // the node accepts no new pods now
	if err != nil {
		return setHints(err, "the node is cordoned; no pod was evicted")
	}
	if err := o.evictPods(limited, d, node, pods); err != nil {
		return err
	}
	return cli.PrintSuccess(o.f, &o.out, node, "drained"+o.dryRun.MessageSuffix())
}

// evictPods evicts pods from a node and waits until they are deleted.
func (o *drainOptions) evictPods(ctx context.Context, d *clusterops.Drain, node *corev1.Node, pods []corev1.Pod) error {
	if o.dryRun.IsClient() {
		for i := range pods {
			o.printEvicted(&pods[i])
		}
		return nil
	}
	err := d.EvictAndWait(ctx, node.Name, pods)
	switch {
	case errors.Is(err, clusterops.ErrInterrupted):
		return usererror.FromError(err).WithCode(cli.ExitInterrupted)
	case errors.Is(err, clusterops.ErrTimeLimit):
		return usererror.FromError(err).WithCode(cli.ExitPending)
	}
	return setHints(err, "the node is cordoned; drain it again to evict the remaining pods")
}
