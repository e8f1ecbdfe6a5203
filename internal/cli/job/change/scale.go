package change

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/usererror"
)

// scaleOptions holds the inputs of `vcctl job scale`.
type scaleOptions struct {
	f        *cli.Factory
	out      cli.Output
	dryRun   cli.DryRun
	name     string
	task     string
	replicas *int32
	minimum  *int32
	// current is the number of pods that the task is required to have before the change; nil permits any number.
	current *int32
}

func newScale(f *cli.Factory, run func(context.Context, *scaleOptions) error) *cobra.Command {
	o := &scaleOptions{f: f}
	var replicas, minimum, current int32
	cmd := &cobra.Command{
		Use:   "scale NAME --replicas N",
		Short: "Change the number of pods of a job",
		Long: cli.FormatHelp(`
			Change the number of pods of a task, and the minimum number of pods that the job
			needs. A running job gets additional pods, or loses the pods with the highest
			indices; the work of the stopped pods is lost.

			--min-available is the number of pods that the task needs to run; the minimum of
			the job changes by the same amount. Without --min-available, the minimum does not
			change, and you cannot scale below the minimum. You cannot scale a job that has
			ended. You cannot scale an array either, because the number of pods of each array
			task is fixed.`),
		Example: f.FormatExamples(`
			# A job with one task
			vcctl job scale train --replicas 8

			# The workers of a job with several tasks; four of them must run
			vcctl job scale train --task worker --replicas 6 --min-available 4

			# Only if it has three pods now
			vcctl job scale train --replicas 4 --current-replicas 3`),
		ValidArgsFunction: f.CompleteJobs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			for name, value := range map[string]**int32{"replicas": &o.replicas, "min-available": &o.minimum, "current-replicas": &o.current} {
				if cmd.Flags().Changed(name) {
					*value = map[string]*int32{"replicas": &replicas, "min-available": &minimum, "current-replicas": &current}[name]
				}
			}
			err := rejectNumberArgument(f, args)
			if err != nil {
				return err
			}
			if o.name, err = lookup.SingleName(f, cmd, args); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.Int32VarP(&replicas, "replicas", "r", 0, "Number of pods of the task")
	flags.StringVarP(&o.task, "task", "t", "", "Task to change (required if the job has several tasks)")
	flags.Int32Var(&minimum, "min-available", 0, "Minimum number of the task's pods that must run")
	flags.Int32Var(&current, "current-replicas", 0, "Scale only if the task currently has this number of pods")
	o.dryRun.AddFlag(cmd)
	o.out.AddFormatFlags(cmd, false)
	_ = cmd.RegisterFlagCompletionFunc("task", lookup.CompleteTasks(f))
	return cmd
}

// scaleTries is the maximum number of attempts if others modify the job at the same time.
const scaleTries = 5

func scaleJob(ctx context.Context, o *scaleOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	if o.replicas == nil && o.minimum == nil {
		return usererror.Errorf("for example --replicas 4", "nothing to change: specify --replicas or --min-available")
	}
	for try := 1; ; try++ {
		c, job, err := lookup.ReadSingle(ctx, o.f, o.name)
		if err != nil {
			return err
		}
		scaled, err := o.scaledCopy(job)
		if err != nil {
			return err
		}
		if err := o.f.ValidateUpdate(o.f.ValidationContext(ctx, false), job, scaled, o.dryRun.IsClient()); err != nil {
			return cli.AddHints(err, func(*usererror.Error) string { return "choose another number" })
		}
		if !o.dryRun.IsClient() {
			err = c.Patch(ctx, scaled, client.MergeFromWithOptions(job, client.MergeFromWithOptimisticLock{}), o.dryRun.PatchOptions()...)
		}
		if apierrors.IsConflict(err) && try < scaleTries {
			continue
		}
		if err != nil {
			return err
		}
		return cli.PrintSuccess(o.f, &o.out, scaled, "scaled"+o.dryRun.MessageSuffix())
	}
}

// scaledCopy returns the scaled job, or an error if the job cannot be scaled.
func (o *scaleOptions) scaledCopy(job *batchv1alpha1.Job) (*batchv1alpha1.Job, error) {
	if jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(job)) {
		return nil, usererror.Errorf(o.f.CommandText("job rerun "+job.Name)+" runs it again as a new job", "job %q is %s: its pods have ended", job.Name, jobstatus.PhaseOrPending(job))
	}
	if _, _, isArray := batchv1alpha1.ElementsOf(job); isArray {
		return nil, usererror.Errorf("submit a new array", "job %q is an array: the number of pods of each array task is fixed", job.Name)
	}
	at, err := o.findTask(job)
	if err != nil {
		return nil, err
	}
	scaled := job.DeepCopy()
	task := &scaled.Spec.Tasks[at]
	if o.current != nil && *o.current != task.Replicas {
		return nil, usererror.Errorf("remove --current-replicas to scale the task anyway", "task %q of job %q has %s, not %d", task.Name, job.Name, textformat.CountWithNoun(int(task.Replicas), "pod"), *o.current)
	}
	before := jobstatus.MinimumPodsOfTask(task)
	if o.replicas != nil {
		if err := o.setReplicas(scaled, task); err != nil {
			return nil, err
		}
	}
	if o.minimum != nil {
		if *o.minimum < 0 || *o.minimum > task.Replicas {
			return nil, usererror.Errorf(fmt.Sprintf("specify a number from 0 to %d", task.Replicas), "--min-available: %d is out of range for task %q, which has %s", *o.minimum, task.Name, textformat.CountWithNoun(int(task.Replicas), "pod"))
		}
		task.MinAvailable = o.minimum
		scaled.Spec.MinAvailable = max(scaled.Spec.MinAvailable+*o.minimum-before, 0)
	}
	return scaled, o.checkMinimums(scaled, task)
}

