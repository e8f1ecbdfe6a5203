package volcanocli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
)

func newQueues(f *cli.Factory, l *flags, _ Exec) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vqueues [-n NAME] [flags]",
		Short: "List queues, or show one",
		Long: cli.FormatHelp(`
			List the queues, or with -n one queue, in the format of Volcano's vqueues.
			vcctl queue list also shows the usage and limits of queues.`),
		Example: "  # All queues\n  vqueues\n\n  # One queue\n  vqueues -n research",
		RunE: func(cmd *cobra.Command, _ []string) error {
			l.applyConnection(f)
			return printQueues(cmd.Context(), f, l.name)
		},
	}
	cmd.Flags().StringVarP(&l.name, "name", "n", "", "Name of the queue")
	_ = cmd.RegisterFlagCompletionFunc("name", func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		l.applyConnection(f)
		return f.CompleteQueues()(cmd, args, prefix)
	})
	return cmd
}

// printQueues prints all queues, or only the named one.
func printQueues(ctx context.Context, f *cli.Factory, name string) error {
	c, err := f.Client()
	if err != nil {
		return err
	}
	if name != "" {
		var one schedulingv1beta1.Queue
		if err := c.Get(ctx, client.ObjectKey{Name: name}, &one); err != nil {
			return explainMissingQueue(ctx, f, name, err)
		}
		return printQueueTable(f, []schedulingv1beta1.Queue{one})
	}
	var all []schedulingv1beta1.Queue
	page := &schedulingv1beta1.QueueList{}
	if err := cli.ListPages(ctx, c, page, func() error { all = append(all, page.Items...); return nil }); err != nil {
		return err
	}
	return printQueueTable(f, all)
}

// explainMissingQueue adds the names of similar queues to the error that a queue does not exist. It returns all other
// errors unchanged.
func explainMissingQueue(ctx context.Context, f *cli.Factory, name string, err error) error {
	if !apierrors.IsNotFound(err) {
		return err
	}
	there, listErr := f.ListNames(ctx, schedulingv1beta1.GroupVersion.WithKind("Queue"), false)
	if listErr != nil {
		return err
	}
	missing := cli.NotFoundError("queue", name, "", there)
	missing.Hint = cmp.Or(missing.Hint, "run vqueues without arguments to list the queues")
	return missing
}

// printQueueTable prints the table of Volcano's vqueues with exactly the same spacing.
func printQueueTable(f *cli.Factory, all []schedulingv1beta1.Queue) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(f.Streams.Out, "No resources found")
		return err
	}
	line := func(cells ...any) error {
		_, err := fmt.Fprintf(f.Streams.Out, "%-25v%-8v%-8v%-8v%-8v%-8v%-8v\n", cli.FormatCells(cells)...)
		return err
	}
	err := line("Name", "Weight", "State", "Inqueue", "Pending", "Running", "Unknown")
	for i := range all {
		if err != nil {
			return err
		}
		q := &all[i]
		err = line(q.Name, q.Spec.Weight, q.Status.State, q.Status.Inqueue, q.Status.Pending, q.Status.Running, q.Status.Unknown)
	}
	return err
}
