package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/cli/submit"
	"github.com/vc-batch/vc/internal/usererror"
)

// runOptions holds the inputs of `vcctl job run`.
type runOptions struct {
	f       *cli.Factory
	out     cli.Output
	files   cli.Files
	dryRun  cli.DryRun
	fields  cli.FieldValidation
	wait    cli.Wait
	attach  bool
	oldName string
	// requestsAfterR is the value after -R if -R stands for Volcano's --requests.
	requestsAfterR string
	recipe         recipe
	// changes holds the flags that replace fields of the jobs in files.
	changes changes
	// described lists the flags that describe a new job, and therefore cannot be combined with files.
	described []string
}

func newRun(f *cli.Factory, run func(context.Context, *runOptions) error) *cobra.Command {
	o := &runOptions{f: f}
	cmd := &cobra.Command{
		Use:     "run [NAME] [-- COMMAND...]",
		Aliases: []string{"submit", "create"},
		Short:   "Submit a job described by flags or files",
		Long: cli.FormatHelp(`
			Submit a job described by flags, or objects read from files. Files can contain
			any number of objects of any kind (queues, config maps, jobs, …), in YAML or JSON;
			all are checked against the server's rules before the first one is sent. If one of
			them already exists, nothing is created.

			The pods of a job start together: all of them, or at least --min. The tasks of
			an array (--array) start independently, as resources become free; each has its
			index in the variable VC_ARRAY_INDEX.

			With -f, the flags --queue, --priority-class, --labels, --after, --begin and --hold
			override the values of the jobs in the files. A NAME replaces the name of the
			job; the files must then contain only one job.

			A volume is SOURCE:PATH[:ro]. The source is the name of a claim, a directory on
			the node (beginning with /), configmap/NAME or secret/NAME; without a source
			(--volume /scratch), the volume is empty and is deleted with the pod.`),
		Example: f.FormatExamples(`
			# Three pods that start together
			vcctl job run hello --image busybox --replicas 3 -- sh -c 'echo hello from $HOSTNAME'

			# Eight workers with one GPU each, of which four must start together; wait until the job ends
			vcctl job run train --image pytorch --replicas 8 --min 4 --gpus 1 --memory 16Gi --queue research --time 12h --wait -- python train.py

			# An array of 100 tasks, at most ten at a time, after another job has completed
			vcctl job run sweep --image python --array 0-99%10 --after prepare -- python sweep.py

			# Mount a claim, tolerate a taint, and do not start before 18:00
			vcctl job run eval --volume data:/data:ro --toleration dedicated=train:NoSchedule --begin 18:00 -- ls /data

			# From a file, a directory, a URL or a pipe
			vcctl job run -f job.yaml
			vcctl job run -f jobs/ --recursive
			cat job.yaml | vcctl job run -f -

			# The objects that kustomize builds from a directory
			vcctl job run -k overlays/prod/

			# The job in a file, with another name and in another queue
			vcctl job run second -f job.yaml --queue research

			# Print the object, or let the server check it, without running it
			vcctl job run hello --image busybox --dry-run=client -o yaml
			vcctl job run -f job.yaml --dry-run=server`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.completeOptions(cmd, args); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.addFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("queue", f.CompleteLeafQueues())
	_ = cmd.RegisterFlagCompletionFunc("priority-class", f.CompletePriorityClasses())
	_ = cmd.RegisterFlagCompletionFunc("node-selector", f.CompleteNodeLabels())
	_ = cmd.RegisterFlagCompletionFunc("restart", cli.CompleteValues("Never", "OnFailure", "Always"))
	_ = cmd.RegisterFlagCompletionFunc("array", cli.CompleteValues("0-9", "0-99%10"))
	_ = cmd.RegisterFlagCompletionFunc("toleration", f.CompleteTaints())
	_ = cmd.RegisterFlagCompletionFunc("volume", f.CompleteKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), true))
	_ = cmd.RegisterFlagCompletionFunc("service-account", f.CompleteKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"), true))
	_ = cmd.RegisterFlagCompletionFunc("plugin", cli.CompleteValues(batchv1alpha1.PluginNames...))
	return cmd
}

func (o *runOptions) addFlags(cmd *cobra.Command) {
	r, flags := &o.recipe, cmd.Flags()
	flags.StringVarP(&r.image, "image", "i", "busybox", "Container image")
	flags.StringVarP(&r.queue, "queue", "q", "", "Queue to submit to (default \"default\")")
	flags.Int32VarP(&r.replicas, "replicas", "r", 1, "Number of pods")
	flags.Int32VarP(&r.min, "min", "m", 1, "Number of pods that must start together (default: all)")
	flags.Lookup("min").DefValue = "0"
	flags.StringVar(&r.cpu, "cpu", "1", "CPU request of each pod")
	flags.StringVar(&r.memory, "memory", "", "Memory request and limit of each pod")
	flags.Int64Var(&r.gpus, "gpus", 0, "Number of GPUs for each pod")
	flags.StringVar(&r.gpuResource, "gpu-resource", "nvidia.com/gpu", "Name of the resource that --gpus requests")
	flags.DurationVar(&r.timeLimit, "time", 0, "Maximum time that a pod can run, for example 90m; 0 means no limit")
	flags.StringArrayVarP(&r.env, "env", "e", nil, "Environment variable, NAME=VALUE; can be repeated")
	flags.StringSliceVar(&r.labels, "labels", nil, "Labels of the job, KEY=VALUE,…")
	flags.StringSliceVar(&r.nodeSelector, "node-selector", nil, "Labels that a node must have, KEY=VALUE,…")
	flags.StringVar(&r.workDir, "workdir", "", "Working directory")
	flags.StringVar(&r.restart, "restart", "Never", "When to restart a container: Never, OnFailure or Always")
	flags.StringVar(&r.priority, "priority-class", "", "Priority class of the job")
	flags.StringSliceVar(&r.plugins, "plugin", nil, "Job plugins, NAME or NAME=ARGS: "+strings.Join(batchv1alpha1.PluginNames, ", "))
	flags.Int32Var(&r.maxRetry, "max-retry", 3, "Maximum number of times to run the job, including the first run")
	flags.DurationVar(&r.ttl, "ttl", 0, "Time after which the finished job is deleted (default: never)")
	flags.StringVar(&r.task, "task", "main", "Name of the task; pods are named NAME-TASK-INDEX")
	flags.StringVar(&r.array, "array", "", "Run an array of tasks with these indices, for example 0-15 or 0-99%10 (at most ten at a time); --replicas is the number of pods of each array task")
	flags.StringArrayVar(&r.volumes, "volume", nil, "Volume of each pod, SOURCE:PATH[:ro]; SOURCE is a claim, a /directory on the node, configmap/NAME or secret/NAME; without SOURCE, the volume is empty; can be repeated")
	flags.StringArrayVar(&r.tolerations, "toleration", nil, "Node taint to tolerate, KEY[=VALUE][:EFFECT]; can be repeated")
	flags.StringVar(&r.serviceAccount, "service-account", "", "Service account of the pods")
	r.start.addFlags(o.f, cmd)
	flags.StringVarP(&r.scheduler, "scheduler", "S", "", "Name of the scheduler (default \"volcano\")")
	flags.StringVarP(&o.oldName, "name", "N", "", "Name of the job")
	flags.StringVar(&r.requests, "requests", "cpu=1000m,memory=100Mi", "Resource requests of each pod")
	flags.StringVarP(&r.limits, "limits", "L", "cpu=1000m,memory=100Mi", "Resource limits of each pod")
	for _, old := range []string{"name", "requests", "limits", "scheduler"} {
		flags.Lookup(old).Hidden = true
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "name" {
			o.described = append(o.described, flag.Name)
		}
	})
	flags.VarP(&recursiveOrRequests{o}, "recursive", "R", "Recurse into subdirectories")
	flags.Lookup("recursive").NoOptDefVal = "true"
	o.files.AddSourceFlags(o.f, cmd)
	o.dryRun.AddFlag(cmd)
	o.fields.AddFlag(cmd)
	o.wait.AddFlags(cmd, false, "Wait until the job has ended; exit with an error if it fails")
	flags.BoolVar(&o.attach, "attach", false, "Print the logs of the pods until the job has ended; exit with the exit code of the first pod that failed")
	o.out.AddFormatFlags(cmd, false)
	cli.RejectTogether(cmd, "each array task starts independently and always with all of its pods", "array", "min")
	cli.RequireAny(cmd, "the flag names the resource that --gpus requests", "gpu-resource", "gpus")
	cli.RequireAny(cmd, "the flag applies only to objects that are read from files", "validate", "filename", "kustomize")
}

