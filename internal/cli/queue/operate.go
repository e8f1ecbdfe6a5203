package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/queueusage"
	"github.com/vc-batch/vc/internal/usererror"
)

// commandNamespace is the namespace of Commands for queues, the same as in Volcano.
const commandNamespace = "default"

// operateOptions holds the inputs of open, close and operate.
type operateOptions struct {
	f       *cli.Factory
	out     cli.Output
	target  target
	confirm cli.Confirm
	dryRun  cli.DryRun
	wait    cli.Wait
	action  string
	weight  int32
}

func newOpen(f *cli.Factory, run func(context.Context, *operateOptions) error) *cobra.Command {
	return newSwitch(f, run, "open", "Open queues, so that they accept jobs again", `
		Open closed queues, so that they accept jobs again.`, `
		# One queue
		vcctl queue open research

		# Several queues; the server only checks the change
		vcctl queue open research infer --dry-run=server`)
}

func newClose(f *cli.Factory, run func(context.Context, *operateOptions) error) *cobra.Command {
	return newSwitch(f, run, "close", "Close queues, so that they accept no new jobs", `
		Close queues and their child queues, so that they accept no new jobs. Running jobs
		continue, and a queue remains in state Closing until it is empty. If a queue has
		running or waiting jobs, the scheduler simulates the effect on them, and you are
		asked for confirmation.`, `
		# One queue
		vcctl queue close research

		# In a script, without confirmation; wait until the last job has ended
		vcctl queue close research --yes --wait

		# Show the effect without closing the queue
		vcctl queue close research --dry-run=server`)
}

