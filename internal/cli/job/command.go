package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
)

// commandOptions are the inputs of the verbs that issue a Command: suspend and resume.
type commandOptions struct {
	f       *cli.Factory
	out     cli.Output
	sel     cli.Selection
	confirm cli.Confirm
	dryRun  cli.DryRun
	wait    cli.Wait
	verb    verb
}

// verb is what a Command does to a job.
type verb struct {
	name   string
	action busv1alpha1.Action
	done   string
	// phases are those that the job has when the Command has taken effect.
	phases []batchv1alpha1.JobPhase
	// already is what is said, and all that is done, for a job in a phase where there is nothing to do.
	already func(batchv1alpha1.JobPhase) string
	// refuse says why a job in this phase cannot be acted on; "" when it can.
	refuse func(batchv1alpha1.JobPhase) string
	note   string
}

func newSuspend(f *cli.Factory, run func(context.Context, *commandOptions) error) *cobra.Command {
	return newCommand(f, run, verb{
		name: "suspend", action: busv1alpha1.AbortJobAction, done: "suspended",
		phases: []batchv1alpha1.JobPhase{batchv1alpha1.Aborted},
		refuse: func(phase batchv1alpha1.JobPhase) string {
			if finished(phase) {
				return "it has ended; there is nothing to suspend"
			}
			return ""
		},
		already: func(phase batchv1alpha1.JobPhase) string {
			if phase == batchv1alpha1.Aborted || phase == batchv1alpha1.Aborting {
				return "suspended already"
			}
			return ""
		},
		note: "pods are stopped; work since the last checkpoint is lost",
	}, cli.Text(`
		Suspend jobs: their pods are stopped, the job stays and can be resumed. This is
		no pause: what the pods did since their last checkpoint is lost.`), `
		# One job, or several
		vcctl job suspend train
		vcctl job suspend train eval

		# All jobs with a label, and wait until their pods are gone
		vcctl job suspend -l team=nlp --yes --wait`)
}

func newResume(f *cli.Factory, run func(context.Context, *commandOptions) error) *cobra.Command {
	return newCommand(f, run, verb{
		name: "resume", action: busv1alpha1.ResumeJobAction, done: "resumed",
		phases: []batchv1alpha1.JobPhase{batchv1alpha1.Pending, batchv1alpha1.Running, batchv1alpha1.Restarting, batchv1alpha1.Completing, batchv1alpha1.Completed},
		refuse: func(phase batchv1alpha1.JobPhase) string {
			if finished(phase) {
				return "it has ended; run it anew"
			}
			return ""
		},
		already: func(phase batchv1alpha1.JobPhase) string {
			if phase != batchv1alpha1.Aborted && phase != batchv1alpha1.Aborting {
				return "is not suspended"
			}
			return ""
		},
	}, cli.Text(`
		Resume suspended jobs: they go back to the queue and start again as soon as
		there is room for them.`), `
		# One job
		vcctl job resume train

		# All suspended jobs with a label
		vcctl job resume -l team=nlp --yes`)
}

