package stream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/usererror"
)

// logsOptions holds the inputs of `vcctl job logs`.
type logsOptions struct {
	f          *cli.Factory
	sel        cli.Selection
	tasks      []string
	container  string
	follow     bool
	previous   bool
	failed     bool
	timestamps bool
	prefix     bool
	tail       int64
	since      time.Duration
	file       string
	most       int

	// job is the job whose logs are printed, once it has been read.
	job *batchv1alpha1.Job
	// of is put before each stream label to identify the job if the logs of multiple jobs are printed.
	of string
}

func newLogs(f *cli.Factory, run func(context.Context, *logsOptions) error) *cobra.Command {
	o := &logsOptions{f: f}
	cmd := &cobra.Command{
		Use:     "logs NAME...",
		Aliases: []string{"log"},
		Short:   "Print the pod logs of jobs in one stream",
		Long: cli.FormatHelp(`
			Print the pod logs of jobs. Every line begins with the task and index of its
			pod, preceded by the name of the job if there are several jobs. With -f, the
			stream follows all pods, including pods that start later, until the jobs end.`),
		Example: f.FormatExamples(`
			# All pods of a job
			vcctl job logs train

			# Follow the workers, starting with their last ten lines
			vcctl job logs train -t worker -f --tail 10

			# One pod, without the prefix
			vcctl job logs train -t master-0 --prefix=false

			# Write the logs of the failed pods to a file
			vcctl job logs train --failed -o failed.log

			# The logs from before the last restart of the containers
			vcctl job logs train --previous

			# Several jobs in one stream
			vcctl job logs -l team=nlp -f`),
		ValidArgsFunction: f.CompleteJobs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sel.AddArguments(f, args)
			if err := o.sel.RequireSelection(f, cmd, "specify the name of a job"); err != nil {
				return err
			}
			if err := o.checkFlags(cmd); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.addFlags(cmd)
	o.sel.AddFlags(cmd, "jobs")
	o.sel.AddAllNamespacesFlag(cmd, "With --all or -l: select jobs in all namespaces")
	_ = cmd.RegisterFlagCompletionFunc("task", lookup.CompleteTasks(f))
	return cmd
}

// checkFlags rejects invalid flag values and contradicting flags.
func (o *logsOptions) checkFlags(cmd *cobra.Command) error {
	if o.follow && o.previous {
		return cli.UsageError(o.f, cmd, "--follow and --previous cannot be combined: the previous containers have ended")
	}
	if slices.Contains([]string{"json", "yaml", "name", "wide"}, o.file) {
		return usererror.Errorf(fmt.Sprintf("to write to a file with this name, use -o ./%s", o.file), "--output (-o) %s: logs have no output format; -o is the file to write to", o.file)
	}
	if o.since < 0 || o.tail < -1 {
		return usererror.Errorf("for example --since 5m --tail 10; --tail -1 prints all lines", "--since and --tail must not be negative")
	}
	return nil
}

// addFlags adds the flags that select and format the output.
func (o *logsOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.tasks, "task", "t", nil, "Only pods of these tasks (worker), or these pods (worker-3)")
	flags.StringVarP(&o.container, "container", "c", "", "Only this container (default: all containers)")
	flags.BoolVarP(&o.follow, "follow", "f", false, "Follow the logs until the job ends, including logs of pods that start later")
	flags.BoolVarP(&o.previous, "previous", "p", false, "Print the logs from before the last restart of each container")
	flags.BoolVar(&o.failed, "failed", false, "Only pods that failed")
	flags.BoolVar(&o.failed, "only-failed", false, "The same as --failed")
	flags.Lookup("only-failed").Hidden = true
	flags.StringVarP(&o.file, "output", "o", "", "Write to this file instead of standard output")
	_ = cmd.MarkFlagFilename("output")
	flags.BoolVar(&o.timestamps, "timestamps", false, "Begin every line with a timestamp")
	flags.BoolVar(&o.prefix, "prefix", true, "Begin every line with the task and index of its pod")
	flags.Int64Var(&o.tail, "tail", -1, "Number of most recent lines to print for each container; -1 prints all")
	flags.DurationVar(&o.since, "since", 0, "Only lines newer than this, for example 5m")
	flags.IntVar(&o.most, "max-log-requests", 100, "Maximum number of containers to follow at the same time")
	cli.RequireAny(cmd, "the flag limits how many containers are followed at the same time", "max-log-requests", "follow")
}

