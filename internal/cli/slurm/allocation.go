package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/usererror"
)

// quietTime is how long an allocation may take before a message tells the user that the job is queued.
const quietTime = time.Second

// allocation is a job without a script that this process uses interactively.
type allocation struct {
	*call
	job *batchv1alpha1.Job
	id  string
	// head is the pod in which commands are executed.
	head *corev1.Pod
}

// isHeterogeneous reports whether the operands of a command separate the components of a job. Only srun searches all
// operands for further components.
func isHeterogeneous(command request.Command, operands []string) bool {
	if len(operands) > 0 && operands[0] == nextComponent {
		return true
	}
	return command == request.Srun && slices.Contains(operands, nextComponent)
}

// submitAllocation submits an allocation and waits until its head pod runs. With --test-only, it submits nothing and
// returns nil without an error. The options listed in steps apply only to steps and are not part of the job's request.
func (c *call) submitAllocation(ctx context.Context, command request.Command, title string, steps []string) (*allocation, error) {
	if isHeterogeneous(command, c.parsed.Operands) {
		return nil, heterogeneousError()
	}
	line := getopt.Parsed{Operands: c.parsed.Operands}
	for _, given := range c.parsed.Given {
		if !slices.Contains(steps, given.Name) {
			line.Given = append(line.Given, given)
		}
	}
	s := &jobInput{title: title, interactive: true}
	if err := c.buildRequest(ctx, s, request.Input{Command: command, Environ: c.userEnvironment(), Line: line, Now: c.f.Now()}); err != nil {
		return nil, err
	}
	result, err := c.translateJob(s)
	if err != nil {
		return nil, err
	}
	c.printNotes(s, result, "")
	if s.request.TestOnly {
		return nil, c.runTestOnly(ctx, s, result)
	}
	a := &allocation{call: c}
	if a.job, err = c.submitJob(ctx, result); err != nil {
		return nil, err
	}
	a.id = numberOrName(a.job)
	return a, a.waitForHead(ctx, s.request.Immediate)
}

// waitForHead waits until the head pod runs, for at most patience if it is positive. Ctrl-C cancels the allocation.
func (a *allocation) waitForHead(ctx context.Context, patience time.Duration) error {
	cl, err := a.retryingClient()
	if err != nil {
		return err
	}
	told := false
	queued := time.NewTimer(quietTime)
	defer queued.Stop()
	var busy <-chan time.Time
	if patience > 0 {
		busy = time.After(patience)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	pods := startHeadWatch(watching, cl, a.job)
	ends := startEndWatch(watching, cl, a.job)
	for {
		select {
		case <-ctx.Done():
			a.cancelJob(ctx)
			return usererror.Errorf("the job was cancelled because the command was interrupted; run the command again to retry", "Job allocation %s has been revoked", a.id).WithCode(interrupted)
		case <-busy:
			a.cancelJob(ctx)
			return usererror.Errorf("the allocation was not granted within "+patience.String()+" (--immediate); omit --immediate to wait", "Unable to allocate resources: Requested nodes are busy")
		case <-queued.C:
			told = true
			a.printStatusf("job %s queued and waiting for resources", a.id)
		case ended := <-ends:
			switch {
			case ctx.Err() != nil: // reported by the case of ctx.Done
			case ended.unseen:
				a.printNotef("warning", "job %s cannot be watched, so its cancellation would not be noticed here: %v", a.id, ended.err)
			case ended.err != nil:
				return usererror.Errorf("sacct -j "+a.id+" shows its record; run the command again to retry", "Job allocation %s has been revoked: %v", a.id, ended.err)
			default:
				return usererror.Errorf(jobstatus.StateMessage(ended.job), "Job allocation %s has been revoked: the job is %s", a.id, ended.job.Status.State.Phase)
			}
		case a.head = <-pods:
			if told {
				a.printStatusf("job %s has been allocated resources", a.id)
			}
			return nil
		}
	}
}

// interrupted is the exit code of a command that Ctrl-C ended.
const interrupted = 130

// printStatusf prints a line about the allocation, unless -Q is specified.
func (a *allocation) printStatusf(format string, args ...any) {
	if !a.parsed.Has("quiet") {
		fmt.Fprintf(a.f.Streams.Err, a.table.Program+": "+format+"\n", args...)
	}
}

// startHeadWatch returns a channel that receives the head pod once it runs.
func startHeadWatch(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job) <-chan *corev1.Pod {
	found := make(chan *corev1.Pod, 1)
	go func() {
		for ctx.Err() == nil {
			if pod := watchForHead(ctx, cl, job); pod != nil {
				found <- pod
				return
			}
		}
	}()
	return found
}

// watchForHead watches until the head pod runs. It returns nil if the watch ends first.
func watchForHead(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job) *corev1.Pod {
	w, err := cl.Watch(ctx, &corev1.PodList{}, client.InNamespace(job.Namespace), client.MatchingLabels{keys.JobName: job.Name, keys.TaskSpec: launchconfig.HeadTask})
	if err != nil {
		select {
		case <-ctx.Done():
		case <-time.After(quietTime):
		}
		return nil
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if pod, ok := event.Object.(*corev1.Pod); ok && pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			return pod
		}
	}
	return nil
}

