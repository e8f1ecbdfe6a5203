package jobflow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/wait"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// waitOptions holds the inputs of `vcctl jobflow wait`.
type waitOptions struct {
	f    *cli.Factory
	out  cli.Output
	sel  cli.Selection
	wait cli.Wait
	aim  string
}

// aims lists the values of --for.
var aims = []string{"running", "done", "succeeded", "deleted", "jsonpath="}

func newWait(f *cli.Factory, run func(context.Context, *waitOptions) error) *cobra.Command {
	o := &waitOptions{f: f}
	cmd := &cobra.Command{
		Use:   "wait NAME...",
		Short: "Wait for job flows to run, to end, or to be deleted",
		Long: cli.FormatHelp(`
			Wait until all the job flows meet a condition:

			  running            a step has started running, or all steps have completed
			  done               they have ended, successfully or not (the default)
			  succeeded          they have completed; a failed flow ends the wait
			  deleted            the objects are gone
			  jsonpath={…}=TEXT  a field of each flow has this value

			The exit code is 0 if all flows met the condition, 1 if a flow failed, 8 if
			--timeout expired first, and 3 if the API server did not respond for 5 minutes;
			shorter outages are tolerated. While a step is waiting, the reason (why its job
			is waiting, or which job template is missing) is printed on standard error when
			it becomes known and when it changes.`),
		Example: f.FormatExamples(`
			# Until the flow ends; the exit code shows the outcome
			vcctl jobflow wait night

			# For at most one hour
			vcctl jobflow wait night --timeout 1h

			# All flows with a label, until their first steps run
			vcctl jobflow wait -l team=nlp --for=running`),
		ValidArgsFunction: completeFlows(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sel.AddArguments(f, args)
			if err := o.sel.RequireSelection(f, cmd, "specify the name of a job flow"); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.sel.AddFlags(cmd, "jobflows")
	o.sel.AddAllNamespacesFlag(cmd, "With --all or -l: select job flows in all namespaces")
	cmd.Flags().StringVar(&o.aim, "for", "done", "Condition to wait for: running, done, succeeded, deleted, or jsonpath={PATH}=VALUE")
	cmd.Flags().DurationVar(&o.wait.Timeout, "timeout", 0, "Maximum time to wait, for example 10m (0 = no limit)")
	o.out.AddFormatFlags(cmd, false)
	_ = cmd.RegisterFlagCompletionFunc("for", cli.CompleteValues(aims...))
	return cmd
}

// completeFlows completes the names of the job flows in the namespace.
func completeFlows(f *cli.Factory) cli.Completer {
	return f.CompleteKind(flowv1alpha1.GroupVersion.WithKind("JobFlow"), true)
}

// goal is the condition that a wait command waits for.
type goal struct {
	// isReached reports whether a flow meets the condition, and isLost whether the flow can no longer meet it.
	isReached, isLost func(jobFlow) bool
	// isGone is true if the condition is met when the object is deleted.
	isGone bool
	// result returns the end of the success message.
	result func(jobFlow) string
}

// newGoal parses --for.
func newGoal(text string) (*goal, error) {
	is := func(phases ...flowv1alpha1.Phase) func(jobFlow) bool {
		return func(flow jobFlow) bool {
			for _, phase := range phases {
				if phaseOf(flow) == phase {
					return true
				}
			}
			return false
		}
	}
	never := func(jobFlow) bool { return false }
	switch word := strings.ToLower(text); word {
	case "running":
		return &goal{isReached: is(flowv1alpha1.Running, flowv1alpha1.Succeed), isLost: is(flowv1alpha1.Failed), result: phaseText}, nil
	case "done", "ended", "succeeded", "completed":
		return &goal{isReached: is(flowv1alpha1.Succeed), isLost: is(flowv1alpha1.Failed), result: phaseText}, nil
	case "deleted", "delete":
		return &goal{isReached: never, isLost: never, isGone: true, result: func(jobFlow) string { return "deleted" }}, nil
	}
	path, isPath := strings.CutPrefix(text, "jsonpath=")
	if !isPath {
		return nil, cli.UnknownConditionError(text, aims)
	}
	has, err := cli.ParsePathCondition(path)
	if err != nil {
		return nil, err
	}
	return &goal{isReached: func(flow jobFlow) bool { return has(flow) }, isLost: never, result: func(jobFlow) string { return "has " + path }}, nil
}

// phaseText returns the last word of a success message, for a flow's phase.
func phaseText(flow jobFlow) string {
	if phaseOf(flow) == flowv1alpha1.Succeed {
		return "succeeded"
	}
	return strings.ToLower(string(phaseOf(flow)))
}

func waitForFlows(ctx context.Context, o *waitOptions) error {
	if err := o.out.Validate(); err != nil {
		return err
	}
	aim, err := newGoal(o.aim)
	if err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	found, problem := jobFlows().ReadSelected(ctx, o.f, c, &o.sel)
	if aim.isGone && problem != nil {
		problem = cli.IgnoreMissing(problem)
	}
	if o.sel.SelectsMany() && len(found) == 0 && problem == nil {
		if !aim.isGone {
			return usererror.Errorf(o.f.CommandText("jobflow list")+" shows the existing job flows", "no job flow to wait for")
		}
		fmt.Fprintln(o.f.Streams.Err, "No resources found.")
	}
	w := &waiter{f: o.f, out: &o.out, wait: &o.wait, goal: aim}
	return errors.Join(problem, w.waitForAll(ctx, c, found))
}

// waiter waits for flows and prints why their steps are waiting.
type waiter struct {
	f *cli.Factory
	// out formats the flows that met the condition. It is nil if the command has already printed the flows; in that
	// case, a line on the error stream names them.
	out  *cli.Output
	wait *cli.Wait
	goal *goal

	mu sync.Mutex // guards the output
}

// waitForAll waits for all flows concurrently.
func (w *waiter) waitForAll(ctx context.Context, c client.WithWatch, flows []jobFlow) error {
	limited, cancel := w.wait.LimitContext(ctx)
	defer cancel()
	c = w.f.RetryingClient(c)
	for _, stop := range w.announceReasons(limited, c, flows) {
		defer stop()
	}
	busy := w.f.Streams.StartBusyLine("waiting for " + describeFlows(flows))
	defer busy.RemoveLine()
	problems := make([]error, len(flows))
	var work sync.WaitGroup
	for i, flow := range flows {
		work.Go(func() { problems[i] = w.waitForOne(limited, ctx, c, flow) })
	}
	work.Wait()
	return errors.Join(problems...)
}

func describeFlows(found []jobFlow) string {
	if len(found) == 1 {
		return "job flow " + found[0].Name
	}
	return jobFlows().CountText(len(found))
}

// announceReasons starts to print, for each namespace, why the flows' jobs are waiting. It returns functions that stop
// the output.
func (w *waiter) announceReasons(ctx context.Context, c client.WithWatch, flows []jobFlow) (stops []func()) {
	uids := map[string]map[types.UID]bool{}
	for _, flow := range flows {
		if uids[flow.Namespace] == nil {
			uids[flow.Namespace] = map[types.UID]bool{}
		}
		uids[flow.Namespace][flow.UID] = true
	}
	for namespace, ours := range uids {
		stops = append(stops, wait.AnnounceOwned(ctx, w.f, c, namespace, func(made *batchv1alpha1.Job) bool {
			owner := metav1.GetControllerOfNoCopy(made)
			return owner != nil && ours[owner.UID]
		}))
	}
	return stops
}

// waitForOne waits for one flow, for at most --timeout.
func (w *waiter) waitForOne(limited, whole context.Context, c client.WithWatch, flow jobFlow) error {
	last, printed := flow, map[string]bool{}
	err := cli.FollowObject(limited, c, newFlowList, client.ObjectKeyFromObject(flow), flow.UID, func(now jobFlow) (bool, error) {
		last = now
		if w.goal.isReached(now) || w.goal.isLost(now) {
			return true, nil
		}
		return false, w.printMissing(limited, c, now, printed)
	})
	switch {
	case errors.Is(err, cli.ErrGone) && w.goal.isGone:
		return w.printReached(last)
	case errors.Is(err, cli.ErrGone):
		return w.f.DeletedError("job flow", "jobflow", flow.Name)
	case limited.Err() != nil && whole.Err() == nil:
		return w.timeoutError(last)
	case err != nil:
		return err
	case w.goal.isLost(last):
		return w.failureError(last)
	}
	return w.printReached(last)
}

func newFlowList() client.ObjectList { return &flowv1alpha1.JobFlowList{} }

func (w *waiter) printReached(flow jobFlow) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.out == nil {
		w.f.Notef("job flow %q %s", flow.Name, w.goal.result(flow))
		return nil
	}
	return cli.PrintSuccess(w.f, w.out, flow, w.goal.result(flow))
}

// failureError returns an error that names the failed steps of a flow.
func (w *waiter) failureError(flow jobFlow) error {
	e := usererror.Errorf(w.f.CommandText("jobflow view "+flow.Name), "job flow %q ended in phase %s", flow.Name, phaseOf(flow))
	steps := failedSteps(flow)
	if len(steps) > 0 {
		e.What += ": " + strings.Join(steps, ", ")
		e.Hint = fmt.Sprintf("%s shows why; %s runs the failed steps again", w.f.CommandText("job view "+flowv1alpha1.JobName(flow, steps[0])), w.f.CommandText("jobflow retry "+flow.Name))
	}
	return e
}

// timeoutError returns the error for a flow that did not meet the condition in time.
func (w *waiter) timeoutError(flow jobFlow) error {
	e := w.wait.TimeoutError(fmt.Sprintf("job flow %q", flow.Name), string(phaseOf(flow)))
	if now := currentStateText(flow); now != "-" {
		e.What += "; " + now
	}
	e.Hint += "; " + w.f.CommandText("jobflow view "+flow.Name) + " shows what each step is waiting for"
	return e
}

// printMissing prints a message, only once per step, for each startable step without a JobTemplate.
func (w *waiter) printMissing(ctx context.Context, c client.Client, flow jobFlow, printed map[string]bool) error {
	if len(startableSteps(flow)) == 0 {
		return nil
	}
	missing, err := missingTemplates(ctx, c, flow)
	if err != nil {
		return err
	}
	for _, step := range startableSteps(flow) {
		if missing[step] && !printed[step] {
			printed[step] = true
			w.f.Notef("job flow %q is waiting: step %s: %s", flow.Name, step, render.ReplaceProgramName(missingTemplateText(flow, step), w.f.Program))
		}
	}
	return nil
}
