// Package plan implements `vcctl plan`. It requests a simulation from the scheduler, which shows what would happen if
// the objects were submitted now.
package plan

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// options holds the inputs of `vcctl plan`.
type options struct {
	f       *cli.Factory
	out     cli.Output
	files   cli.Files
	queue   string
	set     []string
	timeout time.Duration
	fields  cli.FieldValidation
}

// New returns `vcctl plan`.
func New(f *cli.Factory) *cobra.Command { return newPlan(f, planObjects) }

func newPlan(f *cli.Factory, run func(context.Context, *options) error) *cobra.Command {
	o := &options{f: f}
	cmd := &cobra.Command{
		Use:   "plan -f FILE...",
		Short: "Simulate the submission of objects or a change to a queue",
		Long: cli.FormatHelp(`
			Simulate what would happen if jobs, pods and queues were submitted now: whether a
			job would start, on which nodes, and which pods would be evicted for it; or why it
			would wait, its estimated start, and what would help. Nothing is submitted: the
			scheduler itself runs the simulation on a copy of its current state.

			Files can contain any number of objects. Jobs, pod groups, pods and queues are
			planned together, as if submitted at the same time. A pod's annotation assigns the
			pod to a pod group in the files. For a job flow, the jobs of its first steps are
			planned; their templates can be in the files or in the cluster. With --queue-edit
			and --set, a change to a queue is simulated: which pods would be evicted
			immediately, and which jobs could start.

			The exit code is 0 if all objects would start, 8 if an object would wait, and 9 if
			an object can never start with its current request. You need permission to create
			plans in the namespace. Users who can create jobs there have this permission.`),
		Example: f.FormatExamples(`
			# Show whether and where a job would start now
			vcctl plan -f job.yaml

			# Plan a pod group with its pods, and the first steps of a job flow
			vcctl plan -f gang.yaml
			vcctl plan -f night.yaml

			# Submit a job only if it would start immediately
			vcctl plan -f job.yaml > /dev/null && vcctl job run -f job.yaml

			# Show what would start and what would be evicted if a queue got more resources
			vcctl plan --queue-edit research --set weight=4 --set capability.cpu=64

			# Print only the verdict, for a script
			vcctl plan -f job.yaml -o jsonpath='{.status.verdict}'`),
		Args: cli.NoFileArgs(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !o.files.HasSources() && o.queue == "":
				return cli.UsageError(f, cmd, "nothing to plan: specify a file with -f, or a queue with --queue-edit")
			case (o.queue == "") != (len(o.set) == 0):
				return cli.UsageError(f, cmd, "specify --queue-edit NAME and --set FIELD=VALUE together")
			}
			return run(cmd.Context(), o)
		},
	}
	o.files.AddFlags(f, cmd)
	cmd.Flags().StringVar(&o.queue, "queue-edit", "", "Simulate a change to this queue; --set specifies the change")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "Set a field of the queue, as FIELD=VALUE: weight, priority, parent, reclaimable, state, capability.RESOURCE, deserved.RESOURCE, guarantee.RESOURCE; an empty value removes the field; can be repeated")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 30*time.Second, "Maximum time to wait for the scheduler's answer (0 = no limit)")
	o.fields.AddFlag(cmd)
	cli.RequireAny(cmd, "the flag applies only to objects that are read from files", "validate", "filename", "kustomize")
	o.out.AddFormatFlags(cmd, false)
	_ = cmd.RegisterFlagCompletionFunc("queue-edit", f.CompleteQueues())
	_ = cmd.RegisterFlagCompletionFunc("set", completeSetting)
	return cmd
}

func planObjects(ctx context.Context, o *options) error {
	if err := errors.Join(o.out.Validate(), o.fields.Validate()); err != nil {
		return err
	}
	objects, err := o.objectsToPlan(ctx)
	if err != nil {
		return err
	}
	plans, err := o.sendPlans(ctx, objects)
	if err != nil {
		return err
	}
	if err := o.printPlans(plans, objects); err != nil {
		return err
	}
	return exitStatus(plans)
}

// exitStatus returns the exit status for the worst answer: 0, ExitPending or ExitNever.
func exitStatus(plans []*insightv1alpha1.Plan) error {
	code := cli.ExitOK
	for _, p := range plans {
		switch p.Status.Verdict {
		case insightv1alpha1.VerdictNever:
			code = cli.ExitNever
		case insightv1alpha1.VerdictWaits:
			code = max(code, cli.ExitPending)
		}
	}
	if code == cli.ExitOK {
		return nil
	}
	return cli.ExitStatus(code)
}

