package change

import (
	"context"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/editor"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
)

// editOptions holds the inputs of `vcctl job edit`.
type editOptions struct {
	editor.Options
	name string
}

func newEdit(f *cli.Factory, run func(context.Context, *editOptions) error) *cobra.Command {
	o := &editOptions{Options: editor.Options{Factory: f}}
	cmd := &cobra.Command{
		Use:   "edit NAME",
		Short: "Change a job in an editor",
		Long: cli.FormatHelp(`
Open a job in an editor, and apply your changes when you save and quit.` + editor.Help + `
You can change the labels and annotations of a job, its minAvailable and
priorityClassName, and the replicas and minAvailable of each task. If the job is
held or its begin time is in the future, you can also change queue,
runningEstimate and activeDeadlineSeconds.`),
		Example: f.FormatExamples(`
			# In the editor of this shell
			vcctl job edit train

			# In another editor
			VCCTL_EDITOR=nano vcctl job edit train

			# Let the server check the change without storing it
			vcctl job edit train --dry-run=server`),
		ValidArgsFunction: f.CompleteJobs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.name, err = lookup.SingleName(f, cmd, args); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.AddFlags(cmd)
	return cmd
}

// editJob opens the job in the editor until the change is accepted or the user makes no further change.
func editJob(ctx context.Context, o *editOptions) error {
	if err := o.Validate(); err != nil {
		return err
	}
	c, job, err := lookup.ReadSingle(ctx, o.Factory, o.name)
	if err != nil {
		return err
	}
	return o.EditAndPrint(ctx, c, newJobKind(&o.Options), client.ObjectKeyFromObject(job))
}

// EditJob opens a job in the editor and sends the change, as the command does. said is the result as a sentence. An
// error names the file to which the user's text was saved.
func EditJob(ctx context.Context, f *cli.Factory, c client.Client, key client.ObjectKey) (said string, err error) {
	o := &editor.Options{Factory: f}
	return o.EditAndDescribe(ctx, c, newJobKind(o), key)
}

// newJobKind describes jobs for the editor.
func newJobKind(o *editor.Options) *editor.Kind {
	return &editor.Kind{
		GVK: batchv1alpha1.GroupVersion.WithKind("Job"), Noun: "job", CopyHint: "vcctl job rerun --name",
		Help: "You can change labels, annotations, and these fields in spec: minAvailable, priorityClassName, and the replicas and minAvailable of each task. " +
			"If the job is held or its begin time is in the future, you can also change queue, runningEstimate and activeDeadlineSeconds.",
		Validate: func(ctx context.Context, change editor.Change) error {
			return o.Factory.ValidateUpdate(o.Factory.ValidationContext(ctx, true), change.Before, change.After, o.DryRun.IsClient())
		},
	}
}
