package wait

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/usererror"
)

// awaitOptions holds the inputs of `vcctl job wait`.
type awaitOptions struct {
	f    *cli.Factory
	out  cli.Output
	sel  cli.Selection
	wait cli.Wait
	aim  string
}

// aims lists the values of --for.
var aims = []string{"running", "done", "succeeded", "suspended", "deleted", "jsonpath="}

func newWait(f *cli.Factory, run func(context.Context, *awaitOptions) error) *cobra.Command {
	o := &awaitOptions{f: f}
	cmd := &cobra.Command{
		Use:   "wait NAME...",
		Short: "Wait for jobs to run, to end, or to be deleted",
		Long: cli.FormatHelp(`
			Wait until all the jobs meet a condition:

			  running            they are running, or have run and completed
			  done               they have ended, successfully or not (the default)
			  succeeded          they have completed; the wait ends if a job cannot complete
			  suspended          their pods are stopped, and the jobs can be resumed
			  deleted            the objects are gone
			  jsonpath={…}=TEXT  a field of each job has this value

			The exit code is 0 if all jobs met the condition, 1 if a job or a task of an array
			failed or ended in another way, 8 if --timeout expired first, and 3 if the API server
			did not respond for 5 minutes; shorter outages are tolerated. While a job is pending,
			the reason is printed on standard error when it becomes known and when it changes.`),
		Example: f.FormatExamples(`
			# Until the job ends; the exit code shows the outcome
			vcctl job wait train

			# Until it runs, for at most ten minutes
			vcctl job wait train --for=running --timeout 10m

			# All jobs with a label
			vcctl job wait -l team=nlp --for=succeeded

			# Until three pods run
			vcctl job wait train --for=jsonpath='{.status.running}'=3`),
		ValidArgsFunction: f.CompleteJobs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sel.AddArguments(f, args)
			if err := o.sel.RequireSelection(f, cmd, "specify the name of a job"); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.sel.AddFlags(cmd, "jobs")
	o.sel.AddAllNamespacesFlag(cmd, "With --all or -l: select jobs in all namespaces")
	cmd.Flags().StringVar(&o.aim, "for", "done", "Condition to wait for: running, done, succeeded, suspended, deleted, or jsonpath={PATH}=VALUE")
	cmd.Flags().DurationVar(&o.wait.Timeout, "timeout", 0, "Maximum time to wait, for example 10m (0 = no limit)")
	o.out.AddFormatFlags(cmd, false)
	_ = cmd.RegisterFlagCompletionFunc("for", cli.CompleteValues(aims...))
	return cmd
}

// aim is the condition to wait for.
type aim struct {
	name string
	// there reports whether the job meets the condition.
	there func(*batchv1alpha1.Job) bool
	// lost reports whether the job can no longer meet the condition.
	lost func(*batchv1alpha1.Job) bool
	// gone is true if the condition is met when the object is deleted.
	gone bool
	// ends is true if the condition is met when the job ends. In that case, an array with failed elements is reported
	// as an error.
	ends bool
	// result returns the end of the success message.
	result func(*batchv1alpha1.Job) string
}

// parseAim parses --for.
func parseAim(text string) (*aim, error) {
	inEnd := func(job *batchv1alpha1.Job) bool { return jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(job)) }
	is := func(phases ...batchv1alpha1.JobPhase) func(*batchv1alpha1.Job) bool {
		return func(job *batchv1alpha1.Job) bool { return slices.Contains(phases, jobstatus.PhaseOrPending(job)) }
	}
	phase := func(job *batchv1alpha1.Job) string { return strings.ToLower(string(jobstatus.PhaseOrPending(job))) }
	switch word := strings.ToLower(text); word {
	case "running":
		return &aim{name: word, there: is(batchv1alpha1.Running, batchv1alpha1.Completing, batchv1alpha1.Completed), lost: inEnd, result: phase}, nil
	case "done", "ended":
		return &aim{name: "done", ends: true, there: is(batchv1alpha1.Completed), lost: inEnd, result: phase}, nil
	case "succeeded", "completed":
		return &aim{name: "succeeded", ends: true, there: is(batchv1alpha1.Completed), result: phase,
			lost: func(job *batchv1alpha1.Job) bool {
				return inEnd(job) || jobstatus.PhaseOrPending(job) == batchv1alpha1.Aborted
			}}, nil
	case "suspended":
		return &aim{name: word, there: is(batchv1alpha1.Aborted), lost: inEnd, result: func(*batchv1alpha1.Job) string { return "suspended" }}, nil
	case "deleted", "delete":
		never := func(*batchv1alpha1.Job) bool { return false }
		return &aim{name: "deleted", gone: true, there: never, lost: never, result: func(*batchv1alpha1.Job) string { return "deleted" }}, nil
	}
	if path, found := strings.CutPrefix(text, "jsonpath="); found {
		return parsePathAim(path)
	}
	return nil, cli.UnknownConditionError(text, aims)
}

