package queue

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/check"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/submit"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// createOptions holds the inputs of `vcctl queue create`.
type createOptions struct {
	f      *cli.Factory
	out    cli.Output
	target target
	dryRun cli.DryRun
	wait   cli.Wait
	fields cli.FieldValidation
	// describe applies the flags to a new queue.
	describe func(*schedulingv1beta1.QueueSpec) error
}

func newCreate(f *cli.Factory, run func(context.Context, *createOptions) error) *cobra.Command {
	o := &createOptions{f: f}
	flags := &spec{}
	var state string
	cmd := &cobra.Command{
		Use:   "create NAME...",
		Short: "Create queues",
		Long: cli.FormatHelp(`
			Create queues. Resources are shared between queues by weight, or by their deserved
			amounts if the scheduler uses the capacity policy. A queue can use more than its
			share, up to its capability, while other queues do not need theirs. With -f,
			queues are created from files; flags set additional fields.`),
		Example: f.FormatExamples(`
			# A queue with three times the default weight
			vcctl queue create research --weight 3

			# A child queue that never uses more than 16 CPUs
			vcctl queue create small --parent research --capability cpu=16,memory=64Gi

			# Jobs of at most a day, by default an hour, on at most four nodes
			vcctl queue create short --max-run-time 24h --default-run-time 1h --max-nodes 4

			# Print the object without creating the queue
			vcctl queue create research --weight 3 --dry-run=client -o yaml

			# A hierarchy of queues from a file; wait until all are open
			vcctl queue create -f queues.yaml --wait`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.target.addArguments(f, cmd, args, "queue name must be specified"); err != nil {
				return err
			}
			if state != "" {
				f.Warnf("--state has no effect because a new queue is always open; to close the queue, use vcctl queue close %s", nameOrPlaceholder(o.target.names))
			}
			if _, err := flags.applyFlags(cmd, &schedulingv1beta1.QueueSpec{}); err != nil {
				return err
			}
			o.describe = func(q *schedulingv1beta1.QueueSpec) error {
				_, err := flags.applyFlags(cmd, q)
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.target.addName(cmd)
	o.target.files.AddFlags(f, cmd)
	flags.addFlags(f, cmd)
	cmd.Flags().StringVarP(&state, "state", "S", "", "State of the queue")
	cmd.Flags().Lookup("state").Hidden = true
	o.dryRun.AddFlag(cmd)
	o.wait.AddFlags(cmd, false, "Wait until the queue is open")
	o.fields.AddFlag(cmd)
	cli.RequireAny(cmd, "the flag applies only to objects that are read from files", "validate", "filename", "kustomize")
	o.out.AddFormatFlags(cmd, false)
	return cmd
}

// nameOrPlaceholder returns the first of the names, or a placeholder.
func nameOrPlaceholder(names []string) string {
	if len(names) == 0 {
		return "NAME"
	}
	return names[0]
}

func createQueues(ctx context.Context, o *createOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate(), o.fields.Validate()); err != nil {
		return err
	}
	wanted, err := o.readWanted()
	if err != nil {
		return err
	}
	around := o.f.ValidationContext(ctx, !o.dryRun.IsClient())
	var problems []error
	for _, one := range wanted {
		problems = append(problems, o.checkQueue(around, one))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	for _, one := range wanted {
		if err := o.createQueue(ctx, one.queue); err != nil {
			problems = append(problems, cli.AddFileSource(err, one.object))
		}
	}
	return errors.Join(problems...)
}

// readWanted returns the queues to create, which are specified by the names or the files.
func (o *createOptions) readWanted() ([]filedQueue, error) {
	var wanted []filedQueue
	for _, name := range o.target.names {
		wanted = append(wanted, filedQueue{queue: &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}}})
	}
	if o.target.files.HasSources() {
		var err error
		if wanted, err = readValidatedQueues(o.f, &o.target.files, &o.fields); err != nil {
			return nil, err
		}
	}
	for _, one := range wanted {
		if err := o.describe(&one.queue.Spec); err != nil {
			return nil, err
		}
	}
	return wanted, nil
}

// checkQueue returns the error with which admission would reject a queue. Because a queue and its parent can be created
// by the same command, queues that were checked earlier count as existing.
func (o *createOptions) checkQueue(around *check.Around, one filedQueue) error {
	queue := one.queue
	if there := existingQueue(around, queue.Name); there != nil {
		return checkFiledQueue(one, func() error { return o.existsError(there) })
	}
	err := checkFiledQueue(one, func() error {
		return addQueueHints(o.f.ValidateCreate(around, queue, o.dryRun.IsClient()), queue, around)
	})
	schedulingv1beta1.DefaultQueue(queue)
	if around.Queues != nil {
		beside := queue
		if err != nil { // avoid reporting this error for its siblings, too
			beside = submit.RemoveAmounts(queue)
		}
		around.Queues = schedulingv1beta1.NewQueueLookup(append(around.Queues.Queues(), beside)...)
	}
	return err
}

// checkFiledQueue calls judge and adds the queue's position in its file to the error.
func checkFiledQueue(one filedQueue, judge func() error) error {
	err := judge()
	if err == nil || one.object.Object == nil {
		return err
	}
	return cli.AddFileSource(err, one.object)
}

func (o *createOptions) createQueue(ctx context.Context, queue *schedulingv1beta1.Queue) error {
	if o.dryRun.IsClient() {
		return o.printQueue(queue)
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	if err := c.Create(ctx, queue, o.dryRun.CreateOptions()...); err != nil {
		return o.explainNotCreated(ctx, c, queue.Name, err)
	}
	if o.wait.Wait && !o.dryRun.IsDryRun() {
		isOpen := func(q *schedulingv1beta1.Queue) bool { return q.Status.State == schedulingv1beta1.QueueStateOpen }
		if queue, err = waitForQueue(ctx, o.f, c, &o.wait, queue, isOpen, unprocessedText); err != nil {
			return err
		}
	}
	if o.target.old && !o.out.IsMachineReadable() {
		return nil
	}
	return cli.PrintSuccess(o.f, &o.out, queue, "created"+o.dryRun.MessageSuffix())
}

// unprocessedText describes the state of a new queue that the controller has not opened yet.
func unprocessedText(q *schedulingv1beta1.Queue) string {
	if q.Status.State == "" {
		return "no controller has processed the queue; check that vcd is running"
	}
	return stateText(q)
}

// printQueue prints a queue without sending it.
func (o *createOptions) printQueue(queue *schedulingv1beta1.Queue) error {
	if o.target.old && !o.out.IsMachineReadable() {
		return nil
	}
	plain, err := cli.ToPlainObject(queue)
	if err != nil {
		return err
	}
	return cli.PrintSuccess(o.f, &o.out, plain, "created"+o.dryRun.MessageSuffix())
}

// existingQueue returns the existing queue with the name, or nil.
func existingQueue(around *check.Around, name string) *schedulingv1beta1.Queue {
	if around.Queues == nil {
		return nil
	}
	for _, q := range around.Queues.Queues() {
		if q.Name == name && q.UID != "" {
			return q
		}
	}
	return nil
}

// existsError returns the error for a queue that already exists.
func (o *createOptions) existsError(there *schedulingv1beta1.Queue) *usererror.Error {
	return usererror.Errorf("vcctl queue update "+there.Name+" changes it", "queue %q already exists (created %s ago, %s)", there.Name,
		render.FormatAgeSince(o.f.Now(), there.CreationTimestamp.Time), effectiveState(there))
}

func (o *createOptions) explainNotCreated(ctx context.Context, c client.Client, name string, err error) error {
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	queue, getErr := getQueue(ctx, o.f, c, name)
	if getErr != nil {
		return err
	}
	e := o.existsError(queue)
	e.Err = err
	return e
}
