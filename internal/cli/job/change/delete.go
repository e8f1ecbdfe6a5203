package change

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/cli/job/wait"
	"github.com/vc-batch/vc/internal/cli/submit"
)

// deleteOptions holds the inputs of `vcctl job delete`.
type deleteOptions struct {
	f         *cli.Factory
	out       cli.Output
	sel       cli.Selection
	confirm   cli.Confirm
	dryRun    cli.DryRun
	wait      cli.Wait
	files     cli.Files
	ignoreNot bool
}

func newDelete(f *cli.Factory, run func(context.Context, *deleteOptions) error) *cobra.Command {
	o := &deleteOptions{f: f}
	cmd := &cobra.Command{
		Use:     "delete NAME...",
		Aliases: []string{"rm"},
		Short:   "Delete jobs and their pods",
		Long: cli.FormatHelp(`
			Delete jobs together with their pods and logs. Deleting by label or with --all
			asks for confirmation. With -f, every object in the files is deleted, not only
			jobs; confirmation is required if one of the objects is a namespace, or a
			queue that still has jobs.`),
		Example: f.FormatExamples(`
			# Named jobs
			vcctl job delete train eval

			# The objects in a file
			vcctl job delete -f job.yaml

			# All jobs with a label, without confirmation
			vcctl job delete -l team=nlp --yes`),
		ValidArgsFunction: f.CompleteJobs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sel.AddArguments(f, args)
			if o.files.HasSources() {
				if len(o.sel.Names) > 0 || o.sel.SelectsMany() {
					return cli.UsageError(f, cmd, "files cannot be combined with names or a selector: remove one of them")
				}
				return run(cmd.Context(), o)
			}
			if err := o.sel.RequireSelection(f, cmd, "job name is mandatory to delete a particular job"); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.sel.AddFlags(cmd, "jobs")
	o.sel.AddAllNamespacesFlag(cmd, "With --all or -l: select jobs in all namespaces")
	o.confirm.AddFlag(cmd)
	o.dryRun.AddFlag(cmd)
	o.wait.AddFlags(cmd, true, "Wait until the jobs are deleted")
	o.files.AddFlags(f, cmd)
	o.out.AddFormatFlags(cmd, false)
	cmd.Flags().BoolVar(&o.ignoreNot, "ignore-not-found", false, "Do not fail if a job does not exist")
	return cmd
}

func deleteJobs(ctx context.Context, o *deleteOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	if o.files.HasSources() {
		return o.deleteFiles(ctx)
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	jobs, problem := lookup.ReadSelected(ctx, o.f, c, &o.sel)
	if o.ignoreNot {
		problem = cli.IgnoreMissing(problem)
	}
	if o.sel.SelectsMany() && len(jobs) > 0 && !o.dryRun.IsDryRun() {
		if err := o.confirm.AskUser(ctx, o.f, "delete "+textformat.CountWithNoun(len(jobs), "job"), describeNames(jobs, o.sel.AllNamespaces)); err != nil {
			return err
		}
	}
	if o.sel.SelectsMany() && len(jobs) == 0 && problem == nil {
		fmt.Fprintln(o.f.Streams.Err, "No resources found.")
	}
	problems := []error{problem}
	var deleted []*batchv1alpha1.Job
	for _, job := range jobs {
		if err := o.deleteJob(ctx, c, job); err != nil {
			problems = append(problems, err)
			continue
		}
		deleted = append(deleted, job)
	}
	if o.wait.Wait && !o.dryRun.IsDryRun() {
		for _, job := range deleted {
			problems = append(problems, o.waitForDeletion(ctx, c, job))
		}
	}
	return errors.Join(problems...)
}

func (o *deleteOptions) deleteJob(ctx context.Context, c client.Client, job *batchv1alpha1.Job) error {
	if !o.dryRun.IsClient() {
		options := append(o.dryRun.DeleteOptions(), client.PropagationPolicy(o.propagationPolicy()), client.Preconditions{UID: &job.UID})
		err := c.Delete(ctx, job, options...)
		if apierrors.IsNotFound(err) && o.ignoreNot {
			return nil
		}
		if err != nil {
			return err
		}
	}
	if o.sel.UsesOldName() && !o.out.IsMachineReadable() {
		verb := "delete"
		if o.f.OldProgram == "vcancel" {
			verb = "cancel"
		}
		_, err := fmt.Fprintf(o.f.Streams.Out, "%s job %s successfully%s\n", verb, job.Name, o.dryRun.MessageSuffix())
		return err
	}
	return cli.PrintSuccess(o.f, &o.out, job, "deleted"+o.dryRun.MessageSuffix())
}

// propagationPolicy returns the deletion propagation for the job. If the command waits, the job is deleted in the
// foreground, which means that it disappears only after its pods. The pods' names can then be used again.
func (o *deleteOptions) propagationPolicy() metav1.DeletionPropagation {
	if o.wait.Wait {
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

func (o *deleteOptions) waitForDeletion(ctx context.Context, c client.WithWatch, job *batchv1alpha1.Job) error {
	busy := o.f.Streams.StartBusyLine("waiting until job " + job.Name + " and its pods are deleted")
	defer busy.RemoveLine()
	return cli.WaitForDeletion(ctx, o.f, c, &o.wait, "job", wait.NewJobList, job)
}

// deleteFiles deletes all objects in the files.
func (o *deleteOptions) deleteFiles(ctx context.Context) error {
	objects, err := submit.ReadFiles(o.f, &o.files, !o.dryRun.IsClient())
	if err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	if !o.dryRun.IsDryRun() {
		if err := submit.ConfirmDeletion(ctx, o.f, c, &o.confirm, objects); err != nil {
			return err
		}
	}
	var problems []error
	for _, object := range slices.Backward(submit.SortByDependency(objects)) {
		if !o.dryRun.IsClient() {
			// The command does not wait for objects of other kinds. Foreground deletion would keep them until the
			// garbage collector runs, which would block a user who re-creates them from the files.
			how := metav1.DeletePropagationBackground
			if _, isJob, _ := lookup.ToTypedJob(object); isJob {
				how = o.propagationPolicy()
			}
			err := c.Delete(ctx, object.Object, append(o.dryRun.DeleteOptions(), client.PropagationPolicy(how))...)
			if apierrors.IsNotFound(err) && o.ignoreNot {
				continue
			}
			if err == nil {
				err = o.waitForFileJob(ctx, c, object)
			}
			if err != nil {
				problems = append(problems, cli.AddFileSource(err, object))
				continue
			}
		}
		if err := cli.PrintSuccess(o.f, &o.out, object.Object, "deleted"+o.dryRun.MessageSuffix()); err != nil {
			return err
		}
	}
	return errors.Join(problems...)
}

// waitForFileJob waits for the deletion of a job that a file specifies. It does not wait for objects of other kinds.
func (o *deleteOptions) waitForFileJob(ctx context.Context, c client.WithWatch, object cli.FileObject) error {
	job, isJob, err := lookup.ToTypedJob(object)
	mustWait := o.wait.Wait && !o.dryRun.IsDryRun()
	if err != nil || !isJob || !mustWait {
		return err
	}
	return o.waitForDeletion(ctx, c, job)
}