func printLogs(ctx context.Context, o *logsOptions) error {
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	jobs, problem := lookup.ReadSelected(ctx, o.f, c, &o.sel)
	if len(jobs) == 0 {
		if problem == nil {
			fmt.Fprintln(o.f.Streams.Err, "No resources found.")
		}
		return problem
	}
	parts, err := o.optionsPerJob(ctx, c, jobs)
	if err != nil {
		return errors.Join(problem, err)
	}
	printLogs := func() error { return errors.Join(problem, streamLogs(ctx, parts, c)) }
	if o.file == "" {
		return printLogs()
	}
	return o.redirectToFile(printLogs)
}

// optionsPerJob returns the options for each job. With multiple jobs, a task needs to exist in only one of them.
func (o *logsOptions) optionsPerJob(ctx context.Context, c client.Client, jobs []*batchv1alpha1.Job) ([]*logsOptions, error) {
	var parts []*logsOptions
	var problems []error
	for _, job := range jobs {
		part := *o
		part.job = job
		if len(jobs) > 1 {
			part.of = job.Name + "/"
		}
		if o.sel.AllNamespaces {
			part.of = job.Namespace + "/" + job.Name + "/"
		}
		if err := errors.Join(part.checkTasks(), part.checkPods(ctx, c)); err != nil {
			problems = append(problems, err)
			continue
		}
		parts = append(parts, &part)
	}
	if len(parts) > 0 && o.sel.SelectsMany() {
		return parts, nil
	}
	return parts, errors.Join(problems...)
}

// redirectToFile redirects the output of printLogs to the file specified with --output, without colours.
func (o *logsOptions) redirectToFile(printLogs func() error) error {
	file, err := os.Create(o.file)
	if err != nil {
		return usererror.Errorf("-o is the file to write the logs to; its directory must exist", "--output: %v", err)
	}
	streams := *o.f.Streams
	defer func() { *o.f.Streams = streams }()
	o.f.Streams.Out, o.f.Streams.OutTTY, o.f.Streams.ColorMode = file, false, "never"
	if err := errors.Join(printLogs(), file.Close()); err != nil {
		return err
	}
	fmt.Fprintf(streams.Err, "written to %s\n", o.file)
	return nil
}

// checkTasks rejects tasks that the job does not have.
func (o *logsOptions) checkTasks() error {
	var problems []error
	for _, task := range o.tasks {
		problems = append(problems, lookup.CheckTask(o.job, task))
	}
	return errors.Join(problems...)
}

// checkPods rejects pods and containers that exist neither in the job's template nor among its pods. A pod may be
// missing in the template because the job was scaled down, and a container because an admission webhook added it.
func (o *logsOptions) checkPods(ctx context.Context, c client.Client) error {
	beyond := slices.DeleteFunc(slices.Clone(o.tasks), func(short string) bool { return !isBeyondReplicas(o.job, short) })
	unknown := o.container != "" && !slices.Contains(containersOf(o.job, nil), o.container)
	if len(beyond) == 0 && !unknown {
		return nil
	}
	pods, err := clusterops.PodsOfJob(ctx, c, o.job)
	if err != nil {
		return err
	}
	var problems []error
	for _, short := range beyond {
		if !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return jobstatus.ShortPod(o.job.Name, pod.Name) == short }) {
			problems = append(problems, usererror.Errorf(podNamesHint(o.job), "job %q has no pod %q", o.job.Name, short))
		}
	}
	if names := containersOf(o.job, pods); unknown && !slices.Contains(names, o.container) {
		problems = append(problems, usererror.Errorf(lookup.ExistingNamesHint("containers", o.container, names), "job %q has no container %q", o.job.Name, o.container))
	}
	return errors.Join(problems...)
}