// parsePathAim parses {PATH}=VALUE, or {PATH} alone for any value.
func parsePathAim(text string) (*aim, error) {
	has, err := cli.ParsePathCondition(text)
	if err != nil {
		return nil, err
	}
	return &aim{name: text, there: func(job *batchv1alpha1.Job) bool { return has(job) }, result: func(*batchv1alpha1.Job) string { return "has " + text },
		lost: func(*batchv1alpha1.Job) bool { return false }}, nil
}

func waitForJobs(ctx context.Context, o *awaitOptions) error {
	if err := o.out.Validate(); err != nil {
		return err
	}
	goal, err := parseAim(o.aim)
	if err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	jobs, problem := lookup.ReadSelected(ctx, o.f, c, &o.sel)
	if goal.gone && problem != nil {
		problem = cli.IgnoreMissing(problem)
	}
	if o.sel.SelectsMany() && len(jobs) == 0 && problem == nil {
		if !goal.gone {
			return o.noMatchError()
		}
		fmt.Fprintln(o.f.Streams.Err, "No resources found.")
	}
	limited, cancel := o.wait.LimitContext(ctx)
	defer cancel()
	w := &waiter{o: o, goal: goal, pending: map[types.UID]*batchv1alpha1.Job{}}
	for _, job := range jobs {
		w.pending[job.UID] = job
	}
	busy := o.f.Streams.StartBusyLine("waiting for " + describeJobs(jobs))
	w.announcer = StartAnnouncer(limited, o.f, o.f.RetryingClient(c), jobs...)
	err = w.waitForAll(limited, o.f.RetryingClient(c))
	w.announcer.Close()
	busy.RemoveLine()
	if limited.Err() != nil && ctx.Err() == nil {
		err = w.timeoutError(ctx, c)
	}
	return errors.Join(append([]error{problem, err}, w.problems...)...)
}

// noMatchError returns the error for a wait that matches no job. This is an error because a script must not mistake it
// for the end of the jobs.
func (o *awaitOptions) noMatchError() error {
	hint := o.f.CommandText("job list") + " shows the existing jobs"
	if o.sel.Selector == "" {
		return usererror.Errorf(hint, "no job to wait for")
	}
	return usererror.Errorf(hint, "no job matches the label selector %q", o.sel.Selector)
}

func describeJobs(jobs []*batchv1alpha1.Job) string {
	if len(jobs) == 1 {
		return "job " + jobs[0].Name
	}
	return textformat.CountWithNoun(len(jobs), "job")
}

// waiter waits for any number of jobs with a single watch.
type waiter struct {
	o        *awaitOptions
	goal     *aim
	pending  map[types.UID]*batchv1alpha1.Job
	problems []error
	// announcer prints why the jobs are waiting.
	announcer *Announcer
}

// watchOptions returns the list options that select a single job, a namespace, or all namespaces.
func (w *waiter) watchOptions() []client.ListOption {
	var options []client.ListOption
	namespaces := map[string]bool{}
	for _, job := range w.pending {
		namespaces[job.Namespace] = true
		if len(w.pending) == 1 {
			options = append(options, cli.MatchingName(job.Name))
		}
	}
	if len(namespaces) == 1 {
		for namespace := range namespaces {
			options = append(options, client.InNamespace(namespace))
		}
	}
	return options
}

