package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
)

// commandNamespace is where Commands to queues live; Volcano's choice.
const commandNamespace = "default"

// operateOptions are the inputs of open, close and operate.
type operateOptions struct {
	f       *cli.Factory
	out     cli.Output
	target  target
	confirm cli.Confirm
	dryRun  cli.DryRun
	action  string
	weight  int32
}

func newOpen(f *cli.Factory, run func(context.Context, *operateOptions) error) *cobra.Command {
	return newSwitch(f, run, "open", "Let queues take jobs again", `
		Open queues that were closed: they take jobs again.`, `
		# One queue
		vcctl queue open research

		# Several, checked by the server only
		vcctl queue open research infer --dry-run=server`)
}

func newClose(f *cli.Factory, run func(context.Context, *operateOptions) error) *cobra.Command {
	return newSwitch(f, run, "close", "Let queues take no more jobs", `
		Close queues: they take no more jobs; what runs in them goes on. When jobs run or
		wait in a queue, this asks first.`, `
		# One queue
		vcctl queue close research

		# In a script, whatever runs there
		vcctl queue close research --yes`)
}

func newSwitch(f *cli.Factory, run func(context.Context, *operateOptions) error, action, short, long, examples string) *cobra.Command {
	o := &operateOptions{f: f, action: action}
	cmd := &cobra.Command{
		Use: action + " NAME...", Short: short, Long: cli.Text(long), Example: f.Examples(examples),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.target.complete(f, args)
			if len(o.target.names) == 0 {
				return cli.UsageError(f, cmd, "queue name must be specified")
			}
			return run(cmd.Context(), o)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *operateOptions) addFlags(cmd *cobra.Command) {
	o.target.addFlag(cmd)
	o.confirm.AddFlag(cmd)
	o.dryRun.AddFlag(cmd)
	o.out.AddFormat(cmd, false)
}

func newOperate(f *cli.Factory, run func(context.Context, *operateOptions) error) *cobra.Command {
	o := &operateOptions{f: f}
	cmd := &cobra.Command{
		Use:   "operate NAME... --action open|close|update",
		Short: "Open, close or reweigh queues, as Volcano's vcctl does",
		Long: cli.Text(`
			Open queues, close them, or change their weight. This is Volcano's spelling of
			queue open, queue close and queue update.`),
		Example: f.Examples(`
			# Close a queue, and open it again
			vcctl queue operate research --action close --yes
			vcctl queue operate research --action open

			# Another weight
			vcctl queue operate research --action update --weight 3`),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.target.complete(f, args)
			if err := o.checkUsage(cmd); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.action, "action", "a", "", "open, close or update")
	cmd.Flags().Int32VarP(&o.weight, "weight", "w", 0, "New weight, with --action update")
	_ = cmd.RegisterFlagCompletionFunc("action", cli.Values("open", "close", "update"))
	o.addFlags(cmd)
	return cmd
}

// checkUsage refuses with the words that scripts around Volcano's vcctl know.
func (o *operateOptions) checkUsage(cmd *cobra.Command) error {
	switch {
	case len(o.target.names) == 0:
		return cli.UsageError(o.f, cmd, "queue name must be specified")
	case o.action == "":
		return cli.Errorf("--action open, close or update", "action can not be null")
	case o.action == "update" && o.weight <= 0:
		return cli.Errorf("--weight N", "when update queue %s, weight must be specified, the value must be greater than 0", o.target.names[0])
	case o.action != "open" && o.action != "close" && o.action != "update":
		hint := "--action open, close or update"
		if near := cli.Nearest(o.action, []string{"open", "close", "update"}); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return cli.Errorf(hint, "action %s invalid, valid actions are open, close and update", o.action)
	}
	return nil
}

func operate(ctx context.Context, o *operateOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	if o.action == "update" {
		u := &updateOptions{f: o.f, out: o.out, target: o.target, dryRun: o.dryRun, change: func(q *schedulingv1beta1.QueueSpec) error {
			q.Weight = o.weight
			return nil
		}}
		return update(ctx, u)
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	rootErr := o.leaveRoot()
	queues, problem := o.queues(ctx, c)
	if err := o.ask(queues); err != nil {
		return err
	}
	problems := []error{problem, rootErr}
	for _, queue := range queues {
		problems = append(problems, o.one(ctx, c, queue))
	}
	return errors.Join(problems...)
}

// leaveRoot takes the root queue from those to close: its controller keeps it open.
func (o *operateOptions) leaveRoot() error {
	if o.action != "close" || !slices.Contains(o.target.names, keys.RootQueue) {
		return nil
	}
	o.target.names = slices.DeleteFunc(o.target.names, func(name string) bool { return name == keys.RootQueue })
	return cli.Errorf("close the queues below it instead; vcctl queue list shows them", "queue %q cannot be closed: it is what all queues stand under", keys.RootQueue)
}

func (o *operateOptions) queues(ctx context.Context, c client.Client) ([]*schedulingv1beta1.Queue, error) {
	var queues []*schedulingv1beta1.Queue
	var problems []error
	for _, name := range o.target.names {
		queue, err := getQueue(ctx, o.f, c, name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		queues = append(queues, queue)
	}
	return queues, errors.Join(problems...)
}

// ask asks before a queue is closed that jobs run or wait in. Volcano's vcctl
// never asked: called its way, neither do we.
func (o *operateOptions) ask(queues []*schedulingv1beta1.Queue) error {
	if o.action != "close" || o.dryRun.Any() || o.target.old {
		return nil
	}
	var effects []string
	for _, q := range queues {
		if busy(q) != "" {
			effects = append(effects, fmt.Sprintf("queue %s: %s stay, nothing new is taken", q.Name, busy(q)))
		}
	}
	if len(effects) == 0 {
		return nil
	}
	return o.confirm.Ask(o.f, "close "+strings.Join(o.target.names, ", "), effects)
}

// busy says how many pod groups run and wait in a queue; "" when none do.
func busy(q *schedulingv1beta1.Queue) string {
	running, waiting := q.Status.Running, q.Status.Inqueue+q.Status.Pending
	if running+waiting == 0 {
		return ""
	}
	return fmt.Sprintf("%d running and %d waiting pod groups", running, waiting)
}

func (o *operateOptions) one(ctx context.Context, c client.Client, queue *schedulingv1beta1.Queue) error {
	action, done := busv1alpha1.OpenQueueAction, "opened"
	if o.action == "close" {
		action, done = busv1alpha1.CloseQueueAction, "closed"
	}
	if !o.dryRun.Client() {
		if err := c.Create(ctx, commandFor(queue, action), o.dryRun.CreateOptions()...); err != nil {
			return err
		}
	}
	if o.target.old && !o.out.Machine() {
		return nil
	}
	return cli.PrintName(o.f, &o.out, queue, done+o.dryRun.Suffix())
}

// commandFor is the wire contract of Volcano: owned by and aimed at the queue.
func commandFor(queue *schedulingv1beta1.Queue, action busv1alpha1.Action) *busv1alpha1.Command {
	target := metav1.NewControllerRef(queue, schedulingv1beta1.GroupVersion.WithKind("Queue"))
	return &busv1alpha1.Command{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    fmt.Sprintf("%s-%s-", queue.Name, strings.ToLower(string(action))),
			Namespace:       commandNamespace,
			OwnerReferences: []metav1.OwnerReference{*target},
		},
		TargetObject: target,
		Action:       string(action),
	}
}
