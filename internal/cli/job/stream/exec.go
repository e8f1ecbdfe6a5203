package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/usererror"
)

// execOptions holds the inputs of `vcctl job exec` and `vcctl job attach`.
type execOptions struct {
	f         *cli.Factory
	name      string
	task      string
	index     int
	container string
	stdin     bool
	tty       bool
	// ttyGiven is true if the user specified --tty.
	ttyGiven bool
	// command is empty for attach.
	command []string
}

func newExec(f *cli.Factory, run func(context.Context, *execOptions) error) *cobra.Command {
	o := &execOptions{f: f}
	cmd := &cobra.Command{
		Use:   "exec NAME [-t TASK] [-i INDEX] -- COMMAND...",
		Short: "Run a command in a pod of a job",
		Long: cli.FormatHelp(`
			Run a command in a container of one pod of a job: the first running pod, or the
			pod selected by --task and --index. Standard input is passed to the command; on a
			terminal, the command gets a terminal of the same size. The exit code is the exit
			code of the command, or 255 if the connection was lost while the command was
			running. In this case, the command may still be running; it is not started
			again.`),
		Example: f.FormatExamples(`
			# A shell in the first running pod
			vcctl job exec train -- sh

			# The state of the third worker's accelerators
			vcctl job exec train -t worker -i 2 -- nvidia-smi

			# Without a terminal, for a script
			vcctl job exec train --tty=false -- cat /etc/hostname > name`),
		RunE: func(cmd *cobra.Command, args []string) error {
			at := cmd.ArgsLenAtDash()
			if at < 0 && len(args) > 1 {
				return usererror.Errorf(fmt.Sprintf("put -- before the command: %s %s -- %s", cli.CommandPath(f, cmd), args[0], strings.Join(args[1:], " ")),
					"the command must follow --")
			}
			if at >= 0 {
				args, o.command = args[:at], args[at:]
			}
			if len(o.command) == 0 {
				return cli.UsageError(f, cmd, "specify a command")
			}
			return o.completeOptions(cmd, args, run)
		},
	}
	o.addFlags(cmd)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return execFlagError(f, cmd, err)
	})
	return cmd
}

// execFlagError returns the error for an unknown flag. Such a flag usually belongs to the command to run, or is part
// of kubectl's -it.
func execFlagError(f *cli.Factory, cmd *cobra.Command, err error) error {
	e := cli.HumanizeError(cli.RewordFlagError(f, cmd, err), cli.Connection{})
	var wrong *pflag.InvalidValueError
	var none *pflag.NotExistError
	switch {
	case errors.As(err, &wrong) && wrong.GetFlag().Name == "index":
		e.Hint = fmt.Sprintf("-i is the pod index; -it is not needed to connect standard input and the terminal: %s NAME -- sh", cli.CommandPath(f, cmd))
	case errors.As(err, &none):
		e.Hint = fmt.Sprintf("put the command and its flags after --: %s NAME -- ls -l", cli.CommandPath(f, cmd))
	}
	return e
}

func newAttach(f *cli.Factory, run func(context.Context, *execOptions) error) *cobra.Command {
	o := &execOptions{f: f}
	cmd := &cobra.Command{
		Use:   "attach NAME [-t TASK] [-i INDEX]",
		Short: "Connect to the program running in a pod of a job",
		Long: cli.FormatHelp(`
			Connect this terminal to the program that runs in a container of one pod of a
			job: the first running pod, or the pod selected by --task and --index. You see
			new output of the program; your input is sent to the program if stdin is enabled
			for its container. If the program ends, the exit code is the program's; if the
			connection is lost, the exit code is 255 and the program continues. Ctrl-C
			disconnects without stopping the program. If the container has a terminal and
			stdin, Ctrl-C is sent to the program; press Ctrl-P Ctrl-Q to disconnect.
			` + "`vcctl job logs -f`" + ` shows the output of all pods.`),
		Example: f.FormatExamples(`
			# The first running pod
			vcctl job attach train

			# The debugger in worker 0
			vcctl job attach train -t worker -i 0 -c debugger`),
		RunE: func(cmd *cobra.Command, args []string) error { return o.completeOptions(cmd, args, run) },
	}
	o.addFlags(cmd)
	return cmd
}

// indexValue is the value of the -i flag, the pod index. It also accepts the "t" of kubectl's -it, because exec
// always forwards standard input and allocates a terminal.
type indexValue struct{ index *int }

func (v *indexValue) String() string {
	if v.index == nil || *v.index < 0 {
		return ""
	}
	return strconv.Itoa(*v.index)
}

func (v *indexValue) Type() string { return "int" }