func (w *waiter) waitForAll(ctx context.Context, c client.WithWatch) error {
	for len(w.pending) > 0 {
		scope := w.watchOptions()
		version, err := w.checkAllJobs(ctx, c, scope)
		if err != nil || len(w.pending) == 0 {
			return err
		}
		watcher, err := c.Watch(ctx, &batchv1alpha1.JobList{}, append(scope, cli.StartingAt(version))...)
		if err != nil {
			return err
		}
		err = w.followWatch(ctx, watcher)
		watcher.Stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// checkAllJobs lists the jobs and checks each of them. A job that is missing from the list no longer exists.
func (w *waiter) checkAllJobs(ctx context.Context, c client.Client, scope []client.ListOption) (version string, err error) {
	there := map[types.UID]bool{}
	page := &batchv1alpha1.JobList{}
	err = cli.ListPages(ctx, c, page, func() error {
		for i := range page.Items {
			there[page.Items[i].UID] = true
			if err := w.checkJobState(page.Items[i].DeepCopy()); err != nil {
				return err
			}
		}
		return nil
	}, scope...)
	if err != nil {
		return "", err
	}
	for _, uid := range w.sortedUIDs() {
		if !there[uid] {
			if err := w.handleDeleted(w.pending[uid]); err != nil {
				return "", err
			}
		}
	}
	return page.ResourceVersion, nil
}

// sortedUIDs returns the UIDs sorted by job name, so that the output is deterministic.
func (w *waiter) sortedUIDs() []types.UID {
	var uids []types.UID
	for uid := range w.pending {
		uids = append(uids, uid)
	}
	slices.SortFunc(uids, func(a, b types.UID) int { return strings.Compare(lookup.Key(w.pending[a]), lookup.Key(w.pending[b])) })
	return uids
}

func (w *waiter) followWatch(ctx context.Context, watcher watch.Interface) error {
	for len(w.pending) > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, open := <-watcher.ResultChan():
			job, ok := event.Object.(*batchv1alpha1.Job)
			if !open || !ok {
				return nil
			}
			if w.pending[job.UID] == nil {
				continue
			}
			news := w.checkJobState
			if event.Type == watch.Deleted {
				news = w.handleDeleted
			}
			if err := news(job); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkJobState records the state of a job that the wait includes. It ends the wait for the job if the job meets the
// condition or can no longer meet it.
func (w *waiter) checkJobState(job *batchv1alpha1.Job) error {
	if w.pending[job.UID] == nil {
		return nil
	}
	w.pending[job.UID] = job
	w.announcer.RecordJob(job)
	switch {
	case w.goal.ends && HasFailedElements(job):
		delete(w.pending, job.UID)
		w.problems = append(w.problems, FailedElementsError(w.o.f, job))
	case w.goal.there(job):
		return w.finishJob(job)
	case w.goal.lost(job):
		delete(w.pending, job.UID)
		failed := usererror.Errorf(w.o.f.CommandText("job view "+job.Name), "job %q ended as %s", job.Name, jobstatus.PhaseOrPending(job))
		if !jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(job)) {
			failed.What = fmt.Sprintf("job %q is %s", job.Name, jobstatus.PhaseOrPending(job))
		}
		if text := jobstatus.ExplainJob(job, nil).CodeAndMessage(); text != "" {
			failed.What += ": " + text
		}
		w.problems = append(w.problems, failed)
	}
	return nil
}

func (w *waiter) handleDeleted(job *batchv1alpha1.Job) error {
	if w.goal.gone {
		return w.finishJob(job)
	}
	delete(w.pending, job.UID)
	w.problems = append(w.problems, w.o.f.DeletedError("job", "job", job.Name))
	return nil
}

func (w *waiter) finishJob(job *batchv1alpha1.Job) error {
	delete(w.pending, job.UID)
	return cli.PrintSuccess(w.o.f, &w.o.out, job, w.goal.result(job))
}

// timeoutError returns an error that names the late jobs and, as far as vcctl can read it, the reason why they are
// waiting.
func (w *waiter) timeoutError(ctx context.Context, c client.Client) error {
	var late []error
	for _, uid := range w.sortedUIDs() {
		job := w.pending[uid]
		group, err := clusterops.PodGroupOfJob(ctx, c, job)
		if err != nil {
			group = nil
		}
		late = append(late, lateJobError(w.o.f, &w.o.wait, job, group))
	}
	return errors.Join(late...)
}

// lateJobError returns the error about a job that has not met the condition in time.
func lateJobError(f *cli.Factory, wait *cli.Wait, job *batchv1alpha1.Job, group *schedulingv1beta1.PodGroup) error {
	e := wait.TimeoutError(fmt.Sprintf("job %q", job.Name), string(jobstatus.PhaseOrPending(job)))
	if jobstatus.PhaseOrPending(job) == batchv1alpha1.Running {
		return e
	}
	if text := jobstatus.ExplainJob(job, group).CodeAndMessage(); text != "" {
		e.What += "; " + text
	}
	e.Hint += "; " + f.CommandText("job explain "+job.Name) + " shows why it is waiting"
	return e
}