// recursiveOrRequests is the value of -R: kubectl's --recursive or, if a list of resources follows, Volcano's
// --requests.
type recursiveOrRequests struct{ o *runOptions }

func (v *recursiveOrRequests) String() string {
	if v.o == nil || !v.o.files.Recursive {
		return "false"
	}
	return "true"
}

func (v *recursiveOrRequests) Type() string { return "bool" }

func (v *recursiveOrRequests) Set(text string) error {
	switch {
	case text == "true", text == "false":
		v.o.files.Recursive = text == "true"
	case strings.Contains(text, "="):
		v.o.requestsAfterR = text
	default:
		return fmt.Errorf("must be true, false or NAME=AMOUNT, not %q", text)
	}
	return nil
}

// isResources reports whether an argument has the form NAME=AMOUNT,…. No job name has this form.
func isResources(arg string) bool { return strings.Contains(arg, "=") }

// completeOptions sets the options from arguments and flags.
func (o *runOptions) completeOptions(cmd *cobra.Command, args []string) error {
	r := &o.recipe
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		args, r.command = args[:at], args[at:]
	}
	if at := slices.IndexFunc(args, isResources); at >= 0 && o.files.Recursive {
		// The shell splits "-R cpu=1,memory=1Gi" into two words.
		o.files.Recursive, o.requestsAfterR = false, args[at]
		args = slices.Delete(slices.Clone(args), at, at+1)
	}
	if o.requestsAfterR != "" {
		if cmd.Flags().Lookup("requests").Changed {
			return cli.UsageError(o.f, cmd, "--requests and -R %s cannot be combined: specify a pod's resources in only one way", o.requestsAfterR)
		}
		r.requests, r.oldRequestsOrLims = o.requestsAfterR, true
	}
	for _, old := range []struct{ flag, instead string }{
		{"name", "the name as an argument"}, {"limits", "--cpu and --memory"}, {"requests", "--cpu and --memory"},
	} {
		if cmd.Flags().Lookup(old.flag).Changed && !(old.flag == "name" && o.renamesFileJob(cmd)) {
			r.old = r.old || old.flag == "name"
			r.oldRequestsOrLims = r.oldRequestsOrLims || old.flag != "name"
			o.f.WarnDeprecated("--"+old.flag, old.instead)
		}
	}
	if len(args) > 0 {
		r.name, args = cli.BareName(args[0], "jobs"), args[1:]
	}
	if r.oldRequestsOrLims && !cmd.Flags().Lookup("requests").Changed && cmd.Flags().Lookup("recursive").Changed {
		o.f.WarnDeprecated("-R with resources", "--cpu and --memory")
	}
	if o.oldName != "" && r.name != "" {
		return usererror.Errorf("remove one of them", "--name cannot be combined with a name argument: both specify the name of the job")
	}
	r.name = cmp.Or(o.oldName, r.name)
	r.minGiven = cmd.Flags().Lookup("min").Changed
	r.maxRetryGiven = cmd.Flags().Lookup("max-retry").Changed
	r.limitsGiven = cmd.Flags().Lookup("limits").Changed
	r.ttlGiven = cmd.Flags().Lookup("ttl").Changed
	for _, flag := range []string{"cpu", "memory", "gpus"} {
		switch {
		case !cmd.Flags().Lookup(flag).Changed:
		case r.oldRequestsOrLims:
			return cli.UsageError(o.f, cmd, "--%s cannot be combined with --requests, -R or --limits: specify a pod's resources in only one way", flag)
		default:
			r.amountsGiven = true
		}
	}
	return o.checkUsage(cmd, args)
}