func (v *indexValue) Set(text string) error {
	if text == "t" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return errors.New("not a whole number")
	}
	*v.index = n
	return nil
}

func (o *execOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&o.task, "task", "t", "", "Task of the pod, or TASK-INDEX (default: the first running pod)")
	o.index = -1
	flags.VarP(&indexValue{&o.index}, "index", "i", "Index of the pod in its task (default: the first running pod)")
	flags.StringVarP(&o.container, "container", "c", "", "Container of the pod (default: the first container)")
	flags.BoolVar(&o.stdin, "stdin", true, "Pass standard input to the program")
	flags.BoolVar(&o.tty, "tty", false, "Give the command a terminal (default: only if standard input is a terminal)")
	flags.Lookup("tty").DefValue = ""
	cmd.ValidArgsFunction = o.f.CompleteJobs()
	_ = cmd.RegisterFlagCompletionFunc("task", lookup.CompleteTasks(o.f))
}

func (o *execOptions) completeOptions(cmd *cobra.Command, args []string, run func(context.Context, *execOptions) error) error {
	var err error
	if o.name, err = lookup.SingleName(o.f, cmd, args); err != nil {
		return err
	}
	s := o.f.Streams
	o.ttyGiven = cmd.Flags().Lookup("tty").Changed
	switch given := o.ttyGiven; {
	case !given:
		o.tty = o.stdin && s.InTTY && s.OutTTY
	case o.tty && !s.InTTY:
		o.f.Warnf("--tty: standard input is not a terminal; continuing without one")
		o.tty = false
	}
	return run(cmd.Context(), o)
}

// runInPod runs exec and attach.
func runInPod(ctx context.Context, o *execOptions) error {
	c, job, err := lookup.ReadSingle(ctx, o.f, o.name)
	if err != nil {
		return err
	}
	pod, err := o.choosePod(ctx, c, job)
	if err != nil {
		return err
	}
	container, err := chooseContainer(pod, o.container)
	if err != nil {
		return err
	}
	if len(o.command) == 0 {
		o.adaptToContainer(pod, container)
	}
	err = o.connectStreams(ctx, pod, container)
	var status cli.ExitStatus
	switch {
	case err == nil, errors.As(err, &status), ctx.Err() != nil:
		return err
	case isLost(err):
		return o.lostConnectionError(pod, err)
	case (&lookup.SimulatedPods{}).Collect(ctx, c, pod):
		return usererror.Errorf(o.f.CommandText("job view "+job.Name)+" shows the nodes of its pods", "%s", lookup.NothingRunsText(pod))
	}
	return explainNotStarted(err)
}

// adaptToContainer adapts attach to the way in which the container was started. If the container has no terminal,
// Ctrl-C acts on the local terminal; if the container has no stdin, no input is forwarded.
func (o *execOptions) adaptToContainer(pod *corev1.Pod, container string) {
	for i := range pod.Spec.Containers {
		if spec := &pod.Spec.Containers[i]; spec.Name == container {
			if o.tty && !spec.TTY && o.ttyGiven {
				o.f.Warnf("--tty: container %s has no terminal; continuing without one", spec.Name)
			}
			o.stdin, o.tty = o.stdin && spec.Stdin, o.tty && spec.TTY
		}
	}
	if !o.stdin && o.f.Streams.InTTY {
		fmt.Fprintf(o.f.Streams.Err, "container %s of pod %s accepts no input, because stdin is not enabled for it; press Ctrl-C to disconnect\n", container, pod.Name)
	}
	if o.stdin && o.tty {
		fmt.Fprintf(o.f.Streams.Err, "all keys are sent to container %s of pod %s; press Ctrl-P Ctrl-Q to disconnect\n", container, pod.Name)
	}
}

// choosePod selects the pod to connect to.
func (o *execOptions) choosePod(ctx context.Context, c client.Client, job *batchv1alpha1.Job) (*corev1.Pod, error) {
	if o.task != "" {
		if err := lookup.CheckTask(job, o.task); err != nil {
			return nil, err
		}
	}
	pods, err := clusterops.PodsOfJob(ctx, c, job)
	if err != nil {
		return nil, err
	}
	var states []string
	for _, pod := range pods {
		if !o.matchesPod(job, pod) {
			continue
		}
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			return pod, nil
		}
		states = append(states, fmt.Sprintf("%s (%s)", jobstatus.ShortPod(job.Name, pod.Name), cli.PodStatus(pod)))
	}
	e := usererror.Errorf(o.f.CommandText("job explain "+job.Name)+" shows why; "+o.f.CommandText("job wait "+job.Name+" --for=running")+" waits",
		"job %q is %s and has no running pod", job.Name, jobstatus.PhaseOrPending(job))
	if jobstatus.PhaseOrPending(job) == batchv1alpha1.Running {
		e.What, e.Hint = fmt.Sprintf("no running pod of job %q matches --task and --index", job.Name), o.f.CommandText("job view "+job.Name)+" shows its pods"
	}
	if jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(job)) {
		e.Hint = o.f.CommandText("job logs "+job.Name) + " shows the logs of its pods"
	}
	if len(states) > 0 {
		e.What += "; " + joinNotes(states)
	}
	return nil, e
}

