package lookup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// CompleteTasks completes the task names of the job on the command line.
func CompleteTasks(f *cli.Factory) cli.Completer {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		namespace, err := f.Namespace()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, err := f.Client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		job := &batchv1alpha1.Job{}
		if c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: cli.BareName(args[0], "jobs")}, job) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return TaskNames(job), cobra.ShellCompDirectiveNoFileComp
	}
}

// TaskNames returns the names of a job's tasks, in the order of the spec.
func TaskNames(job *batchv1alpha1.Job) []string {
	names := make([]string, len(job.Spec.Tasks))
	for i := range job.Spec.Tasks {
		names[i] = job.Spec.Tasks[i].Name
	}
	return names
}

// ExistingNamesHint returns a hint that lists the existing names and suggests a similar one.
func ExistingNamesHint(what, given string, names []string) string {
	hint := what + ": " + strings.Join(names, ", ")
	if near := cli.FindNearest(given, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return hint
}

// CheckTask returns an error if the job has no task with this name and no matching pod TASK-INDEX.
func CheckTask(job *batchv1alpha1.Job, task string) error {
	names := TaskNames(job)
	if slices.ContainsFunc(names, func(name string) bool { return task == name || IsPodOfTask(task, name) }) {
		return nil
	}
	return usererror.Errorf(ExistingNamesHint("tasks", task, names), "job %q has no task %q", job.Name, task)
}

// IsPodOfTask reports whether short has the form TASK-INDEX and TASK is the name of the task.
func IsPodOfTask(short, task string) bool {
	index, found := strings.CutPrefix(short, task+"-")
	return found && index != "" && strings.Trim(index, "0123456789") == ""
}
