package jobflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/stream"
	"github.com/vc-batch/vc/internal/usererror"
)

// logsOptions holds the inputs of `vcctl jobflow logs`.
type logsOptions struct {
	f     *cli.Factory
	print *stream.Logs
	name  string
	// steps holds the names of the steps to print; if empty, all steps are printed.
	steps []string
}

func newLogs(f *cli.Factory, run func(context.Context, *logsOptions) error) *cobra.Command {
	o := &logsOptions{f: f, print: stream.NewLogs(f)}
	cmd := &cobra.Command{
		Use:     "logs NAME [STEP...]",
		Aliases: []string{"log"},
		Short:   "Print the pod logs of a job flow in one stream",
		Long: cli.FormatHelp(`
			Print the pod logs of a flow, step by step, for all steps or only the named
			steps. Every line begins with the name of the step and the task and index of the
			pod. With -f, the stream follows all steps, including steps that start later,
			until the flow ends.`),
		Example: f.FormatExamples(`
			# All steps of a flow
			vcctl jobflow logs night

			# Follow until the flow ends
			vcctl jobflow logs night -f

			# Only the failed pods of one step
			vcctl jobflow logs night train --failed`),
		ValidArgsFunction: completeSteps(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.UsageError(f, cmd, "specify the name of a job flow")
			}
			o.name, o.steps = cli.BareName(args[0], "jobflows"), args[1:]
			if err := o.print.CheckFlags(cmd); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.print.AddFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("task", cobra.NoFileCompletions)
	return cmd
}

// completeSteps completes the name of a flow and, after it, the names of the flow's steps.
func completeSteps(f *cli.Factory) cli.Completer {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return completeFlows(f)(cmd, args, prefix)
		}
		flow, _, err := readFlow(cmd.Context(), f, cli.BareName(args[0], "jobflows"))
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := slices.DeleteFunc(allStepNames(flow), func(name string) bool { return slices.Contains(args[1:], name) })
		return cli.CompleteValues(names...)(cmd, args, prefix)
	}
}

// readFlow reads the named flow.
func readFlow(ctx context.Context, f *cli.Factory, name string) (jobFlow, client.WithWatch, error) {
	c, err := f.Client()
	if err != nil {
		return nil, nil, err
	}
	found, err := jobFlows().ReadSelected(ctx, f, c, &cli.Selection{Names: []string{name}})
	if err != nil {
		return nil, nil, err
	}
	return found[0], c, nil
}

func allStepNames(flow jobFlow) []string {
	names := make([]string, len(flow.Spec.Flows))
	for i := range flow.Spec.Flows {
		names[i] = flow.Spec.Flows[i].Name
	}
	return names
}

func printLogs(ctx context.Context, o *logsOptions) error {
	flow, c, err := readFlow(ctx, o.f, o.name)
	if err != nil {
		return err
	}
	var problems []error
	for _, step := range o.steps {
		problems = append(problems, checkStep(flow, step))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	return o.print.RedirectToFile(func() error {
		if o.print.IsFollowing() {
			return o.followLogs(ctx, o.f.RetryingClient(c), flow)
		}
		return o.printExisting(ctx, c, flow)
	})
}

// checkStep returns an error if the flow has no step with this name.
func checkStep(flow jobFlow, step string) error {
	names := allStepNames(flow)
	if slices.Contains(names, step) {
		return nil
	}
	hint := "steps: " + strings.Join(names, ", ")
	if near := cli.FindNearest(step, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return usererror.Errorf(hint, "job flow %q has no step %q", flow.Name, step)
}

// isStepSelected reports whether the log of a step is printed.
func (o *logsOptions) isStepSelected(step string) bool {
	return len(o.steps) == 0 || slices.Contains(o.steps, step)
}

// printExisting prints the existing logs of all steps that have begun.
func (o *logsOptions) printExisting(ctx context.Context, c client.WithWatch, flow jobFlow) error {
	var parts []stream.Part
	var notes []string
	for _, step := range newSteps(flow, nil) {
		if !o.isStepSelected(step.name) {
			continue
		}
		part, err := readPart(ctx, c, flow, step.name)
		switch {
		case err != nil:
			return err
		case part == nil && step.job == nil:
			notes = append(notes, "step "+step.name+" has not started")
		case part == nil:
			notes = append(notes, fmt.Sprintf("the job of step %s was deleted together with its logs", step.name))
		default:
			parts = append(parts, *part)
		}
	}
	if len(parts) == 0 {
		return usererror.Errorf(o.f.CommandText("jobflow view "+flow.Name)+" shows what the steps are waiting for; "+o.f.CommandText("jobflow logs "+flow.Name)+" -f waits",
			"job flow %q has no logs: %s", flow.Name, strings.Join(notes, ", "))
	}
	err := o.print.PrintParts(ctx, c, parts)
	for _, note := range notes {
		o.f.Notef("%s", note)
	}
	return err
}

// readPart reads the job of a step; it returns nil if there is no job.
func readPart(ctx context.Context, c client.Client, flow jobFlow, step string) (*stream.Part, error) {
	made := &batchv1alpha1.Job{}
	err := c.Get(ctx, client.ObjectKey{Namespace: flow.Namespace, Name: flowv1alpha1.JobName(flow, step)}, made)
	if cli.IsMissing(err) || (err == nil && !metav1.IsControlledBy(made, flow)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &stream.Part{Job: made, Label: step}, nil
}

// followLogs prints the logs of the steps, including steps that begin later, until the flow has ended.
func (o *logsOptions) followLogs(ctx context.Context, c client.WithWatch, flow jobFlow) error {
	parts := make(chan stream.Part)
	followed := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		followed <- o.print.FollowAll(ctx, c, parts)
		cancel()
	}()
	seen := map[types.UID]bool{}
	err := cli.FollowObject(ctx, c, newFlowList, client.ObjectKeyFromObject(flow), flow.UID, func(now jobFlow) (bool, error) {
		return o.haveStepsBegun(now), o.sendNewParts(ctx, c, now, seen, parts)
	})
	close(parts)
	if errors.Is(err, cli.ErrGone) {
		err = o.f.DeletedError("job flow", "jobflow", flow.Name)
	}
	return errors.Join(err, <-followed)
}

// haveStepsBegun reports whether all selected steps have begun or can no longer begin.
func (o *logsOptions) haveStepsBegun(flow jobFlow) bool {
	if phaseOf(flow) == flowv1alpha1.Succeed || phaseOf(flow) == flowv1alpha1.Failed {
		return true
	}
	for _, name := range allStepNames(flow) {
		if o.isStepSelected(name) && stepJobStatus(flow, name) == nil {
			return false
		}
	}
	return true
}

// sendNewParts sends the jobs of newly begun steps to the goroutine that prints logs.
func (o *logsOptions) sendNewParts(ctx context.Context, c client.Client, flow jobFlow, seen map[types.UID]bool, parts chan<- stream.Part) error {
	for _, name := range allStepNames(flow) {
		if !o.isStepSelected(name) || stepJobStatus(flow, name) == nil {
			continue
		}
		part, err := readPart(ctx, c, flow, name)
		if err != nil {
			return err
		}
		if part == nil || seen[part.Job.UID] {
			continue
		}
		seen[part.Job.UID] = true
		select {
		case parts <- *part:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
