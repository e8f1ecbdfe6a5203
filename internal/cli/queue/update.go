package queue

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
)

// updateOptions are the inputs of `vcctl queue update`.
type updateOptions struct {
	f      *cli.Factory
	out    cli.Output
	target target
	dryRun cli.DryRun
	change func(*schedulingv1beta1.QueueSpec) error
}

func newUpdate(f *cli.Factory, run func(context.Context, *updateOptions) error) *cobra.Command {
	o := &updateOptions{f: f}
	flags := &spec{}
	cmd := &cobra.Command{
		Use:   "update NAME...",
		Short: "Change the weight, the limits or the parent of queues",
		Long: cli.Text(`
			Change queues. Only what is named by a flag changes. A resource list replaces the
			old one as a whole; the empty one removes it.`),
		Example: f.Examples(`
			# Twice the share
			vcctl queue update research --weight 2

			# A limit, and none
			vcctl queue update small --capability cpu=16,memory=64Gi
			vcctl queue update small --capability ''`),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.target.complete(f, args)
			if len(o.target.names) == 0 {
				return cli.UsageError(f, cmd, "queue name must be specified")
			}
			if changed, err := flags.apply(cmd, &schedulingv1beta1.QueueSpec{}); err != nil || !changed {
				if err == nil {
					err = cli.UsageError(f, cmd, "nothing to change: no flag says what")
				}
				return err
			}
			o.change = func(q *schedulingv1beta1.QueueSpec) error {
				_, err := flags.apply(cmd, q)
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.target.addFlag(cmd)
	flags.addFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("parent", f.CompleteQueues())
	o.dryRun.AddFlag(cmd)
	o.out.AddFormat(cmd, false)
	return cmd
}

func update(ctx context.Context, o *updateOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	var problems []error
	for _, name := range o.target.names {
		problems = append(problems, o.one(ctx, c, name))
	}
	return errors.Join(problems...)
}

func (o *updateOptions) one(ctx context.Context, c client.Client, name string) error {
	queue, err := getQueue(ctx, o.f, c, name)
	if err != nil {
		return err
	}
	before := queue.DeepCopy()
	if err := o.change(&queue.Spec); err != nil {
		return err
	}
	var problems []error
	for _, problem := range schedulingv1beta1.ValidateQueueUpdate(before, queue, nil) {
		problems = append(problems, cli.Errorf("", "%s", problem.Error()))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	if !o.dryRun.Client() {
		if err := c.Patch(ctx, queue, client.MergeFrom(before), o.dryRun.PatchOptions()...); err != nil {
			return err
		}
	}
	if o.target.old && !o.out.Machine() {
		return nil
	}
	return cli.PrintName(o.f, &o.out, queue, "updated"+o.dryRun.Suffix())
}
