package change

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/cli/job/wait"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/usererror"
)

// commandOptions holds the inputs of the verbs that change a job: suspend, resume, hold and release.
type commandOptions struct {
	f       *cli.Factory
	out     cli.Output
	sel     cli.Selection
	confirm cli.Confirm
	dryRun  cli.DryRun
	wait    cli.Wait
	verb    verb
}

func newCommand(f *cli.Factory, run func(context.Context, *commandOptions) error, v verb) *cobra.Command {
	o := &commandOptions{f: f, verb: v}
	cmd := &cobra.Command{
		Use:               v.Name + " NAME...",
		Aliases:           v.aliases,
		Short:             v.help,
		Long:              cli.FormatHelp(v.long),
		Example:           f.FormatExamples(v.examples),
		ValidArgsFunction: f.CompleteJobs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sel.AddArguments(f, args)
			if err := o.sel.RequireSelection(f, cmd, "job name is mandatory to "+v.Name+" a particular job"); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.sel.AddFlags(cmd, "jobs")
	o.sel.AddAllNamespacesFlag(cmd, "With --all or -l: select jobs in all namespaces")
	o.confirm.AddFlag(cmd)
	o.dryRun.AddFlag(cmd)
	if v.Action != "" { // the other verbs take effect immediately
		o.wait.AddFlags(cmd, false, "Wait until the job is "+v.Done)
	}
	o.out.AddFormatFlags(cmd, false)
	return cmd
}

// issueVerb applies the verb to every selected job.
func issueVerb(ctx context.Context, o *commandOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	jobs, problem := lookup.ReadSelected(ctx, o.f, c, &o.sel)
	if o.sel.SelectsMany() {
		jobs = slices.DeleteFunc(jobs, func(job *batchv1alpha1.Job) bool {
			refused, already := o.verb.CheckApplicable(job)
			return refused != "" || already != ""
		})
		if len(jobs) == 0 && problem == nil {
			fmt.Fprintf(o.f.Streams.Err, "No job to %s.\n", o.verb.Name)
		}
	}
	if o.sel.SelectsMany() && len(jobs) > 0 && !o.dryRun.IsDryRun() {
		if err := o.confirm.AskUser(ctx, o.f, fmt.Sprintf("%s %s", o.verb.Name, textformat.CountWithNoun(len(jobs), "job")), describeNames(jobs, o.sel.AllNamespaces)); err != nil {
			return err
		}
	}
	problems := []error{problem}
	var told []*batchv1alpha1.Job
	stopped := false
	for _, job := range jobs {
		acted, err := o.applyToJob(ctx, c, job)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		told, stopped = append(told, job), stopped || acted
	}
	if o.dryRun.IsDryRun() {
		return errors.Join(problems...)
	}
	if o.verb.note != "" && stopped && !o.sel.UsesOldName() {
		fmt.Fprintln(o.f.Streams.Err, o.verb.note)
	}
	if o.wait.Wait {
		for _, job := range told {
			problems = append(problems, o.waitForVerb(ctx, c, job))
		}
	}
	return errors.Join(problems...)
}

// applyToJob applies the verb to a job unless there is nothing to do. It reports whether it applied the verb.
func (o *commandOptions) applyToJob(ctx context.Context, c client.Client, job *batchv1alpha1.Job) (acted bool, err error) {
	why, already, err := clusterops.CheckWithCommands(ctx, c, o.verb.Verb, job)
	if err != nil {
		return false, err
	}
	if why != "" {
		instead := "job view "
		if clusterops.IsSuspended(jobstatus.PhaseOrPending(job)) {
			instead = "job resume "
		}
		return false, usererror.Errorf(o.f.CommandText(instead+job.Name), "job %q is %s: %s", job.Name, jobstatus.PhaseOrPending(job), why)
	}
	if already != "" {
		return false, cli.PrintSuccess(o.f, &o.out, job, already)
	}
	if err := o.sendAction(ctx, c, job); err != nil {
		return false, err
	}
	if o.sel.UsesOldName() && !o.out.IsMachineReadable() {
		return true, nil
	}
	return true, cli.PrintSuccess(o.f, &o.out, job, o.verb.Done+o.dryRun.MessageSuffix())
}

// sendAction requests the verb's action by creating a Command or, for hold and release, by changing an annotation of
// the job.
func (o *commandOptions) sendAction(ctx context.Context, c client.Client, job *batchv1alpha1.Job) error {
	switch {
	case o.dryRun.IsClient():
		return nil
	case o.verb.Action != "":
		return c.Create(ctx, clusterops.JobCommand(job, o.verb.Action), o.dryRun.CreateOptions()...)
	case o.verb.Verb == clusterops.Release && job.Annotations[keys.Hold] == keys.HoldAdmin:
		return usererror.Errorf("ask an administrator to release it with `vcctl slurm scontrol release`", "job %q is held by an administrator", job.Name)
	}
	changed := job.DeepCopy()
	if err := c.Patch(ctx, changed, clusterops.HoldPatch(o.verb.Verb, job), o.dryRun.PatchOptions()...); err != nil {
		return err
	}
	*job = *changed // so that the job is printed in its new state
	return nil
}

func describeNames(jobs []*batchv1alpha1.Job, qualified bool) []string {
	all := make([]string, len(jobs))
	for i, job := range jobs {
		name := job.Name
		if qualified {
			name = job.Namespace + "/" + name
		}
		all[i] = fmt.Sprintf("%s (%s)", name, jobstatus.PhaseOrPending(job))
	}
	return all
}

// waitForVerb waits until the Command has taken effect on the job.
func (o *commandOptions) waitForVerb(ctx context.Context, c client.WithWatch, job *batchv1alpha1.Job) error {
	busy := o.f.Streams.StartBusyLine("waiting for job " + job.Name)
	defer busy.RemoveLine()
	phaseText := func(now *batchv1alpha1.Job) string { return string(jobstatus.PhaseOrPending(now)) }
	_, err := cli.WaitForObject(ctx, o.f, c, &o.wait, "job", wait.NewJobList, job, func(now *batchv1alpha1.Job) (bool, error) {
		phase := jobstatus.PhaseOrPending(now)
		busy.SetText("waiting for job %s: %s", job.Name, phase)
		if o.verb.HasTakenEffect(job, now) {
			return true, nil
		}
		if jobstatus.IsFinishedPhase(phase) {
			return false, usererror.Errorf(o.f.CommandText("job view "+job.Name), "job %q ended with state %s before it was %s", job.Name, phase, o.verb.Done)
		}
		return false, nil
	}, phaseText)
	return err
}