// isBeyondReplicas reports whether short has the form TASK-INDEX with an index beyond the task's replicas.
func isBeyondReplicas(job *batchv1alpha1.Job, short string) bool {
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		if short == task.Name {
			return false
		}
		if lookup.IsPodOfTask(short, task.Name) {
			index, err := strconv.Atoi(strings.TrimPrefix(short, task.Name+"-"))
			return err != nil || index >= int(task.Replicas)
		}
	}
	return false
}

// podNamesHint lists the pods that the job's template defines, for a hint.
func podNamesHint(job *batchv1alpha1.Job) string {
	var names []string
	for i := range job.Spec.Tasks {
		switch task := &job.Spec.Tasks[i]; task.Replicas {
		case 0:
		case 1:
			names = append(names, task.Name+"-0")
		default:
			names = append(names, fmt.Sprintf("%s-0 to %s-%d", task.Name, task.Name, task.Replicas-1))
		}
	}
	return "pods: " + strings.Join(names, ", ")
}

// containersOf returns the distinct container names in a job's templates and pods.
func containersOf(job *batchv1alpha1.Job, pods []*corev1.Pod) []string {
	var names []string
	add := func(spec *corev1.PodSpec) {
		for _, container := range slices.Concat(spec.Containers, spec.InitContainers) {
			if !slices.Contains(names, container.Name) {
				names = append(names, container.Name)
			}
		}
	}
	for i := range job.Spec.Tasks {
		add(&job.Spec.Tasks[i].Template.Spec)
	}
	for _, pod := range pods {
		add(&pod.Spec)
	}
	return names
}

// matchesPod reports whether the flags select the pod.
func (o *logsOptions) matchesPod(pod *corev1.Pod) bool {
	if o.failed && pod.Status.Phase != corev1.PodFailed {
		return false
	}
	return len(o.tasks) == 0 || slices.Contains(o.tasks, jobstatus.TaskNameOf(pod)) || slices.Contains(o.tasks, jobstatus.ShortPod(o.job.Name, pod.Name))
}

// source is one run of a container, whose log is printed as one stream.
type source struct {
	pod       *corev1.Pod
	container string
	restarts  int32
	// label is the prefix of the stream's lines.
	label string
}

func (s source) sourceKey() string {
	return fmt.Sprintf("%s/%s/%d", s.pod.UID, s.container, s.restarts)
}

// hasStarted reports whether a container was started at least once.
func hasStarted(status *corev1.ContainerStatus) bool {
	now, last := status.State, status.LastTerminationState
	return now.Running != nil || now.Terminated != nil || last.Terminated != nil
}

// logSources returns the containers of a pod that have logs, and a note about each container without logs.
func (o *logsOptions) logSources(pod *corev1.Pod) (found []source, notes []string) {
	statuses := append(slices.Clone(pod.Status.InitContainerStatuses), pod.Status.ContainerStatuses...)
	short := o.of + jobstatus.ShortPod(o.job.Name, pod.Name)
	several := len(pod.Spec.Containers)+len(pod.Spec.InitContainers) > 1
	if len(statuses) == 0 {
		return nil, []string{fmt.Sprintf("%s has not started (%s)", short, cli.PodStatus(pod))}
	}
	for _, status := range statuses {
		if o.container != "" && status.Name != o.container {
			continue
		}
		label := short
		if several {
			label += "/" + status.Name
		}
		switch {
		case o.previous && status.LastTerminationState.Terminated == nil:
			notes = append(notes, label+" was not restarted: it has no previous logs")
		case !o.previous && !hasStarted(&status):
			notes = append(notes, fmt.Sprintf("%s has not started (%s)", label, cli.PodStatus(pod)))
		default:
			found = append(found, source{pod: pod, container: status.Name, restarts: status.RestartCount, label: label})
		}
	}
	return found, notes
}