func (o *runOptions) checkUsage(cmd *cobra.Command, rest []string) error {
	switch {
	case len(rest) > 0:
		return usererror.Errorf(fmt.Sprintf("put -- before the command: %s %s -- %s", cli.CommandPath(o.f, cmd), o.recipe.name, strings.Join(rest, " ")),
			"%q: only one name is allowed", strings.Join(append([]string{o.recipe.name}, rest...), " "))
	case !o.files.HasSources() && o.recipe.name == "":
		return usererror.Errorf(fmt.Sprintf("%s NAME --image IMAGE -- COMMAND, or -f FILE; see '%s --help'", cli.CommandPath(o.f, cmd), cli.CommandPath(o.f, cmd)),
			"job name cannot be left blank")
	case o.files.HasSources() && len(o.recipe.command) > 0:
		return cli.UsageError(o.f, cmd, "a command cannot be combined with %s: the file already contains the command", o.files.FlagName())
	}
	if o.recipe.maxRetryGiven && o.recipe.maxRetry < 1 { // the API interprets 0 as "not specified"
		return usererror.Errorf("--max-retry=1 runs the job once, without a restart", "--max-retry: must be at least 1, not %d", o.recipe.maxRetry)
	}
	if o.files.Recursive && !o.files.HasSources() {
		return usererror.Errorf("add --filename, or remove --recursive", "--recursive (-R) applies only to directories specified with -f")
	}
	return o.rejectRepeatedFlags(cmd)
}