// setReplicas sets the number of pods and the number of partitions derived from it.
func (o *scaleOptions) setReplicas(job *batchv1alpha1.Job, task *batchv1alpha1.TaskSpec) error {
	if *o.replicas < 0 {
		return usererror.Errorf("for example --replicas 4", "--replicas: %d is less than 0", *o.replicas)
	}
	if p := task.PartitionPolicy; p != nil && p.PartitionSize > 0 {
		if *o.replicas%p.PartitionSize != 0 {
			return usererror.Errorf(fmt.Sprintf("specify a multiple of %d, for example %d", p.PartitionSize, (*o.replicas/p.PartitionSize+1)*p.PartitionSize),
				"--replicas: task %q of job %q has partitions of %s, but %d is not a multiple of the partition size", task.Name, job.Name, textformat.CountWithNoun(int(p.PartitionSize), "pod"), *o.replicas)
		}
		p.TotalPartitions = *o.replicas / p.PartitionSize
	}
	task.Replicas = *o.replicas
	return nil
}

// checkMinimums returns an error if the task or the job requires more pods than it would have after scaling.
func (o *scaleOptions) checkMinimums(job *batchv1alpha1.Job, task *batchv1alpha1.TaskSpec) error {
	total := int32(0)
	for i := range job.Spec.Tasks {
		total += job.Spec.Tasks[i].Replicas
	}
	hint := fmt.Sprintf("also lower the minimum with --min-available %d, or specify more pods", task.Replicas)
	switch {
	case jobstatus.MinimumPodsOfTask(task) > task.Replicas:
		return usererror.Errorf(hint, "task %q of job %q needs at least %s, but would have %d", task.Name, job.Name, textformat.CountWithNoun(int(jobstatus.MinimumPodsOfTask(task)), "pod"), task.Replicas)
	case job.Spec.MinAvailable > total:
		return usererror.Errorf(hint, "job %q needs at least %s, but would have %d", job.Name, textformat.CountWithNoun(int(job.Spec.MinAvailable), "pod"), total)
	}
	return nil
}

// findTask returns the index of the task to scale.
func (o *scaleOptions) findTask(job *batchv1alpha1.Job) (int, error) {
	if o.task == "" {
		if len(job.Spec.Tasks) == 1 {
			return 0, nil
		}
		return 0, usererror.Errorf("one of: "+strings.Join(lookup.TaskNames(job), ", "), "job %q has %d tasks: specify one with --task", job.Name, len(job.Spec.Tasks))
	}
	for i := range job.Spec.Tasks {
		if job.Spec.Tasks[i].Name == o.task {
			return i, nil
		}
	}
	return 0, usererror.Errorf(lookup.ExistingNamesHint("tasks", o.task, lookup.TaskNames(job)), "job %q has no task %q", job.Name, o.task)
}

// rejectNumberArgument returns an error with the correct command if the second argument is a number of pods, such as 3
// or worker=3.
func rejectNumberArgument(f *cli.Factory, args []string) error {
	if len(args) != 2 {
		return nil
	}
	task, number, isTask := strings.Cut(args[1], "=")
	flags := "--task " + task + " --replicas "
	if !isTask {
		number, flags = args[1], "--replicas "
	}
	if _, err := strconv.ParseUint(number, 10, 31); err != nil {
		return nil //nolint:nilerr // the argument is not a number of pods
	}
	return usererror.Errorf(fmt.Sprintf("%s job scale %s %s%s", f.Program, args[0], flags, number), "%q is not the name of a job; use a flag to specify the number of pods", args[1])
}