func newCommand(f *cli.Factory, run func(context.Context, *commandOptions) error, v verb, long, examples string) *cobra.Command {
	o := &commandOptions{f: f, verb: v}
	cmd := &cobra.Command{
		Use:               v.name + " NAME...",
		Short:             map[string]string{"suspend": "Stop the pods of jobs, keep the jobs", "resume": "Start suspended jobs again"}[v.name],
		Long:              long,
		Example:           f.Examples(examples),
		ValidArgsFunction: f.CompleteJobs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sel.Complete(f, args)
			if err := needSelection(f, cmd, &o.sel, "job name is mandatory to "+v.name+" a particular job"); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.sel.AddFlags(cmd, "jobs")
	o.confirm.AddFlag(cmd)
	o.dryRun.AddFlag(cmd)
	o.wait.AddFlags(cmd, false, "Wait until the job is "+v.done)
	o.out.AddFormat(cmd, false)
	return cmd
}

// needSelection refuses a command that names nothing, or names and a selector.
func needSelection(f *cli.Factory, cmd *cobra.Command, sel *cli.Selection, old string) error {
	switch {
	case len(sel.Names) == 0 && !sel.Wide():
		return cli.Errorf(fmt.Sprintf("%s NAME, -l SELECTOR or --all; see '%s --help'", cli.Path(f, cmd), cli.Path(f, cmd)), "%s", old)
	case len(sel.Names) > 0 && sel.Wide():
		return cli.UsageError(f, cmd, "names together with --selector or --all: say one of them")
	}
	return nil
}

// issue creates a Command for every selected job.
func issue(ctx context.Context, o *commandOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	jobs, problem := selected(ctx, o.f, c, &o.sel)
	if o.sel.Wide() {
		jobs = slices.DeleteFunc(jobs, func(job *batchv1alpha1.Job) bool {
			return o.verb.refuse(phaseOf(job)) != "" || o.verb.already(phaseOf(job)) != ""
		})
		if len(jobs) == 0 && problem == nil {
			fmt.Fprintf(o.f.Streams.Err, "No job to %s.\n", o.verb.name)
		}
	}
	if o.sel.Wide() && len(jobs) > 0 && !o.dryRun.Any() {
		if err := o.confirm.Ask(o.f, fmt.Sprintf("%s %s", o.verb.name, countOf(len(jobs), "job")), names(jobs)); err != nil {
			return err
		}
	}
	problems := []error{problem}
	var issued []*batchv1alpha1.Job
	for _, job := range jobs {
		if err := o.one(ctx, c, job); err != nil {
			problems = append(problems, err)
			continue
		}
		issued = append(issued, job)
	}
	if o.verb.note != "" && len(issued) > 0 && !o.dryRun.Any() && !o.sel.Old() {
		fmt.Fprintln(o.f.Streams.Err, o.verb.note)
	}
	if o.wait.Wait && !o.dryRun.Any() {
		for _, job := range issued {
			problems = append(problems, waitForPhase(ctx, o.f, c, job, o.wait, o.verb.done, o.verb.phases...))
		}
	}
	return errors.Join(problems...)
}

func (o *commandOptions) one(ctx context.Context, c client.Client, job *batchv1alpha1.Job) error {
	if why := o.verb.refuse(phaseOf(job)); why != "" {
		return cli.Errorf(o.f.Typed("job view "+job.Name), "job %q is %s: %s", job.Name, phaseOf(job), why)
	}
	if already := o.verb.already(phaseOf(job)); already != "" {
		return cli.PrintName(o.f, &o.out, job, already)
	}
	if !o.dryRun.Client() {
		if err := c.Create(ctx, commandFor(job, o.verb.action), o.dryRun.CreateOptions()...); err != nil {
			return err
		}
	}
	if o.sel.Old() && !o.out.Machine() {
		return nil
	}
	return cli.PrintName(o.f, &o.out, job, o.verb.done+o.dryRun.Suffix())
}

// commandFor is the wire contract of Volcano: owned by and aimed at the job.
func commandFor(job *batchv1alpha1.Job, action busv1alpha1.Action) *busv1alpha1.Command {
	target := metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))
	return &busv1alpha1.Command{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    fmt.Sprintf("%s-%s-", job.Name, strings.ToLower(string(action))),
			Namespace:       job.Namespace,
			OwnerReferences: []metav1.OwnerReference{*target},
		},
		TargetObject: target,
		Action:       string(action),
	}
}

// selected reads the jobs that a command is about, and says which are missing.
func selected(ctx context.Context, f *cli.Factory, c client.Client, sel *cli.Selection) ([]*batchv1alpha1.Job, error) {
	namespace, err := f.Namespace()
	if err != nil {
		return nil, err
	}
	if !sel.Wide() {
		return namedJobs(ctx, f, c, namespace, sel.Names)
	}
	if sel.AllNamespaces {
		namespace = ""
	}
	options := []client.ListOption{client.InNamespace(namespace)}
	labels, err := sel.Labels()
	if err != nil {
		return nil, err
	}
	if labels != nil {
		options = append(options, labels)
	}
	var jobs []*batchv1alpha1.Job
	page := &batchv1alpha1.JobList{}
	err = cli.Pages(ctx, c, page, func() error {
		for i := range page.Items {
			jobs = append(jobs, page.Items[i].DeepCopy())
		}
		return nil
	}, options...)
	return jobs, err
}

// namedJobs reads jobs by name; it returns what it found beside the errors.
func namedJobs(ctx context.Context, f *cli.Factory, c client.Client, namespace string, names []string) ([]*batchv1alpha1.Job, error) {
	var jobs []*batchv1alpha1.Job
	var problems []error
	for _, name := range names {
		job, err := getJob(ctx, f, c, namespace, name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		jobs = append(jobs, job)
	}
	return jobs, errors.Join(problems...)
}

func names(jobs []*batchv1alpha1.Job) []string {
	all := make([]string, len(jobs))
	for i, job := range jobs {
		all[i] = fmt.Sprintf("%s (%s)", job.Name, phaseOf(job))
	}
	return all
}

func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
