package show

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/cli/job/wait"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
)

// explainOptions holds the inputs of `vcctl job explain`.
type explainOptions struct {
	f     *cli.Factory
	out   cli.Output
	sel   cli.Selection
	watch bool
}

func newExplain(f *cli.Factory, run func(context.Context, *explainOptions) error) *cobra.Command {
	o := &explainOptions{f: f}
	cmd := &cobra.Command{
		Use:     "explain NAME...",
		Aliases: []string{"why"},
		Short:   "Show why a job is waiting, when it may start, and what would help",
		Long: cli.FormatHelp(`
			Show why a job is waiting: the reason, the numbers behind it, the estimated start,
			and changes that would let the job start now, according to the scheduler's
			simulation. The same reason appears in the event and the condition
			of the job's pod group.

			The exit code is 8 while the job is waiting or suspended, and 0 if it is running
			or has ended. With --all, -A or -l, every matching waiting job is explained.
			If the scheduler provides no explanations (Volcano's own does not), conditions
			and events are shown instead, and the output says so.`),
		Example: f.FormatExamples(`
			# One job
			vcctl job explain train

			# Watch: print the explanation whenever it changes, until the job runs
			vcctl job explain train -w

			# All waiting jobs in all namespaces
			vcctl job explain -A

			# For a script: print only the reason code
			vcctl job explain train -o jsonpath='{.reason}'`),
		ValidArgsFunction: f.CompleteJobs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sel.AddArguments(f, args)
			o.sel.All = o.sel.All || o.sel.AllNamespaces
			if err := o.sel.RequireSelection(f, cmd, "specify the name of a job"); err != nil {
				return err
			}
			if o.watch && (len(o.sel.Names) != 1 || o.out.IsMachineReadable()) {
				return cli.UsageError(f, cmd, "--watch requires the name of exactly one job and the default output format")
			}
			return run(cmd.Context(), o)
		},
	}
	o.sel.AddFlags(cmd, "jobs")
	o.sel.AddAllNamespacesFlag(cmd, "Explain the waiting jobs in all namespaces")
	o.out.AddFormatFlags(cmd, false)
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "Print the explanation again whenever it changes, until the job runs")
	return cmd
}

func explainJobs(ctx context.Context, o *explainOptions) error {
	if err := o.out.Validate(); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	jobs, problem := lookup.ReadSelected(ctx, o.f, c, &o.sel)
	if o.watch && problem == nil {
		return o.followExplanation(ctx, c, jobs[0])
	}
	reports, err := o.readReports(ctx, c, jobs)
	if err != nil {
		return errors.Join(problem, err)
	}
	if err := o.printReports(reports); err != nil {
		return errors.Join(problem, err)
	}
	if problem == nil && slices.ContainsFunc(reports, (*jobstatus.Report).IsWaitingJob) {
		return cli.ExitStatus(cli.ExitPending)
	}
	return problem
}

// manyJobs is the minimum number of jobs for which the PodGroups are read with one list request instead of one by one.
const manyJobs = 10

// readReports reads the explanations of the jobs. With a selector or --all, it includes only waiting jobs.
func (o *explainOptions) readReports(ctx context.Context, c client.Client, jobs []*batchv1alpha1.Job) ([]*jobstatus.Report, error) {
	if o.sel.SelectsMany() {
		jobs = slices.DeleteFunc(jobs, func(job *batchv1alpha1.Job) bool {
			return !(&jobstatus.Report{Sheet: jobstatus.Sheet{Job: job}}).IsWaitingJob()
		})
	}
	if len(jobs) >= manyJobs {
		return o.readManyReports(ctx, c, jobs)
	}
	var reports []*jobstatus.Report
	for _, job := range jobs {
		a, err := readReport(ctx, c, job)
		if err != nil {
			return nil, err
		}
		reports = append(reports, a)
	}
	return reports, nil
}

// readManyReports reads the PodGroups of many jobs with one list request. It does not read pods.
func (o *explainOptions) readManyReports(ctx context.Context, c client.Client, jobs []*batchv1alpha1.Job) ([]*jobstatus.Report, error) {
	namespace := jobs[0].Namespace
	if o.sel.AllNamespaces {
		namespace = ""
	}
	groups, err := lookup.GroupsByOwner(ctx, c, namespace, (*schedulingv1beta1.PodGroup).DeepCopy)
	if cli.IgnoreForbidden(err) != nil {
		return nil, err
	}
	reports := make([]*jobstatus.Report, len(jobs))
	for i, job := range jobs {
		reports[i] = jobstatus.NewReport(&jobstatus.Sheet{Job: job, Group: groups[job.UID], Unreadable: err != nil})
	}
	return reports, nil
}