// volcanos lists the flags of Volcano's `job run` that Volcano ignores together with a file.
var volcanos = []string{"image", "min", "replicas", "requests", "limits", "scheduler", "name"}

// renamesFileJob reports whether --name renames the job in a file. Together with flags of Volcano's vcctl, --name has
// no effect.
func (o *runOptions) renamesFileJob(cmd *cobra.Command) bool {
	asVolcano := func(name string) bool { return name != "name" && cmd.Flags().Lookup(name).Changed }
	return o.files.HasSources() && !o.f.UsesVolcanoTables() && !slices.ContainsFunc(volcanos, asVolcano)
}

// rejectRepeatedFlags rejects flags that describe a job if files already describe it, except for the flags that replace
// fields. Volcano's vcctl ignores its own flags in this case; for command lines written for Volcano,
// rejectRepeatedFlags also ignores them and prints a warning.
func (o *runOptions) rejectRepeatedFlags(cmd *cobra.Command) error {
	if !o.files.HasSources() {
		return nil
	}
	var refused, idle []string
	asVolcano := o.recipe.old || o.f.UsesVolcanoTables()
	for _, name := range append([]string{"name"}, o.described...) {
		switch flag := cmd.Flags().Lookup(name); {
		case !flag.Changed && !(name == "requests" && o.requestsAfterR != ""):
		case slices.Contains(volcanos, name) && asVolcano:
			idle = append(idle, "--"+name)
		case slices.Contains(replacing, name):
		default:
			refused = append(refused, "--"+name)
		}
	}
	if len(refused) > 0 {
		return usererror.Errorf(fmt.Sprintf("set the value in the file, or remove %s and describe the job with flags only: %s NAME …", o.files.FlagName(), cli.CommandPath(o.f, cmd)),
			"%s cannot be combined with %s: the file describes the job", strings.Join(refused, ", "), o.files.FlagName())
	}
	if len(idle) > 0 {
		o.f.Warnf("%s: ignored because the file describes the job (as in Volcano's vcctl)", strings.Join(idle, ", "))
	}
	r := &o.recipe
	o.changes = changes{queue: r.queue, priority: r.priority, labels: r.labels, start: r.start}
	if o.oldName == "" || !asVolcano {
		o.changes.name = r.name
	}
	return nil
}

