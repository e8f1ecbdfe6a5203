package queue

import (
	"context"
	"errors"
	"maps"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/check"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/queueusage"
)

// updateOptions holds the inputs of `vcctl queue update`.
type updateOptions struct {
	f       *cli.Factory
	out     cli.Output
	target  target
	confirm cli.Confirm
	dryRun  cli.DryRun
	wait    cli.Wait
	fields  cli.FieldValidation
	// change applies the flags to a queue.
	change func(*schedulingv1beta1.QueueSpec) error
}

func newUpdate(f *cli.Factory, run func(context.Context, *updateOptions) error) *cobra.Command {
	o := &updateOptions{f: f}
	flags := &spec{}
	cmd := &cobra.Command{
		Use:   "update NAME...",
		Short: "Change the weight, limits or parent of queues",
		Long: cli.FormatHelp(`
			Change queues. Only the fields that you specify with flags are changed. A resource
			list replaces the entire current list; an empty list removes it. With -f,
			the spec in the file replaces the queue's spec, and the labels and annotations in
			the file are added.

			If a change reduces the resources of a queue with running jobs, the scheduler first
			simulates which pods would be evicted immediately, and you are asked for
			confirmation. A script needs --yes only if pods would be evicted. vcctl plan
			--queue-edit shows more details and changes nothing.`),
		Example: f.FormatExamples(`
			# Double the share
			vcctl queue update research --weight 2

			# Set and remove a limit
			vcctl queue update small --capability cpu=16,memory=64Gi
			vcctl queue update small --capability ''

			# Limit the pods of each job, and remove the limit on the run time
			vcctl queue update small --max-pods 100 --max-run-time 0

			# The effect of a lower limit for all queues of a team
			vcctl queue update -l team=nlp --capability nvidia.com/gpu=8 --dry-run=server

			# Lower the limit, and wait until the queue's usage is within it
			vcctl queue update research --capability cpu=4 --yes --wait`),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.target.addArguments(f, cmd, args, "queue name must be specified"); err != nil {
				return err
			}
			changed, err := flags.applyFlags(cmd, &schedulingv1beta1.QueueSpec{})
			switch {
			case err != nil:
				return err
			case !changed && !o.target.files.HasSources():
				return cli.UsageError(f, cmd, "nothing to change: specify the fields to change with flags")
			}
			o.change = func(q *schedulingv1beta1.QueueSpec) error {
				_, err := flags.applyFlags(cmd, q)
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.target.addFlags(f, cmd, "Change")
	flags.addUpdateFlags(f, cmd)
	o.confirm.AddFlag(cmd)
	o.dryRun.AddFlag(cmd)
	o.wait.AddFlags(cmd, false, "Wait until the queues use no more than their capability")
	o.fields.AddFlag(cmd)
	cli.RequireAny(cmd, "the flag applies only to objects that are read from files", "validate", "filename", "kustomize")
	o.out.AddFormatFlags(cmd, false)
	return cmd
}

// changedQueue is a queue before and after a change.
type changedQueue struct {
	before, after *schedulingv1beta1.Queue
	filed         filedQueue
}

func updateQueues(ctx context.Context, o *updateOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate(), o.fields.Validate()); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	changes, problem := o.computeChanges(ctx, c)
	if problem != nil && len(changes) == 0 {
		return problem
	}
	around := o.f.ValidationContext(ctx, true)
	var refused []error
	for _, one := range changes {
		refused = append(refused, o.checkChange(around, one))
	}
	if err := errors.Join(append(refused, problem)...); errors.Join(refused...) != nil {
		return err
	}
	if err := o.confirmUpdate(ctx, changes, around.Queues); err != nil {
		return err
	}
	problems := []error{problem}
	for _, one := range changes {
		problems = append(problems, o.updateQueue(ctx, c, one))
	}
	return errors.Join(problems...)
}

// checkChange returns the error with which admission would reject a change. Because the changes of a command are made in
// order, around contains the changed queue afterwards.
func (o *updateOptions) checkChange(around *check.Around, one changedQueue) error {
	err := checkFiledQueue(one.filed, func() error {
		return addQueueHints(o.f.ValidateUpdate(around, one.before, one.after, o.dryRun.IsClient()), one.after, around)
	})
	if around.Queues != nil {
		around.Queues = schedulingv1beta1.NewQueueLookup(append(withoutQueue(around.Queues.Queues(), one.after.Name), one.after)...)
	}
	return err
}

// computeChanges reads the selected queues and computes the changed version of each.
func (o *updateOptions) computeChanges(ctx context.Context, c client.Client) ([]changedQueue, error) {
	filed := map[string]filedQueue{}
	if o.target.files.HasSources() {
		read, err := readValidatedQueues(o.f, &o.target.files, &o.fields)
		if err != nil {
			return nil, err
		}
		o.target.files = cli.Files{} // standard input can be read only once
		for _, one := range read {
			filed[one.queue.Name] = one
			o.target.names = append(o.target.names, one.queue.Name)
		}
	}
	queues, problem := o.target.findQueues(ctx, o.f, c)
	var changes []changedQueue
	for _, queue := range queues {
		one := changedQueue{before: queue, after: queue.DeepCopy(), filed: filed[queue.Name]}
		if from := one.filed.queue; from != nil {
			schedulingv1beta1.DefaultQueue(from)
			one.after.Spec = *from.Spec.DeepCopy()
			one.after.Labels, one.after.Annotations = mergeMissing(queue.Labels, from.Labels), mergeMissing(queue.Annotations, from.Annotations)
		}
		if err := o.change(&one.after.Spec); err != nil {
			return nil, err
		}
		changes = append(changes, one)
	}
	return changes, problem
}

func mergeMissing(old, more map[string]string) map[string]string {
	if len(more) == 0 {
		return old
	}
	all := maps.Clone(more)
	for key, value := range old {
		if _, there := all[key]; !there {
			all[key] = value
		}
	}
	return all
}

// confirmUpdate prints the effects of a change that takes resources from queues with running or pending jobs. It asks
// for confirmation if jobs are running there; without a terminal, it requires confirmation only if pods would be
// evicted. It always asks if the queues were selected by label. It does not ask if the command line has Volcano's
// flags, because Volcano's vcctl never asks.
func (o *updateOptions) confirmUpdate(ctx context.Context, changes []changedQueue, known schedulingv1beta1.QueueLookup) error {
	if o.target.old || (o.confirm.Yes && !o.dryRun.IsDryRun()) {
		return nil
	}
	e := &effect{f: o.f}
	if known != nil {
		e.trees = queueusage.NewForest(known.Queues())
	}
	var all []*schedulingv1beta1.Queue
	for _, one := range changes {
		all = append(all, one.before)
		if takesResources(one.before, one.after) {
			e.before, e.after = append(e.before, one.before), append(e.after, one.after)
		}
	}
	described := e.describeEffect(ctx, !o.dryRun.IsClient())
	needsConsent := described.runs && (o.f.Streams.InTTY || described.evicts)
	ask := o.target.usesSelector() || needsConsent
	return confirmEffects(ctx, o.f, &o.confirm, &o.dryRun, "update "+joinNames(all), described, ask, all)
}

func (o *updateOptions) updateQueue(ctx context.Context, c client.WithWatch, change changedQueue) error {
	queue := change.after
	if !o.dryRun.IsClient() {
		if err := c.Patch(ctx, queue, client.MergeFrom(change.before), o.dryRun.PatchOptions()...); err != nil {
			return err
		}
	}
	if o.wait.Wait && !o.dryRun.IsDryRun() {
		within := func(q *schedulingv1beta1.Queue) bool { return excessText(q) == "" }
		var err error
		if queue, err = waitForQueue(ctx, o.f, c, &o.wait, queue, within, excessText); err != nil {
			return err
		}
	}
	if o.target.old && !o.out.IsMachineReadable() {
		return nil
	}
	return cli.PrintSuccess(o.f, &o.out, queue, "updated"+o.dryRun.MessageSuffix())
}
