package cronjob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// verbOptions holds the inputs of suspend, resume and trigger.
type verbOptions struct {
	f       *cli.Factory
	out     cli.Output
	sel     cli.Selection
	confirm cli.Confirm
	dryRun  cli.DryRun
	// verb and done are the names of the action in messages. suspend is the new value of spec.suspend.
	verb, done string
	suspend    bool
	// name is the name of the job that trigger creates; "" lets the server choose one.
	name string
}

func newSuspend(f *cli.Factory, run func(context.Context, *verbOptions) error) *cobra.Command {
	return newVerb(f, run, &verbOptions{f: f, verb: "suspend", done: "suspended", suspend: true}, &cobra.Command{
		Use:   "suspend NAME...",
		Short: "Suspend cron jobs until you resume them",
		Long: cli.FormatHelp(`
			Suspend cron jobs: they create no more jobs. Running jobs are not affected; stop them
			with 'vcctl job suspend' or 'vcctl job cancel'.`),
		Example: f.FormatExamples(`
			# One cron job
			vcctl cronjob suspend nightly

			# All with a label, without confirmation
			vcctl cronjob suspend -l team=nlp --yes`),
	})
}

func newResume(f *cli.Factory, run func(context.Context, *verbOptions) error) *cobra.Command {
	return newVerb(f, run, &verbOptions{f: f, verb: "resume", done: "resumed"}, &cobra.Command{
		Use:   "resume NAME...",
		Short: "Resume suspended cron jobs",
		Long: cli.FormatHelp(`
			Resume suspended cron jobs. If scheduled times were missed, one job is
			created for the latest missed time, unless startingDeadlineSeconds has passed.`),
		Example: f.FormatExamples(`
			# One cron job
			vcctl cronjob resume nightly

			# All in the namespace
			vcctl cronjob resume --all --yes`),
	})
}

func newTrigger(f *cli.Factory, run func(context.Context, *verbOptions) error) *cobra.Command {
	o := &verbOptions{f: f, verb: "trigger", done: "created"}
	cmd := newVerb(f, run, o, &cobra.Command{
		Use:     "trigger NAME...",
		Aliases: []string{"run"},
		Short:   "Create a job now, regardless of the schedule",
		Long: cli.FormatHelp(`
			Create a job now from the template of a cron job, even if the cron job is suspended.
			The job belongs to the cron job: it counts as active, the history limits apply to it,
			and it is deleted with the cron job. The schedule does not change.`),
		Example: f.FormatExamples(`
			# One job
			vcctl cronjob trigger nightly

			# Specify the name of the job and follow its logs
			vcctl cronjob trigger nightly --job-name nightly-again
			vcctl job logs nightly-again -f`),
	})
	cmd.Flags().StringVar(&o.name, "job-name", "", "Name of the job (default: the cron job's name and a random suffix)")
	return cmd
}

func newVerb(f *cli.Factory, run func(context.Context, *verbOptions) error, o *verbOptions, cmd *cobra.Command) *cobra.Command {
	cmd.ValidArgsFunction = f.CompleteKind(batchv1alpha1.GroupVersion.WithKind("CronJob"), true)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.sel.AddArguments(f, args)
		if err := o.sel.RequireSelection(f, cmd, "specify the name of a cron job"); err != nil {
			return err
		}
		if o.name != "" && len(o.sel.Names) != 1 {
			return cli.UsageError(f, cmd, "--job-name requires exactly one cron job")
		}
		return run(cmd.Context(), o)
	}
	o.sel.AddFlags(cmd, "cron jobs")
	o.sel.AddAllNamespacesFlag(cmd, "With --all or -l: select cron jobs in all namespaces")
	o.confirm.AddFlag(cmd)
	o.dryRun.AddFlag(cmd)
	o.out.AddFormatFlags(cmd, false)
	return cmd
}

// selectCronJobs returns the selected cron jobs. If they were selected by --all or labels, it returns only those for
// which keep returns true, and asks for confirmation if there are many.
func (o *verbOptions) selectCronJobs(ctx context.Context, c client.Client, keep func(cronJob) bool) ([]cronJob, error) {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return nil, err
	}
	crons, problem := cronJobs().ReadSelected(ctx, o.f, c, &o.sel)
	if !o.sel.SelectsMany() {
		return crons, problem
	}
	crons = slices.DeleteFunc(crons, func(one cronJob) bool { return !keep(one) })
	switch {
	case len(crons) == 0 && problem == nil:
		fmt.Fprintf(o.f.Streams.Err, "No cron jobs to %s.\n", o.verb)
	case len(crons) > 0 && !o.dryRun.IsDryRun():
		kind := cronJobs()
		problem = errors.Join(problem, o.confirm.AskUser(ctx, o.f, o.verb+" "+kind.CountText(len(crons)), kind.DescribeObjects(crons, o.sel.AllNamespaces)))
	}
	return crons, problem
}

