package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
)

// deleteOptions are the inputs of `vcctl queue delete`.
type deleteOptions struct {
	f         *cli.Factory
	out       cli.Output
	target    target
	confirm   cli.Confirm
	dryRun    cli.DryRun
	labels    string
	ignoreNot bool
}

func newDelete(f *cli.Factory, run func(context.Context, *deleteOptions) error) *cobra.Command {
	o := &deleteOptions{f: f}
	cmd := &cobra.Command{
		Use:     "delete NAME...",
		Aliases: []string{"rm"},
		Short:   "Delete queues",
		Long: cli.Text(`
			Delete queues. The server refuses to delete the default queue and one that has
			children. A queue in which jobs run or wait can be deleted, and its jobs then
			wait for ever: this asks first. Better close it, and wait until it is empty.`),
		Example: f.Examples(`
			# One queue
			vcctl queue delete research

			# All queues with a label, without a question
			vcctl queue delete -l team=nlp --yes`),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.target.complete(f, args)
			switch {
			case len(o.target.names) == 0 && o.labels == "":
				return cli.UsageError(f, cmd, "queue name must be specified")
			case len(o.target.names) > 0 && o.labels != "":
				return cli.UsageError(f, cmd, "names together with --selector: say one of them")
			}
			return run(cmd.Context(), o)
		},
	}
	o.target.addFlag(cmd)
	cmd.Flags().StringVarP(&o.labels, "selector", "l", "", "Delete the queues that match this label selector")
	cmd.Flags().BoolVar(&o.ignoreNot, "ignore-not-found", false, "A queue that does not exist is no error")
	o.confirm.AddFlag(cmd)
	o.dryRun.AddFlag(cmd)
	o.out.AddFormat(cmd, false)
	return cmd
}

func remove(ctx context.Context, o *deleteOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	if o.labels != "" {
		if err := o.find(ctx, c); err != nil {
			return err
		}
	}
	if o.labels == "" {
		if err := o.askWhenBusy(ctx, c); err != nil {
			return err
		}
	}
	var problems []error
	for _, name := range o.target.names {
		problems = append(problems, o.one(ctx, c, name))
	}
	return errors.Join(problems...)
}

// askWhenBusy asks before queues are deleted that jobs run or wait in. Volcano's
// vcctl never asked: called its way, neither do we.
func (o *deleteOptions) askWhenBusy(ctx context.Context, c client.Client) error {
	if o.confirm.Yes || o.dryRun.Any() || o.target.old {
		return nil
	}
	var effects []string
	for _, name := range o.target.names {
		queue := &schedulingv1beta1.Queue{}
		if c.Get(ctx, client.ObjectKey{Name: name}, queue) == nil && busy(queue) != "" {
			effects = append(effects, fmt.Sprintf("queue %s: %s lose their queue", name, busy(queue)))
		}
	}
	if len(effects) == 0 {
		return nil
	}
	return o.confirm.Ask(o.f, "delete "+strings.Join(o.target.names, ", "), effects)
}

// find names the queues of the selector, and asks.
func (o *deleteOptions) find(ctx context.Context, c client.Client) error {
	labels, err := cli.ParseSelector(o.labels)
	if err != nil {
		return err
	}
	page := &schedulingv1beta1.QueueList{}
	err = cli.Pages(ctx, c, page, func() error {
		for i := range page.Items {
			o.target.names = append(o.target.names, page.Items[i].Name)
		}
		return nil
	}, labels)
	if err != nil || len(o.target.names) == 0 || o.dryRun.Any() {
		return err
	}
	return o.confirm.Ask(o.f, "delete queues", o.target.names)
}

func (o *deleteOptions) one(ctx context.Context, c client.Client, name string) error {
	queue := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if !o.dryRun.Client() {
		err := c.Delete(ctx, queue, o.dryRun.DeleteOptions()...)
		switch {
		case apierrors.IsNotFound(err) && o.ignoreNot:
			return nil
		case apierrors.IsNotFound(err) && !strings.Contains(err.Error(), "could not find the requested resource"):
			return noQueue(ctx, o.f, name)
		case err != nil:
			return err
		}
	}
	if o.target.old && !o.out.Machine() {
		return nil
	}
	return cli.PrintName(o.f, &o.out, queue, "deleted"+o.dryRun.Suffix())
}