func runJobs(ctx context.Context, o *runOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate(), o.fields.Validate()); err != nil {
		return err
	}
	objects, err := o.objectsToCreate(ctx)
	if err != nil {
		return err
	}
	return o.submitObjects(ctx, objects)
}

// submitObjects validates the objects, sends them and, if requested, waits until the jobs have ended.
func (o *runOptions) submitObjects(ctx context.Context, objects []cli.FileObject) error {
	if err := o.requireJob(objects); err != nil {
		return err
	}
	if err := submit.CheckObjects(ctx, o.f, objects, &o.dryRun, &o.fields); err != nil {
		return err
	}
	o.warnAboutManyPods(objects)
	sender := &submit.Sender{F: o.f, DryRun: &o.dryRun, Fields: &o.fields, Out: &o.out, Say: o.printCreated}
	created, err := sender.SendObjects(ctx, objects)
	mustWait := o.wait.Wait || o.attach
	if err != nil || o.dryRun.IsDryRun() || !mustWait {
		return err
	}
	return o.waitUntilEnd(ctx, created)
}

// manyPods is the minimum number of pods in a job for which vcctl prints a warning.
const manyPods = 10000

// warnAboutManyPods warns about jobs with so many pods that the number is probably a mistake.
func (o *runOptions) warnAboutManyPods(objects []cli.FileObject) {
	for _, object := range objects {
		job, is, err := lookup.ToTypedJob(object)
		if err != nil || !is {
			continue
		}
		pods := int64(0)
		for i := range job.Spec.Tasks {
			pods += int64(job.Spec.Tasks[i].Replicas)
		}
		if pods >= manyPods {
			o.f.Warnf("job %q creates %d pods, an unusually large number; if this is a mistake, run: %s", job.Name, pods, o.f.CommandText("job delete "+job.Name))
		}
	}
}

// requireJob rejects --wait and --attach if the objects include no job.
func (o *runOptions) requireJob(objects []cli.FileObject) error {
	if (!o.wait.Wait && !o.attach) || slices.ContainsFunc(objects, lookup.IsJob) {
		return nil
	}
	flag := "--wait"
	if o.attach {
		flag = "--attach"
	}
	return usererror.Errorf("remove "+flag+"; to wait until queues are open, use vcctl queue create -f FILE --wait", "%s: %s contains no job to wait for", flag, o.files.DescribeSources())
}

// objectsToCreate returns the objects to create: those in the files, or the job that the flags describe.
func (o *runOptions) objectsToCreate(ctx context.Context) ([]cli.FileObject, error) {
	if o.files.HasSources() {
		objects, err := submit.ReadFiles(o.f, &o.files, !o.dryRun.IsClient())
		if err != nil {
			return nil, err
		}
		return objects, o.changes.applyTo(objects, o.files.DescribeSources(), o.f.Now())
	}
	namespace, err := o.f.Namespace()
	if err != nil {
		return nil, err
	}
	settings, err := o.f.LoadSettings()
	if err != nil {
		return nil, err
	}
	o.recipe.now = o.f.Now()
	o.recipe.namespace, o.recipe.queue = namespace, cmp.Or(o.recipe.queue, settings.Queue)
	if !o.dryRun.IsClient() {
		o.recipe.user = o.f.FindPermittedUser(ctx, namespace, o.f.Streams.FindUserName())
	}
	job, err := buildJob(&o.recipe)
	if err != nil {
		return nil, err
	}
	object, err := cli.ToPlainObject(job)
	return []cli.FileObject{{Object: object, Flags: flagsOfFields}}, err
}

func (o *runOptions) printCreated(object cli.FileObject) error {
	usesOldFlags := o.recipe.old && !o.files.HasSources()
	asVolcano := o.f.UsesVolcanoTables() && object.Object.GetKind() == "Job"
	if usesOldFlags || asVolcano {
		_, err := fmt.Fprintf(o.f.Streams.Out, "run job %s successfully%s\n", object.Object.GetName(), o.dryRun.MessageSuffix())
		return err
	}
	return cli.PrintSuccess(o.f, nil, object.Object, "created"+o.dryRun.MessageSuffix())
}