// readReport reads the explanation of a job. It reads the job's pods and events only if they can add to
// the explanation.
func readReport(ctx context.Context, c client.Client, job *batchv1alpha1.Job) (*jobstatus.Report, error) {
	group, err := clusterops.PodGroupOfJob(ctx, c, job)
	if cli.IgnoreForbidden(err) != nil {
		return nil, err
	}
	unreadable := err != nil
	if a, enough := jobstatus.NewReportWithoutPods(&jobstatus.Sheet{Job: job, Group: group, Unreadable: unreadable}); enough {
		return a, nil
	}
	s, err := readSheetWithGroup(ctx, c, job, group, true)
	if err != nil {
		return nil, err
	}
	s.Unreadable = unreadable
	return jobstatus.NewReport(&s.Sheet), nil
}

func (o *explainOptions) printReports(reports []*jobstatus.Report) error {
	if o.out.IsMachineReadable() {
		return o.printObjects(reports)
	}
	if len(reports) == 0 {
		if o.sel.SelectsMany() {
			fmt.Fprintln(o.f.Streams.Err, "No jobs are waiting.")
		}
		return nil
	}
	var text bytes.Buffer
	for i, a := range reports {
		if i > 0 {
			fmt.Fprintln(&text)
		}
		a.Write(&text, o.f.Program, render.Style{Enabled: o.f.Streams.IsColored()}, o.f.Now(), o.f.Streams.Width)
	}
	return o.f.Streams.ShowPaged(text.Bytes())
}

func (o *explainOptions) printObjects(reports []*jobstatus.Report) error {
	var objects []client.Object
	for _, a := range reports {
		if o.out.Format() == "name" {
			objects = append(objects, a.Job)
			continue
		}
		object, err := a.ToUnstructured()
		if err != nil {
			return err
		}
		objects = append(objects, object)
	}
	if len(objects) == 0 && !o.sel.SelectsMany() {
		return nil
	}
	return o.out.PrintObjects(o.f, objects, !o.sel.SelectsMany() && len(o.sel.Names) == 1)
}

// followExplanation prints the explanation whenever it changes, until the job starts or ends.
func (o *explainOptions) followExplanation(ctx context.Context, c client.WithWatch, job *batchv1alpha1.Job) error {
	c = o.f.RetryingClient(c)
	printed := ""
	for {
		now, watchers, err := watchJobAndGroup(ctx, o.f, c, job)
		if err != nil {
			return err
		}
		printed, err = o.printIfChanged(ctx, c, now, printed)
		if err == nil {
			err = waitForChange(ctx, watchers)
		}
		for _, w := range watchers {
			w.Stop()
		}
		if errors.Is(err, errOver) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// errOver stops a watch whose purpose has been achieved.
var errOver = errors.New("over")

// printIfChanged prints the explanation if it differs from printed, the text printed before. If the job is no longer
// waiting, it returns errOver.
func (o *explainOptions) printIfChanged(ctx context.Context, c client.Client, job *batchv1alpha1.Job, printed string) (string, error) {
	a, err := readReport(ctx, c, job)
	if err != nil {
		return printed, err
	}
	var text, timeless bytes.Buffer
	a.Write(&timeless, o.f.Program, render.Style{}, a.Since(), 0)
	if printed != timeless.String() {
		a.Write(&text, o.f.Program, render.Style{Enabled: o.f.Streams.IsColored()}, o.f.Now(), o.f.Streams.Width)
		if _, err := o.f.Streams.Out.Write(text.Bytes()); err != nil {
			return printed, err
		}
	}
	if !a.IsWaitingJob() {
		return printed, errOver
	}
	return timeless.String(), nil
}

// watchJobAndGroup reads a job and starts watches of the job and its PodGroup.
func watchJobAndGroup(ctx context.Context, f *cli.Factory, c client.WithWatch, job *batchv1alpha1.Job) (*batchv1alpha1.Job, []watch.Interface, error) {
	now, version, err := wait.ReadNamed(ctx, c, client.ObjectKeyFromObject(job), job.UID)
	if errors.Is(err, cli.ErrGone) {
		return nil, nil, f.DeletedError("job", "job", job.Name)
	}
	if err != nil {
		return nil, nil, err
	}
	group, groups := job.Name+"-"+string(job.UID), &schedulingv1beta1.PodGroupList{}
	if found, err := clusterops.PodGroupOfJob(ctx, c, now); err == nil && found != nil {
		group = found.Name
	}
	if err := c.List(ctx, groups, client.InNamespace(job.Namespace), cli.MatchingName(group)); err != nil {
		return nil, nil, err
	}
	onJob, err := c.Watch(ctx, &batchv1alpha1.JobList{}, client.InNamespace(job.Namespace), cli.MatchingName(job.Name), cli.StartingAt(version))
	if err != nil {
		return nil, nil, err
	}
	onGroup, err := c.Watch(ctx, groups, client.InNamespace(job.Namespace), cli.MatchingName(group), cli.StartingAt(groups.ResourceVersion))
	if err != nil {
		onJob.Stop()
		return nil, nil, err
	}
	return now, []watch.Interface{onJob, onGroup}, nil
}

// waitForChange waits until one of the watchers reports a change or ends.
func waitForChange(ctx context.Context, watchers []watch.Interface) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-watchers[0].ResultChan():
	case <-watchers[1].ResultChan():
	}
	return nil
}
