package node

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/clusterops"
)

// cordonOptions holds the inputs of `vcctl node cordon` and `vcctl node uncordon`.
type cordonOptions struct {
	f       *cli.Factory
	out     cli.Output
	dryRun  cli.DryRun
	targets targets
	// cordoned is the desired state of the nodes.
	cordoned bool
}

func newCordon(f *cli.Factory, run func(context.Context, *cordonOptions) error) *cobra.Command {
	return cordonCommand(f, run, true, &cobra.Command{
		Use:   "cordon NAME...",
		Short: "Keep new pods off nodes",
		Long: cli.FormatHelp(`
			Mark nodes as unschedulable, as kubectl cordon does: no new pods are placed on
			them. Existing pods stay; use drain to evict them.`),
		Example: f.FormatExamples(`
			# Two nodes
			vcctl node cordon n1 n2

			# Show which nodes with a label would be cordoned
			vcctl node cordon -l gpu=a100 --dry-run`),
	})
}

func newUncordon(f *cli.Factory, run func(context.Context, *cordonOptions) error) *cobra.Command {
	return cordonCommand(f, run, false, &cobra.Command{
		Use:   "uncordon NAME...",
		Short: "Allow new pods on nodes again",
		Long: cli.FormatHelp(`
			Mark nodes as schedulable, as kubectl uncordon does. This ends a cordon or drain.
			Pods that a drain has evicted do not return by themselves.`),
		Example: f.FormatExamples(`
			# One node
			vcctl node uncordon n1

			# All nodes with a label
			vcctl node uncordon -l gpu=a100`),
	})
}

// cordonCommand adds the common parts of cordon and uncordon.
func cordonCommand(f *cli.Factory, run func(context.Context, *cordonOptions) error, cordoned bool, cmd *cobra.Command) *cobra.Command {
	o := &cordonOptions{f: f, cordoned: cordoned}
	cmd.ValidArgsFunction = f.CompleteNodes()
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.targets.addArguments(f, cmd, args); err != nil {
			return err
		}
		return run(cmd.Context(), o)
	}
	o.targets.addFlags(cmd)
	o.dryRun.AddFlag(cmd)
	o.out.AddFormatFlags(cmd, false)
	return cmd
}

func cordonNodes(ctx context.Context, o *cordonOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
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
	var problems []error
	for _, node := range nodes {
		done, err := setCordon(ctx, c, node, o.cordoned, o.dryRun)
		if err == nil {
			err = cli.PrintSuccess(o.f, &o.out, node, done)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// setCordon marks a node as unschedulable or schedulable. It returns the result in kubectl's wording.
func setCordon(ctx context.Context, c client.Client, node *corev1.Node, cordoned bool, dryRun cli.DryRun) (done string, err error) {
	done = "uncordoned"
	if cordoned {
		done = "cordoned"
	}
	if node.Spec.Unschedulable == cordoned {
		return "already " + done + dryRun.MessageSuffix(), nil
	}
	if dryRun.IsClient() {
		node.Spec.Unschedulable = cordoned
		return done + dryRun.MessageSuffix(), nil
	}
	if err := c.Patch(ctx, node, clusterops.CordonPatch(cordoned), dryRun.PatchOptions()...); err != nil {
		return "", err
	}
	return done + dryRun.MessageSuffix(), nil
}