func newSwitch(f *cli.Factory, run func(context.Context, *operateOptions) error, action, short, long, examples string) *cobra.Command {
	o := &operateOptions{f: f, action: action}
	cmd := &cobra.Command{
		Use: action + " NAME...", Short: short, Long: cli.FormatHelp(long), Example: f.FormatExamples(examples),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.target.addArguments(f, cmd, args, "queue name must be specified"); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.addFlags(cmd, strings.ToUpper(action[:1])+action[1:], map[string]string{
		"open": "Wait until the queues are open", "close": "Wait until the queues are closed and have no running or pending jobs",
	}[action])
	return cmd
}

func (o *operateOptions) addFlags(cmd *cobra.Command, verb, wait string) {
	o.target.addFlags(o.f, cmd, verb)
	o.confirm.AddFlag(cmd)
	o.dryRun.AddFlag(cmd)
	o.wait.AddFlags(cmd, false, wait)
	o.out.AddFormatFlags(cmd, false)
}

func newOperate(f *cli.Factory, run func(context.Context, *operateOptions) error) *cobra.Command {
	o := &operateOptions{f: f}
	cmd := &cobra.Command{
		Use:   "operate NAME... --action open|close|update",
		Short: "Open or close queues or set their weight, as in Volcano's vcctl",
		Long: cli.FormatHelp(`
			Open or close queues, or change their weight. This command uses Volcano's
			syntax; queue open, queue close and queue update do the same.`),
		Example: f.FormatExamples(`
			# Close a queue, and open it again
			vcctl queue operate research --action close --yes
			vcctl queue operate research --action open

			# Change its weight
			vcctl queue operate research --action update --weight 3`),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.target.addArguments(f, cmd, args, "queue name must be specified"); err != nil {
				return err
			}
			if err := o.checkUsage(); err != nil {
				return err
			}
			if o.action != "update" && cli.IsFlagSet(cmd, "weight") {
				return usererror.Errorf("remove --weight, or use --action update", "--weight cannot be combined with --action %s: only update changes the weight", o.action)
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.action, "action", "a", "", "Action to perform: open, close or update")
	cmd.Flags().Int32VarP(&o.weight, "weight", "w", 0, "New weight of the queues; requires --action update")
	_ = cmd.RegisterFlagCompletionFunc("action", cli.CompleteValues("open", "close", "update"))
	o.addFlags(cmd, "Operate on", "Wait until the queues are open or closed, depending on --action")
	cli.AddCheck(cmd, func(*cobra.Command, []string) error {
		if o.action != "update" || !o.target.files.HasSources() {
			return nil
		}
		return usererror.Errorf(fmt.Sprintf("to apply the files, use vcctl queue update %s; --weight overrides the weight in the files", o.target.files.FlagName()),
			"%s cannot be combined with --action update: specify the queues by name", o.target.files.FlagName())
	})
	return cmd
}

// checkUsage rejects invalid flags with the messages that scripts written for Volcano's vcctl expect. It therefore
// runs before all other checks of these flags.
func (o *operateOptions) checkUsage() error {
	switch {
	case o.action == "":
		return usererror.Errorf("specify --action open, close or update", "action can not be null")
	case o.action == "update" && o.weight <= 0:
		return usererror.Errorf("--weight N", "when update queue %s, weight must be specified, the value must be greater than 0", strings.Join(o.target.names, ", "))
	case o.action != "open" && o.action != "close" && o.action != "update":
		hint := "specify --action open, close or update"
		if near := cli.FindNearest(o.action, []string{"open", "close", "update"}); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return usererror.Errorf(hint, "action %s invalid, valid actions are open, close and update", o.action)
	}
	return nil
}

func operateQueues(ctx context.Context, o *operateOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	if o.action == "update" {
		u := &updateOptions{f: o.f, out: o.out, target: o.target, confirm: o.confirm, dryRun: o.dryRun, wait: o.wait, change: func(q *schedulingv1beta1.QueueSpec) error {
			q.Weight = o.weight
			return nil
		}}
		return updateQueues(ctx, u)
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	problems := []error{o.excludeRoot()}
	queues, problem := o.target.findQueues(ctx, o.f, c)
	problems = append(problems, problem)
	queues = slices.DeleteFunc(queues, func(q *schedulingv1beta1.Queue) bool {
		why := o.checkAllowed(ctx, c, q)
		problems = append(problems, why)
		return why != nil
	})
	if err := o.confirmChange(ctx, c, queues); err != nil {
		return err
	}
	for _, queue := range queues {
		problems = append(problems, o.operateQueue(ctx, c, queue))
	}
	if o.action == "close" && !o.target.old && !o.dryRun.IsDryRun() {
		o.printAlsoClosed(ctx, c, queues)
	}
	return errors.Join(problems...)
}

// printAlsoClosed prints the child queues that are also closed because an ancestor is closed.
func (o *operateOptions) printAlsoClosed(ctx context.Context, c client.Client, queues []*schedulingv1beta1.Queue) {
	if below := addDescendants(ctx, c, queues)[len(queues):]; len(below) > 0 {
		fmt.Fprintf(o.f.Streams.Err, "also closing child queues: %s\n", joinNames(below))
	}
}

// excludeRoot removes the root queue from the queues to close and returns an error about it, because its controller
// keeps it open.
func (o *operateOptions) excludeRoot() error {
	if o.action != "close" || !slices.Contains(o.target.names, keys.RootQueue) {
		return nil
	}
	o.target.names = slices.DeleteFunc(o.target.names, func(name string) bool { return name == keys.RootQueue })
	return rootQueueError()
}

func rootQueueError() error {
	return usererror.Errorf("close the queues below it instead; vcctl queue tree shows them", "queue %q cannot be closed: it is the root of all queues", keys.RootQueue)
}

// checkAllowed returns an error if the queue controller would reject the command, because the controller itself reports
// the rejection only in an event.
func (o *operateOptions) checkAllowed(ctx context.Context, c client.Client, q *schedulingv1beta1.Queue) error {
	closing := o.action == "close"
	wish := q.Wish()
	switch {
	case closing && queueusage.IsRoot(q):
		return rootQueueError()
	case closing && wish == schedulingv1beta1.QueueStateOpen, !closing && wish == schedulingv1beta1.QueueStateClosed:
		return usererror.Errorf(fmt.Sprintf("kubectl annotate queue %s %s-", q.Name, keys.QueueState),
			"annotation %[2]s keeps queue %[1]q in state %[3]s", q.Name, keys.QueueState, wish)
	case closing || queueusage.IsRoot(q) || q.ParentName() == keys.RootQueue:
		return nil
	}
	parent := &schedulingv1beta1.Queue{}
	if err := c.Get(ctx, client.ObjectKey{Name: q.ParentName()}, parent); err == nil && !parent.IsOpen() {
		return usererror.Errorf("vcctl queue open "+parent.Name, "queue %q cannot be opened: its parent %s is %s; open the parent first", q.Name, parent.Name, parent.Status.State)
	}
	return nil
}

// confirmChange asks for confirmation before closing queues that have running or pending jobs in them or in queues
// below them, and before opening or closing all queues that a selector matches. It does not ask if the command line has
// Volcano's flags, because Volcano's vcctl never asks.
func (o *operateOptions) confirmChange(ctx context.Context, c client.Client, queues []*schedulingv1beta1.Queue) error {
	if o.target.old || (o.confirm.Yes && !o.dryRun.IsDryRun()) {
		return nil
	}
	var t effectText
	ask := o.target.usesSelector()
	if o.action == "close" && len(queues) > 0 {
		e := &effect{f: o.f, fate: "the queue accepts no new jobs"}
		e.before = addDescendants(ctx, c, queues)
		for _, q := range e.before {
			after := q.DeepCopy()
			after.Status.State = schedulingv1beta1.QueueStateClosed
			e.after = append(e.after, after)
		}
		t = e.describeEffect(ctx, !o.dryRun.IsClient())
		ask = ask || len(t.lines) > 0
	}
	return confirmEffects(ctx, o.f, &o.confirm, &o.dryRun, o.action+" "+joinNames(queues), t, ask, queues)
}

// addDescendants adds the queues below the named ones, because they are closed together. If they cannot be listed, it
// adds none.
func addDescendants(ctx context.Context, c client.Client, named []*schedulingv1beta1.Queue) []*schedulingv1beta1.Queue {
	all, err := (&target{}).listLabelled(ctx, c)
	if err != nil {
		return named
	}
	trees := queueusage.NewForest(all)
	family := slices.Clone(named)
	for _, q := range named {
		for _, below := range trees.DescendantsOf(q.Name) {
			if !slices.ContainsFunc(family, func(known *schedulingv1beta1.Queue) bool { return known.Name == below.Name }) {
				family = append(family, below)
			}
		}
	}
	return family
}

func (o *operateOptions) operateQueue(ctx context.Context, c client.WithWatch, queue *schedulingv1beta1.Queue) error {
	action, done, aim := busv1alpha1.OpenQueueAction, "opened", schedulingv1beta1.QueueStateOpen
	if o.action == "close" {
		action, done, aim = busv1alpha1.CloseQueueAction, "closed", schedulingv1beta1.QueueStateClosed
	}
	if effectiveState(queue) == aim && !o.target.old {
		return cli.PrintSuccess(o.f, &o.out, queue, "is "+strings.ToLower(string(aim))+" already")
	}
	if !o.dryRun.IsClient() {
		if err := c.Create(ctx, newQueueCommand(queue, action), o.dryRun.CreateOptions()...); err != nil {
			return o.explainForbidden(queue, err)
		}
	}
	if o.wait.Wait && !o.dryRun.IsDryRun() {
		var err error
		reached := func(q *schedulingv1beta1.Queue) bool { return q.Status.State == aim }
		if queue, err = waitForQueue(ctx, o.f, c, &o.wait, queue, reached, stateText); err != nil {
			return err
		}
	}
	if o.target.old && !o.out.IsMachineReadable() {
		return nil
	}
	return cli.PrintSuccess(o.f, &o.out, queue, done+o.dryRun.MessageSuffix())
}

// explainForbidden rewords the error about a forbidden Command to say that the user may not open or close the queue.
func (o *operateOptions) explainForbidden(queue *schedulingv1beta1.Queue, err error) error {
	if !apierrors.IsForbidden(err) || cli.RejectingWebhook(err) != "" {
		return err
	}
	return &usererror.Error{What: fmt.Sprintf("forbidden: you are not allowed to %s queue %q (403)", o.action, queue.Name), Err: err,
		Hint: fmt.Sprintf("ask an administrator for permission to create commands.bus.volcano.sh in namespace %q", commandNamespace)}
}

// newQueueCommand returns a Command in Volcano's format, in which the queue is both the owner and the target.
func newQueueCommand(queue *schedulingv1beta1.Queue, action busv1alpha1.Action) *busv1alpha1.Command {
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