// objectsToPlan returns the objects to simulate: those in the files, and the edited queue.
func (o *options) objectsToPlan(ctx context.Context) ([]cli.FileObject, error) {
	var objects []cli.FileObject
	if o.files.HasSources() {
		read, err := o.files.ReadObjects(o.f)
		if err != nil {
			return nil, err
		}
		if err := cli.SetNamespaces(o.f, read, false); err != nil {
			return nil, err
		}
		var problems []error
		for _, object := range read {
			problems = append(problems, o.fields.CheckFields(o.f, object))
		}
		if err := errors.Join(problems...); err != nil {
			return nil, err
		}
		if objects, err = o.selectPlannable(ctx, read); err != nil {
			return nil, err
		}
	}
	if o.queue != "" {
		edited, err := o.editedQueue(ctx)
		if err != nil {
			return nil, err
		}
		objects = append(objects, *edited)
	}
	if err := o.rejectAllExisting(ctx, objects); err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		return nil, usererror.Errorf("plans support jobs (batch.volcano.sh/v1alpha1), job flows (flow.volcano.sh/v1alpha1), pod groups and queues (scheduling.volcano.sh/v1beta1), and pods",
			"nothing in %s can be planned", o.files.DescribeSources())
	}
	return objects, nil
}

// rejectAllExisting returns an error for each object that cannot be submitted because it already exists.
func (o *options) rejectAllExisting(ctx context.Context, objects []cli.FileObject) error {
	var problems []error
	for _, object := range objects {
		problems = append(problems, o.rejectExisting(ctx, object))
	}
	return errors.Join(problems...)
}

// sendPlans sends the scheduler one plan for each namespace with jobs or pods; each plan includes all queues.
func (o *options) sendPlans(ctx context.Context, objects []cli.FileObject) ([]*insightv1alpha1.Plan, error) {
	var namespaces []string
	for _, object := range objects {
		if !isKind(object, queueKind) && !slices.Contains(namespaces, object.Object.GetNamespace()) {
			namespaces = append(namespaces, object.Object.GetNamespace())
		}
	}
	if len(namespaces) == 0 {
		namespace, err := o.f.Namespace()
		if err != nil {
			return nil, err
		}
		namespaces = []string{namespace}
	}
	var plans []*insightv1alpha1.Plan
	for _, namespace := range namespaces {
		var part []runtime.RawExtension
		for _, object := range objects {
			if !isKind(object, queueKind) && object.Object.GetNamespace() != namespace {
				continue
			}
			raw, err := object.Object.MarshalJSON()
			if err != nil {
				return nil, cli.AddFileSource(err, object)
			}
			part = append(part, runtime.RawExtension{Raw: raw})
		}
		p, err := RequestPlan(ctx, o.f, namespace, part, o.timeout)
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// RequestPlan creates a plan that contains the objects, waits for the scheduler's answer and deletes the plan.
func RequestPlan(ctx context.Context, f *cli.Factory, namespace string, objects []runtime.RawExtension, timeout time.Duration) (*insightv1alpha1.Plan, error) {
	c, err := f.Client()
	if err != nil {
		return nil, err
	}
	p := &insightv1alpha1.Plan{Spec: insightv1alpha1.PlanSpec{Objects: objects}}
	p.Namespace, p.GenerateName = namespace, "plan-"
	if err := c.Create(ctx, p); err != nil {
		return nil, explainNotCreated(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeAwayTime)
		defer cancel()
		_ = c.Delete(ctx, p) // otherwise the scheduler deletes it later
	}()
	waiting, cancel := (&cli.Wait{Timeout: timeout}).LimitContext(ctx)
	defer cancel()
	busy := f.Streams.StartBusyLine("asking the scheduler")
	defer busy.RemoveLine()
	answered, err := waitForAnswer(waiting, c, p)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case waiting.Err() != nil:
		return nil, unansweredError(timeout)
	case err != nil:
		return nil, err
	case answered.Status.Problem != "":
		return nil, usererror.Errorf(cmp.Or(answered.Status.Hint, "the scheduler's log may contain more details"), "the scheduler could not evaluate the plan: %s", answered.Status.Problem)
	}
	return answered, nil
}

// takeAwayTime is the time limit for deleting an answered plan.
const takeAwayTime = 5 * time.Second

// waitForAnswer watches a plan until the scheduler has answered it.
func waitForAnswer(ctx context.Context, c client.WithWatch, p *insightv1alpha1.Plan) (*insightv1alpha1.Plan, error) {
	for {
		w, err := c.Watch(ctx, &insightv1alpha1.PlanList{}, client.InNamespace(p.Namespace), client.MatchingFields{"metadata.name": p.Name})
		if err != nil {
			return nil, err
		}
		for event := range w.ResultChan() {
			if now, ok := event.Object.(*insightv1alpha1.Plan); ok && now.UID == p.UID && now.Status.AnsweredAt != nil {
				w.Stop()
				return now, nil
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// noPlans is the hint for clusters whose scheduler does not support plans.
const noPlans = "Volcano's own scheduler does not support plans; `vcctl job run -f FILE --dry-run=server` checks only whether the objects would be admitted"

func unansweredError(timeout time.Duration) error {
	return usererror.Errorf("check that vc's scheduler is running; "+noPlans, "no scheduler responded to the plan within %s", timeout)
}

func explainNotCreated(err error) error {
	if isUnknownKind(err) {
		return &usererror.Error{What: "this cluster does not support plans (insight.vc-batch.dev/v1alpha1)", Hint: "if vc is installed on the cluster, run kubectl apply -f deploy/install.yaml; " + noPlans, Err: errors.Unwrap(err)}
	}
	return err
}