// jobEnd describes the end of a job: its last state, or the error that explains why the job no longer exists. unseen
// reports that the user may not read the job.
type jobEnd struct {
	job    *batchv1alpha1.Job
	err    error
	unseen bool
}

// startEndWatch returns a channel that receives the end of a job, because the job may end before its head pod runs.
func startEndWatch(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job) <-chan jobEnd {
	ended := make(chan jobEnd, 1)
	go func() {
		now, err := waitForJobEnd(ctx, cl, job, func(error) {})
		ended <- jobEnd{now, err, apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)}
	}()
	return ended
}

// cancelJob terminates the job.
func (a *allocation) cancelJob(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), idPatience)
	defer stop()
	cl, err := a.f.Client()
	if err == nil {
		// An error is ignored, because terminating the job matters more than recording who did it.
		_ = a.annotateJob(ctx, a.job, map[string]any{keys.CancelledBy: a.userName()})
		err = cl.Create(ctx, clusterops.JobCommand(a.job, busv1alpha1.TerminateJobAction))
	}
	if err != nil {
		a.printNotef("warning", "job %s could not be cancelled: %v", a.id, err)
	}
}

// session is a command in the head pod, connected to this process's terminal or to the specified streams.
type session struct {
	command []string
	// terminal requests a terminal with the size of the user's terminal.
	terminal bool
	// streams are the standard streams of the command. Stdin is nil if the command reads no input.
	streams remotecommand.StreamOptions
}

// execInHead runs a command in the head pod and returns its exit code.
func (a *allocation) execInHead(ctx context.Context, s session) (int, error) {
	config, err := a.f.RESTConfig()
	if err != nil {
		return 1, err
	}
	clientset, err := a.f.Clientset()
	if err != nil {
		return 1, err
	}
	options := &corev1.PodExecOptions{Container: a.head.Spec.Containers[0].Name, Command: s.command, Stdin: s.streams.Stdin != nil, Stdout: true, Stderr: !s.terminal, TTY: s.terminal}
	executor, err := clusterops.NewExecutor(config, clientset, a.head.Namespace, a.head.Name, "exec", options)
	if err != nil {
		return 1, err
	}
	s.streams.Tty = s.terminal
	if s.terminal {
		restore, sizes := a.f.Streams.EnterRawMode(ctx)
		defer restore()
		s.streams.Stderr, s.streams.TerminalSizeQueue = nil, sizes
	}
	// The client logs that a stream was closed, which is expected.
	err = executor.StreamWithContext(klog.NewContext(ctx, logr.Discard()), s.streams)
	var ended exec.CodeExitError
	switch {
	case errors.As(err, &ended):
		return ended.Code, nil
	case err != nil:
		return 1, err
	}
	return 0, nil
}

// standardStreams returns the standard streams of this process.
func (c *call) standardStreams() remotecommand.StreamOptions {
	s := c.f.Streams
	return remotecommand.StreamOptions{Stdin: s.In, Stdout: s.Out, Stderr: s.Err}
}

// captureInterrupts returns a channel that receives the signals of Ctrl-C and kill, which then no longer terminate this
// process. stop restores the default handling.
func captureInterrupts() (received <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}

// exitStatus returns a command's exit code as an error. It marks Ctrl-C as handled, because the command received it.
func exitStatus(code int) error { return cli.Heeded(code) }
