package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/usererror"
)

// rerunOptions holds the inputs of `vcctl job rerun`: the old job's name and the options of the new job.
type rerunOptions struct {
	runOptions
	of string
}

func newRerun(f *cli.Factory, run func(context.Context, *rerunOptions) error) *cobra.Command {
	o := &rerunOptions{runOptions: runOptions{f: f}}
	cmd := &cobra.Command{
		Use:   "rerun NAME",
		Short: "Run a job again as a new job",
		Long: cli.FormatHelp(`
			Submit a new job with the spec of an existing job. The existing job can be waiting,
			running or finished; it is not changed. The new job is named NAME-2, NAME-3 and so
			on, unless --name is given.

			Labels and annotations are copied, but a hold, a begin time and dependencies are
			not, because they would delay the start of the new job. Volume claims that were
			created for the existing job are re-created empty. The annotation
			` + keys.RerunOf + ` of the new job contains the name of the existing one.`),
		Example: f.FormatExamples(`
			# Run a failed job again
			vcctl job rerun broken

			# In another queue and with another name; wait until it ends
			vcctl job rerun train --name train-large --queue research --wait

			# See the new job without running it
			vcctl job rerun train --dry-run=client -o yaml`),
		ValidArgsFunction: f.CompleteJobs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.of, err = lookup.SingleName(f, cmd, args); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.changes.name, "name", "", "Name of the new job (default: NAME-2, NAME-3, …)")
	flags.StringVarP(&o.changes.queue, "queue", "q", "", "Queue of the new job (default: the queue of the existing job)")
	flags.StringVar(&o.changes.priority, "priority-class", "", "Priority class of the new job (default: the class of the existing job)")
	flags.StringSliceVar(&o.changes.labels, "labels", nil, "Additional labels for the new job, KEY=VALUE,…")
	o.changes.start.addFlags(f, cmd)
	o.dryRun.AddFlag(cmd)
	o.wait.AddFlags(cmd, false, "Wait until the new job has ended; exit with an error if it fails")
	flags.BoolVar(&o.attach, "attach", false, "Print the logs of the pods until the job has ended; exit with the exit code of the first pod that failed")
	o.out.AddFormatFlags(cmd, false)
	_ = cmd.RegisterFlagCompletionFunc("name", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("queue", f.CompleteLeafQueues())
	_ = cmd.RegisterFlagCompletionFunc("priority-class", f.CompletePriorityClasses())
	return cmd
}

// rerunJob submits the new job.
func rerunJob(ctx context.Context, o *rerunOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate(), o.fields.Validate()); err != nil {
		return err
	}
	c, old, err := lookup.ReadSingle(ctx, o.f, o.of)
	if err != nil {
		return err
	}
	if old.Annotations[keys.Slurm] != "" {
		return usererror.Errorf("submit the script again; `vcctl slurm scontrol write batch_script "+old.Labels[keys.JobID]+"` saves it",
			"job %q was submitted by sbatch or srun: its script and environment cannot be copied, because they are deleted with the job", old.Name)
	}
	name := o.changes.name
	if name == "" {
		if name, err = unusedName(ctx, c, old); err != nil {
			return err
		}
	}
	again := clusterops.CopyForRerun(old, name)
	delete(again.Annotations, keys.User) // admission writes the author of the request
	if user := o.f.FindPermittedUser(ctx, old.Namespace, o.f.Streams.FindUserName()); user != "" {
		again.Annotations[keys.User] = user
	}
	object, err := toUnstructuredJob(again)
	if err != nil {
		return err
	}
	objects := []cli.FileObject{{Object: object, Flags: map[string]string{"metadata.name": "--name"}}}
	if err := o.changes.applyTo(objects, "job "+old.Name, o.f.Now()); err != nil {
		return err
	}
	objects[0].Flags["metadata.name"] = "--name"
	return o.submitObjects(ctx, objects)
}

// toUnstructuredJob converts a job to the form in which it is sent to the server, without a status.
func toUnstructuredJob(job *batchv1alpha1.Job) (*unstructured.Unstructured, error) {
	if err := cli.SetKind(job); err != nil {
		return nil, err
	}
	plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	if err != nil {
		return nil, err
	}
	delete(plain, "status")
	return &unstructured.Unstructured{Object: plain}, nil
}

// mostReruns is the maximum number of names that a rerun tries.
const mostReruns = 1000

// unusedName returns the first unused name for a rerun of the job.
func unusedName(ctx context.Context, c client.Client, job *batchv1alpha1.Job) (string, error) {
	for n := 2; n < mostReruns; n++ {
		name := clusterops.RerunName(job, n)
		err := c.Get(ctx, client.ObjectKey{Namespace: job.Namespace, Name: name}, &batchv1alpha1.Job{})
		if cli.IsMissing(err) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", usererror.Errorf("specify a name with --name", "%s", fmt.Sprintf("job %q has more than %d reruns", job.Name, mostReruns-2))
}