func (o *execOptions) matchesPod(job *batchv1alpha1.Job, pod *corev1.Pod) bool {
	short := jobstatus.ShortPod(job.Name, pod.Name)
	if o.task != "" && o.task != jobstatus.TaskNameOf(pod) && o.task != short {
		return false
	}
	return o.index < 0 || strings.HasSuffix(short, "-"+strconv.Itoa(o.index))
}

// chooseContainer returns the name of the container to use: the specified one, the pod's default container, or the
// first one.
func chooseContainer(pod *corev1.Pod, name string) (string, error) {
	var names []string
	for _, container := range pod.Spec.Containers {
		names = append(names, container.Name)
	}
	switch {
	case name == "":
		if chosen := pod.Annotations["kubectl.kubernetes.io/default-container"]; slices.Contains(names, chosen) {
			return chosen, nil
		}
		return names[0], nil
	case slices.Contains(names, name):
		return name, nil
	}
	return "", usererror.Errorf(lookup.ExistingNamesHint("containers", name, names), "pod %q has no container %q", pod.Name, name)
}

// connectStreams streams input and output until the command ends, and returns its exit code as an ExitStatus.
func (o *execOptions) connectStreams(ctx context.Context, pod *corev1.Pod, container string) error {
	executor, err := o.newExecutor(pod, container)
	if err != nil {
		return err
	}
	s := o.f.Streams
	streams := remotecommand.StreamOptions{Stdout: s.Out, Stderr: s.Err, Tty: o.tty}
	if o.stdin {
		streams.Stdin = s.In
	}
	if o.tty {
		streams.Stderr = io.Discard
		restore, sizes := s.EnterRawMode(ctx)
		defer restore()
		streams.TerminalSizeQueue = sizes
	}
	streaming, leave := context.WithCancel(ctx)
	defer leave()
	if o.stdin && o.tty && len(o.command) == 0 {
		streams.Stdin = &leaver{in: s.In, leave: leave}
	}
	// Discard the client's log, because the client would log that a stream was closed, which is intended here.
	err = executor.StreamWithContext(klog.NewContext(streaming, logr.Discard()), streams)
	if streaming.Err() != nil && len(o.command) == 0 {
		fmt.Fprintf(s.Err, "\r\njob %q continues; use '%s' to reconnect, or '%s' to cancel it\r\n", o.name, o.f.CommandText("job attach "+o.name), o.f.CommandText("job cancel "+o.name))
		return ctx.Err()
	}
	var ended exec.CodeExitError
	if errors.As(err, &ended) {
		return cli.ExitStatus(ended.Code)
	}
	return err
}

// leaver forwards input until the user types Ctrl-P Ctrl-Q. This key sequence detaches from a program that receives
// all other keys.
type leaver struct {
	in    io.Reader
	leave func()
	// begun is true if the last key was Ctrl-P.
	begun bool
}

const ctrlP, ctrlQ = 0x10, 0x11

func (l *leaver) Read(keys []byte) (int, error) {
	n, err := l.in.Read(keys)
	for i, key := range keys[:n] {
		if l.begun && key == ctrlQ {
			l.leave()
			return i, io.EOF
		}
		l.begun = key == ctrlP
	}
	return n, err
}

// newExecutor returns a connection to a new command in the container or, for attach, to the container's main process.
func (o *execOptions) newExecutor(pod *corev1.Pod, container string) (remotecommand.Executor, error) {
	clientset, err := o.f.Clientset()
	if err != nil {
		return nil, err
	}
	config, err := o.f.RESTConfig()
	if err != nil {
		return nil, err
	}
	if len(o.command) > 0 {
		return clusterops.NewExecutor(config, clientset, pod.Namespace, pod.Name, "exec", &corev1.PodExecOptions{Container: container, Command: o.command,
			Stdin: o.stdin, Stdout: true, Stderr: !o.tty, TTY: o.tty})
	}
	return clusterops.NewExecutor(config, clientset, pod.Namespace, pod.Name, "attach", &corev1.PodAttachOptions{Container: container,
		Stdin: o.stdin, Stdout: true, Stderr: !o.tty, TTY: o.tty})
}
