package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/queueusage"
)

// deleteOptions holds the inputs of `vcctl queue delete`.
type deleteOptions struct {
	f       *cli.Factory
	out     cli.Output
	target  target
	confirm cli.Confirm
	dryRun  cli.DryRun
	wait    cli.Wait
}

func newDelete(f *cli.Factory, run func(context.Context, *deleteOptions) error) *cobra.Command {
	o := &deleteOptions{f: f}
	cmd := &cobra.Command{
		Use:     "delete NAME...",
		Aliases: []string{"rm"},
		Short:   "Delete queues",
		Long: cli.FormatHelp(`
			Delete queues. The default queue and queues with child queues cannot be deleted. A
			queue with jobs can be deleted after confirmation, but its pending jobs then never
			start. It is better to close the queue and wait until it is empty.`),
		Example: f.FormatExamples(`
			# One queue, after its jobs have ended
			vcctl queue close research --yes --wait && vcctl queue delete research

			# The queues in a file
			vcctl queue delete -f queues.yaml

			# All queues with a label, without confirmation
			vcctl queue delete -l team=nlp --yes`),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.target.addArguments(f, cmd, args, "queue name must be specified"); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.target.addFlags(f, cmd, "Delete")
	cmd.Flags().BoolVar(&o.target.passMissing, "ignore-not-found", false, "Do not fail if a queue does not exist")
	o.confirm.AddFlag(cmd)
	o.dryRun.AddFlag(cmd)
	o.wait.AddFlags(cmd, true, "Wait until the queues are gone")
	o.out.AddFormatFlags(cmd, false)
	return cmd
}

func deleteQueues(ctx context.Context, o *deleteOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	queues, problem := o.target.findQueues(ctx, o.f, c)
	if o.target.usesSelector() && len(queues) == 0 && problem == nil {
		fmt.Fprintln(o.f.Streams.Err, "No resources found.")
	}
	if queues, err = o.keepDeletable(ctx, queues); err != nil && len(queues) == 0 {
		return errors.Join(problem, err)
	}
	problems := []error{problem, err}
	if err := o.confirmDeletion(ctx, queues); err != nil {
		return err
	}
	for _, queue := range queues {
		problems = append(problems, o.deleteQueue(ctx, c, queue))
	}
	return errors.Join(problems...)
}

// keepDeletable removes the queues that admission would not allow to be deleted and returns an error for each of them.
// Child queues that the same command deletes are deleted first, and therefore do not block the deletion of their
// parent.
func (o *deleteOptions) keepDeletable(ctx context.Context, queues []*schedulingv1beta1.Queue) ([]*schedulingv1beta1.Queue, error) {
	around := o.f.ValidationContext(ctx, !o.dryRun.IsClient())
	if around.Queues != nil {
		queues = sortChildrenFirst(queues, queueusage.NewForest(around.Queues.Queues()))
	}
	var kept []*schedulingv1beta1.Queue
	var problems []error
	for _, queue := range queues {
		if err := addQueueHints(cli.ValidateDelete(around, queue), queue, around); err != nil {
			problems = append(problems, err)
			continue
		}
		kept = append(kept, queue)
		if around.Queues != nil {
			around.Queues = schedulingv1beta1.NewQueueLookup(withoutQueue(around.Queues.Queues(), queue.Name)...)
		}
	}
	return kept, errors.Join(problems...)
}

// sortChildrenFirst sorts child queues before their ancestors.
func sortChildrenFirst(queues []*schedulingv1beta1.Queue, trees *queueusage.Forest) []*schedulingv1beta1.Queue {
	depth := func(q *schedulingv1beta1.Queue) int {
		n := 0
		for at := trees.Queues[q.ParentName()]; at != nil && n <= len(trees.Queues); at = trees.Queues[at.ParentName()] {
			n++
		}
		return n
	}
	sorted := slices.Clone(queues)
	slices.SortStableFunc(sorted, func(a, b *schedulingv1beta1.Queue) int { return depth(b) - depth(a) })
	return sorted
}

func withoutQueue(queues []*schedulingv1beta1.Queue, name string) []*schedulingv1beta1.Queue {
	return slices.DeleteFunc(queues, func(q *schedulingv1beta1.Queue) bool { return q.Name == name })
}

// confirmDeletion asks for confirmation before deleting queues that have running or pending jobs or were selected by
// label. It does not ask if the command line has Volcano's flags, because Volcano's vcctl never asks.
func (o *deleteOptions) confirmDeletion(ctx context.Context, queues []*schedulingv1beta1.Queue) error {
	if o.target.old || (o.confirm.Yes && !o.dryRun.IsDryRun()) {
		return nil
	}
	e := &effect{f: o.f, before: queues, fate: "the jobs will have no queue, and pending jobs will never start", unthinkable: true}
	t := e.describeEffect(ctx, false)
	return confirmEffects(ctx, o.f, &o.confirm, &o.dryRun, "delete "+joinNames(queues), t, o.target.usesSelector() || len(t.lines) > 0, queues)
}

func (o *deleteOptions) deleteQueue(ctx context.Context, c client.WithWatch, queue *schedulingv1beta1.Queue) error {
	if !o.dryRun.IsClient() {
		// The UID ensures that only the confirmed queue is deleted, not a newer one with the same name.
		err := c.Delete(ctx, queue, append(o.dryRun.DeleteOptions(), client.Preconditions{UID: &queue.UID})...)
		switch {
		case isMissing(err) && o.target.passMissing:
			return nil
		case isMissing(err):
			return queueNotFoundError(ctx, o.f, queue.Name)
		case err != nil:
			return err
		}
	}
	if o.wait.Wait && !o.dryRun.IsDryRun() && !o.target.old {
		if err := cli.WaitForDeletion(ctx, o.f, c, &o.wait, "queue", newQueueList, queue); err != nil {
			return err
		}
	}
	if o.target.old && !o.out.IsMachineReadable() {
		return nil
	}
	return cli.PrintSuccess(o.f, &o.out, queue, "deleted"+o.dryRun.MessageSuffix())
}