// changeSuspension suspends or resumes cron jobs.
func changeSuspension(ctx context.Context, o *verbOptions) error {
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	crons, err := o.selectCronJobs(ctx, c, func(one cronJob) bool { return isSuspended(one) != o.suspend })
	if errors.Is(err, cli.Cancelled) || (o.sel.SelectsMany() && err != nil) {
		return err
	}
	patch, jsonErr := json.Marshal(map[string]any{"spec": map[string]any{"suspend": o.suspend}})
	if jsonErr != nil {
		return jsonErr
	}
	problems := []error{err}
	for _, cron := range crons {
		if isSuspended(cron) == o.suspend {
			problems = append(problems, cli.PrintSuccess(o.f, &o.out, cron, map[bool]string{true: "is already suspended", false: "is not suspended"}[o.suspend]))
			continue
		}
		if !o.dryRun.IsClient() {
			if err := c.Patch(ctx, cron, client.RawPatch(types.MergePatchType, patch), o.dryRun.PatchOptions()...); err != nil {
				problems = append(problems, err)
				continue
			}
		}
		problems = append(problems, cli.PrintSuccess(o.f, &o.out, cron, o.done+o.dryRun.MessageSuffix()))
	}
	return errors.Join(problems...)
}

// triggerCronJobs immediately creates a job from each selected cron job.
func triggerCronJobs(ctx context.Context, o *verbOptions) error {
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	crons, err := o.selectCronJobs(ctx, c, func(cronJob) bool { return true })
	if errors.Is(err, cli.Cancelled) || (o.sel.SelectsMany() && err != nil) {
		return err
	}
	problems, around := []error{err}, o.f.ValidationContext(ctx, !o.dryRun.IsClient())
	for _, cron := range crons {
		made := newTriggeredJob(cron, o.name)
		if err := o.f.ValidateCreate(around, made, o.dryRun.IsClient()); err != nil {
			problems = append(problems, o.addTemplateHint(cron, err))
			continue
		}
		if !o.dryRun.IsClient() {
			if err := c.Create(ctx, made, o.dryRun.CreateOptions()...); err != nil {
				problems = append(problems, explainNotCreated(made, err))
				continue
			}
		}
		problems = append(problems, o.printCreated(made))
	}
	return errors.Join(problems...)
}

// addTemplateHint adds a hint about where to fix an invalid job template.
func (o *verbOptions) addTemplateHint(cron cronJob, err error) error {
	return cli.AddHints(err, func(*usererror.Error) string {
		return fmt.Sprintf("the job template of cron job %q is invalid; correct it with kubectl edit cronjobs.batch.volcano.sh %s -n %s", cron.Name, cron.Name, cron.Namespace)
	})
}

// explainNotCreated adds a hint to the error about a job name that is already in use.
func explainNotCreated(made *batchv1alpha1.Job, err error) error {
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	e := usererror.Errorf("choose another --job-name, or omit it to get a generated name", "job %q already exists in namespace %q", made.Name, made.Namespace)
	e.Err = err
	return e
}

// printCreated prints the job that was created or, in a dry run, would be created.
func (o *verbOptions) printCreated(made *batchv1alpha1.Job) error {
	if o.out.IsMachineReadable() {
		object, err := cli.ToPlainObject(made)
		if err != nil {
			return err
		}
		return o.out.PrintObjects(o.f, []client.Object{object}, true)
	}
	if made.Name == "" {
		made.Name = made.GenerateName + "…"
	}
	return cli.PrintSuccess(o.f, &o.out, made, o.done+o.dryRun.MessageSuffix())
}

// byHand is a part of the names of jobs that trigger creates.
const byHand = "-now-"

// newTriggeredJob returns the job that trigger creates. If name is empty, the server generates a name.
func newTriggeredJob(cron cronJob, name string) *batchv1alpha1.Job {
	made := cron.JobOf()
	made.Name = name
	if name == "" {
		made.GenerateName = cron.Name + byHand
	}
	made.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cron, batchv1alpha1.GroupVersion.WithKind("CronJob"))}
	return made
}
