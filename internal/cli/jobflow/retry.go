package jobflow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// retryOptions holds the inputs of `vcctl jobflow retry`.
type retryOptions struct {
	f      *cli.Factory
	out    cli.Output
	sel    cli.Selection
	dryRun cli.DryRun
	wait   cli.Wait
}

func newRetry(f *cli.Factory, run func(context.Context, *retryOptions) error) *cobra.Command {
	o := &retryOptions{f: f}
	cmd := &cobra.Command{
		Use:   "retry NAME...",
		Short: "Run failed steps of job flows again, then the steps after them",
		Long: cli.FormatHelp(`
			Run the failed steps of job flows again: steps whose jobs failed or were terminated.
			These jobs are deleted and re-created from the current job templates; dependent steps
			start when the retried steps have completed. Completed steps do not run again.

			The annotation ` + keys.RetryFailed + ` on the flow tells the controller to retry the steps.`),
		Example: f.FormatExamples(`
			# The failed steps of a flow
			vcctl jobflow retry night

			# After correcting the template of a step; wait until the flow ends
			vcctl jobflow retry night --wait`),
		ValidArgsFunction: completeFlows(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sel.AddArguments(f, args)
			if len(o.sel.Names) == 0 {
				return cli.UsageError(f, cmd, "specify the name of a job flow")
			}
			return run(cmd.Context(), o)
		},
	}
	o.sel.AddOldNameFlag(cmd, "jobflows")
	o.dryRun.AddFlag(cmd)
	o.wait.AddFlags(cmd, false, "Wait until the job flows have ended; exit with an error if a flow fails")
	o.out.AddFormatFlags(cmd, false)
	return cmd
}

func retryFlows(ctx context.Context, o *retryOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	found, problem := jobFlows().ReadSelected(ctx, o.f, c, &o.sel)
	problems := []error{problem}
	var retried []jobFlow
	for _, flow := range found {
		if err := o.retryFlow(ctx, c, flow); err != nil {
			problems = append(problems, err)
			continue
		}
		retried = append(retried, flow)
	}
	if o.wait.Wait && !o.dryRun.IsDryRun() {
		problems = append(problems, o.waitUntilEnd(ctx, c, retried))
	}
	return errors.Join(problems...)
}

// retryFlow requests a retry of the failed steps of a flow.
func (o *retryOptions) retryFlow(ctx context.Context, c client.Client, flow jobFlow) error {
	failed := failedSteps(flow)
	if len(failed) == 0 {
		return usererror.Errorf(o.f.CommandText("jobflow view "+flow.Name), "job flow %q is %s: no step has failed", flow.Name, phaseOf(flow))
	}
	if !o.dryRun.IsClient() {
		patch := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:%q}}}`, flow.UID, keys.RetryFailed, lastFailureTime(flow, o.f.Now()).UTC().Format(time.RFC3339))
		if err := c.Patch(ctx, flow, client.RawPatch(types.MergePatchType, patch), o.dryRun.PatchOptions()...); err != nil {
			return err
		}
	}
	return cli.PrintSuccess(o.f, &o.out, flow, "retried: "+strings.Join(failed, ", ")+o.dryRun.MessageSuffix())
}

// lastFailureTime returns the latest end time among the flow's failed steps, or now if none has an end time.
func lastFailureTime(flow jobFlow, now time.Time) time.Time {
	var last time.Time
	for _, name := range failedSteps(flow) {
		if s := stepJobStatus(flow, name); s != nil && s.EndTimestamp.After(last) {
			last = s.EndTimestamp.Time
		}
	}
	if last.IsZero() {
		return now
	}
	return last
}

// waitUntilEnd waits until the retried flows have ended. It ignores the old failure, which a flow's status shows until
// the controller has acted on the request.
func (o *retryOptions) waitUntilEnd(ctx context.Context, c client.WithWatch, retried []jobFlow) error {
	failed := map[string]time.Time{}
	for _, flow := range retried {
		failed[flow.Namespace+"/"+flow.Name] = lastFailureTime(flow, time.Time{})
	}
	end, err := newGoal("done")
	if err != nil {
		return err
	}
	isAsBefore := func(flow jobFlow) bool {
		return phaseOf(flow) == flowv1alpha1.Failed && !lastFailureTime(flow, time.Time{}).After(failed[flow.Namespace+"/"+flow.Name])
	}
	again := &goal{isReached: end.isReached, result: end.result, isLost: func(flow jobFlow) bool { return end.isLost(flow) && !isAsBefore(flow) }}
	return (&waiter{f: o.f, wait: &o.wait, goal: again}).waitForAll(ctx, c, retried)
}

// waitForCreated waits until newly created flows have ended.
func waitForCreated(ctx context.Context, f *cli.Factory, wait *cli.Wait, created []jobFlow) error {
	c, err := f.Client()
	if err != nil {
		return err
	}
	end, err := newGoal("done")
	if err != nil {
		return err
	}
	return (&waiter{f: f, wait: wait, goal: end}).waitForAll(ctx, c, created)
}
