// Package attach connects to running jobs by running commands in their pods. It implements sattach, sbcast and sgather,
// and it is also used by srun, scancel and scontrol.
//
//	In:   a running job, a command, streams
//	Out:  the exit code of the command, its output
package attach

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/klog/v2"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// Allocation is a running job in whose head pod this process executes commands.
type Allocation struct {
	*program.Call
	Job *batchv1alpha1.Job
	ID  string
	// Head is the pod in which commands are executed.
	Head *corev1.Pod
}

// Session is a command in the head pod, connected to this process's terminal or to the specified streams.
type Session struct {
	Command []string
	// Terminal requests a terminal with the size of the user's terminal.
	Terminal bool
	// Streams are the standard streams of the command. Stdin is nil if the command reads no input.
	Streams remotecommand.StreamOptions
}

// ExecInHead runs a command in the head pod and returns its exit code.
func (a *Allocation) ExecInHead(ctx context.Context, s Session) (int, error) {
	config, err := a.Factory.RESTConfig()
	if err != nil {
		return 1, err
	}
	clientset, err := a.Factory.Clientset()
	if err != nil {
		return 1, err
	}
	options := &corev1.PodExecOptions{Container: a.Head.Spec.Containers[0].Name, Command: s.Command, Stdin: s.Streams.Stdin != nil, Stdout: true, Stderr: !s.Terminal, TTY: s.Terminal}
	executor, err := clusterops.NewExecutor(config, clientset, a.Head.Namespace, a.Head.Name, "exec", options)
	if err != nil {
		return 1, err
	}
	s.Streams.Tty = s.Terminal
	if s.Terminal {
		restore, sizes := a.Factory.Streams.EnterRawMode(ctx)
		defer restore()
		s.Streams.Stderr, s.Streams.TerminalSizeQueue = nil, sizes
	}
	// Discard the client's log, because it reports closed streams, which are expected here.
	err = executor.StreamWithContext(klog.NewContext(ctx, logr.Discard()), s.Streams)
	var ended exec.CodeExitError
	switch {
	case errors.As(err, &ended):
		return ended.Code, nil
	case err != nil:
		return 1, err
	}
	return 0, nil
}

// StandardStreams returns the standard streams of this process.
func StandardStreams(c *program.Call) remotecommand.StreamOptions {
	s := c.Factory.Streams
	return remotecommand.StreamOptions{Stdin: s.In, Stdout: s.Out, Stderr: s.Err}
}

// CaptureInterrupts returns a channel that receives SIGINT, SIGTERM and SIGHUP, for example from Ctrl-C and kill. These
// signals no longer terminate this process until stop restores the default handling.
func CaptureInterrupts() (received <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}

// ExitStatus returns a command's exit code as an error. It marks Ctrl-C as handled, because the command received it.
func ExitStatus(code int) error { return cli.Heeded(code) }

// JobIDInPod returns the number by which the job is identified in its pod. For an array, the number includes the index
// of the element.
func (a *Allocation) JobIDInPod() string {
	id := listrow.NumberOrName(a.Job)
	if index := a.Head.Labels[keys.ArrayIndex]; index != "" {
		id += "_" + index
	}
	return id
}

// FormatOption formats an option as one word.
func FormatOption(g getopt.Given) string {
	if g.HasValue {
		return "--" + g.Name + "=" + g.Value
	}
	return "--" + g.Name
}

// FindRunningAllocation returns the allocation of a running job. what is the first part of the error message that is
// returned if the job is not running.
func FindRunningAllocation(ctx context.Context, c *program.Call, id, what string) (*Allocation, error) {
	named, err := program.ParseJobWords([]string{id})
	if err != nil {
		return nil, err
	}
	v, err := clusterdata.ReadView(ctx, c, clusterdata.Wants{Named: named, Pods: true})
	if err != nil {
		return nil, err
	}
	if len(v.Jobs) == 0 {
		return nil, program.MissingJobError("squeue -t R lists running jobs", "Unable to confirm allocation for job %s: Invalid job id specified", id)
	}
	job := v.Jobs[0]
	for _, pod := range v.Pods[types.NamespacedName{Namespace: job.Namespace, Name: job.Name}] {
		if pod.Labels[keys.TaskSpec] == launchconfig.HeadTask && pod.Status.Phase == corev1.PodRunning && isElement(pod, named[0]) {
			return &Allocation{Call: c, Job: job, ID: id, Head: pod}, nil
		}
	}
	return nil, usererror.Errorf("squeue shows why a job is waiting, and sacct shows how a job ended", "%s: Job is pending execution or has ended", what)
}

// isElement reports whether a pod belongs to the referenced element, or to the job if the reference does not specify
// an element.
func isElement(pod *corev1.Pod, named optionvalue.Job) bool {
	if named.Elements.Count() == 0 {
		return true
	}
	index, err := batchv1alpha1.ParseIndices(pod.Labels[keys.ArrayIndex])
	return err == nil && len(index) > 0 && named.Elements.Has(index[0].First)
}
