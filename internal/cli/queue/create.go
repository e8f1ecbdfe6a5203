package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/render"
)

// spec is a queue as flags describe it.
type spec struct {
	weight                          int32
	parent                          string
	priority                        int32
	reclaimable                     bool
	capability, guarantee, deserved string
}

func (s *spec) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Int32VarP(&s.weight, "weight", "w", 1, "Share of the queue among its siblings")
	flags.StringVar(&s.parent, "parent", "", "Parent queue (default \"root\")")
	flags.Int32Var(&s.priority, "priority", 0, "Queues of higher priority come first")
	flags.BoolVar(&s.reclaimable, "reclaimable", true, "Whether others may take back what the queue holds over its share")
	flags.StringVar(&s.capability, "capability", "", "The most that the queue may hold: cpu=16,memory=64Gi")
	flags.StringVar(&s.guarantee, "guarantee", "", "What is kept for the queue: cpu=2,memory=8Gi")
	flags.StringVar(&s.deserved, "deserved", "", "What the queue deserves: cpu=8,memory=32Gi")
}

// maxWeight is the most that the API takes.
const maxWeight = 65535

// apply sets those fields whose flags were given.
func (s *spec) apply(cmd *cobra.Command, q *schedulingv1beta1.QueueSpec) (changed bool, err error) {
	given := func(name string) bool {
		isGiven := cmd.Flags().Lookup(name).Changed
		changed = changed || isGiven
		return isGiven
	}
	var problems []error
	if given("weight") {
		if q.Weight = s.weight; s.weight < 1 || s.weight > maxWeight {
			problems = append(problems, cli.Errorf("", "--weight: %d is not between 1 and %d", s.weight, maxWeight))
		}
	}
	if given("parent") {
		q.Parent = s.parent
	}
	if given("priority") {
		q.Priority = s.priority
	}
	if given("reclaimable") {
		q.Reclaimable = &s.reclaimable
	}
	if given("capability") {
		q.Capability, err = resourceList("--capability", s.capability)
		problems = append(problems, err)
	}
	if given("guarantee") {
		q.Guarantee.Resource, err = resourceList("--guarantee", s.guarantee)
		problems = append(problems, err)
	}
	if given("deserved") {
		q.Deserved, err = resourceList("--deserved", s.deserved)
		problems = append(problems, err)
	}
	return changed, errors.Join(problems...)
}

// createOptions are the inputs of `vcctl queue create`.
type createOptions struct {
	f      *cli.Factory
	out    cli.Output
	target target
	dryRun cli.DryRun
	queue  schedulingv1beta1.QueueSpec
}

func newCreate(f *cli.Factory, run func(context.Context, *createOptions) error) *cobra.Command {
	o := &createOptions{f: f}
	flags := &spec{}
	var state string
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a queue",
		Long: cli.Text(`
			Make a queue. Resources are shared between the queues by weight; a queue may use
			more while others do not need it, up to its capability.`),
		Example: f.Examples(`
			# A queue with three times the share of others
			vcctl queue create research --weight 3

			# One that never holds more than 16 cpus
			vcctl queue create small --capability cpu=16,memory=64Gi

			# Look at the object first
			vcctl queue create research --weight 3 --dry-run=client -o yaml`),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.target.complete(f, args)
			if len(o.target.names) == 0 {
				return cli.UsageError(f, cmd, "queue name must be specified")
			}
			if state != "" {
				f.Warnf("--state has no effect: a new queue is open; vcctl queue close %s closes it", o.target.names[0])
			}
			if _, err := flags.apply(cmd, &o.queue); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.target.addFlag(cmd)
	flags.addFlags(cmd)
	cmd.Flags().StringVarP(&state, "state", "S", "", "State of the queue")
	cmd.Flags().Lookup("state").Hidden = true
	_ = cmd.RegisterFlagCompletionFunc("parent", f.CompleteQueues())
	o.dryRun.AddFlag(cmd)
	o.out.AddFormat(cmd, false)
	return cmd
}

func create(ctx context.Context, o *createOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	var problems []error
	for _, name := range o.target.names {
		problems = append(problems, o.one(ctx, name))
	}
	return errors.Join(problems...)
}

func (o *createOptions) one(ctx context.Context, name string) error {
	queue := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: *o.queue.DeepCopy()}
	defaulted := queue.DeepCopy()
	schedulingv1beta1.DefaultQueue(defaulted)
	var problems []error
	for _, problem := range schedulingv1beta1.ValidateQueue(defaulted, nil) {
		problems = append(problems, cli.Errorf("", "%s", problem.Error()))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	queue = defaulted
	if !o.dryRun.Client() {
		c, err := o.f.Client()
		if err != nil {
			return err
		}
		if err := c.Create(ctx, queue, o.dryRun.CreateOptions()...); err != nil {
			return o.whyNot(ctx, c, name, err)
		}
	}
	if o.target.old && !o.out.Machine() {
		return nil
	}
	if o.dryRun.Client() {
		plain, err := cli.Untyped(queue)
		if err != nil {
			return err
		}
		return cli.PrintName(o.f, &o.out, plain, "created"+o.dryRun.Suffix())
	}
	return cli.PrintName(o.f, &o.out, queue, "created"+o.dryRun.Suffix())
}

func (o *createOptions) whyNot(ctx context.Context, c client.Client, name string, err error) error {
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	e := &cli.Error{Err: err, What: fmt.Sprintf("queue %q already exists", name), Hint: "vcctl queue update " + name + " changes it"}
	if queue, getErr := getQueue(ctx, o.f, c, name); getErr == nil {
		e.What += fmt.Sprintf(" (created %s ago, %s)", render.Age(o.f.Now(), queue.CreationTimestamp.Time), stateOf(queue))
	}
	return e
}
