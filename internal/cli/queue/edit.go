package queue

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/check"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/editor"
)

// editOptions holds the inputs of `vcctl queue edit`.
type editOptions struct {
	editor.Options
	confirm cli.Confirm
	name    string
}

func newEdit(f *cli.Factory, run func(context.Context, *editOptions) error) *cobra.Command {
	o := &editOptions{Options: editor.Options{Factory: f}}
	cmd := &cobra.Command{
		Use:   "edit NAME",
		Short: "Change a queue in an editor",
		Long: cli.FormatHelp(`
Open a queue in an editor, and apply your changes when you save and quit.` + editor.Help + `
You can change everything that vcctl queue update can change: the labels and
annotations of the queue, and the fields of its spec, such as weight, priority,
parent, reclaimable, guarantee, deserved, capability and jobLimits.

As with vcctl queue update, if a change takes resources from running jobs, its
effects are shown and you are asked to confirm the change.`),
		Example: f.FormatExamples(`
			# In the editor of this shell
			vcctl queue edit research

			# In another editor
			VCCTL_EDITOR=nano vcctl queue edit research

			# Show the effects of a change, and let the server check it without storing it
			vcctl queue edit research --dry-run=server`),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return cli.UsageError(f, cmd, "queue name must be specified")
			case 1:
				o.name = cli.BareName(args[0], "queues")
				return run(cmd.Context(), o)
			}
			return cli.UsageError(f, cmd, "expected one queue, but got %d", len(args))
		},
	}
	o.AddFlags(cmd)
	o.confirm.AddFlag(cmd)
	return cmd
}

// editQueue opens the queue in the editor until the change is accepted or the user makes no further change.
func editQueue(ctx context.Context, o *editOptions) error {
	if err := o.Validate(); err != nil {
		return err
	}
	c, err := o.Factory.Client()
	if err != nil {
		return err
	}
	queue, err := getQueue(ctx, o.Factory, c, o.name)
	if err != nil {
		return err
	}
	return o.EditAndPrint(ctx, c, o.newKind(), client.ObjectKeyFromObject(queue))
}

// EditQueue opens a queue in the editor and sends the change, as the command does. said is the result as a sentence. An
// error names the file to which the user's text was saved.
func EditQueue(ctx context.Context, f *cli.Factory, c client.Client, name string) (said string, err error) {
	o := &editOptions{Options: editor.Options{Factory: f}}
	return o.EditAndDescribe(ctx, c, o.newKind(), client.ObjectKey{Name: name})
}

// newKind describes queues for the editor. A change is checked and confirmed in the same way as an update.
func (o *editOptions) newKind() *editor.Kind {
	return &editor.Kind{
		GVK: queueKind(), Noun: "queue", CopyHint: "vcctl queue create",
		Help: "You can change labels and annotations, and in spec: weight, priority, parent, reclaimable, guarantee, deserved, capability, jobLimits and the other fields. " +
			"A resource that capability does not list is unlimited. jobLimits limits each job: maxRunTime, defaultRunTime, maxNodes and maxPods.",
		Validate: func(ctx context.Context, change editor.Change) error {
			one, err := newChangedQueue(change)
			if err != nil {
				return err
			}
			return o.newUpdate().checkChange(o.Factory.ValidationContext(ctx, true), one)
		},
		Confirm: func(ctx context.Context, change editor.Change) error {
			one, err := newChangedQueue(change)
			if err != nil {
				return err
			}
			return o.newUpdate().confirmUpdate(ctx, []changedQueue{one}, o.Factory.ValidationContext(ctx, true).Queues)
		},
	}
}

// newUpdate returns the update that makes the same change.
func (o *editOptions) newUpdate() *updateOptions {
	return &updateOptions{f: o.Factory, confirm: o.confirm, dryRun: o.DryRun}
}

// newChangedQueue decodes a change. The changed queue has the defaults that admission sets.
func newChangedQueue(change editor.Change) (one changedQueue, err error) {
	if one.before, err = decodeQueue(change.Before); err != nil {
		return one, err
	}
	if one.after, err = decodeQueue(change.After); err != nil {
		return one, err
	}
	schedulingv1beta1.DefaultQueue(one.after)
	return one, nil
}

// decodeQueue decodes a queue. It returns an error for each field whose value has the wrong type.
func decodeQueue(object *unstructured.Unstructured) (*schedulingv1beta1.Queue, error) {
	text, err := object.MarshalJSON()
	if err != nil {
		return nil, err
	}
	queue, errs := check.Decode[schedulingv1beta1.Queue](text)
	return queue, cli.ValidationError(errs)
}
