package processnode

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/local/processnode/cgroup"
	"github.com/vc-batch/vc/internal/local/processnode/lifecycle"
	"github.com/vc-batch/vc/internal/local/processnode/logfile"
	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
	"github.com/vc-batch/vc/internal/local/processnode/shim"
)

// drainTime is how long to keep reading output after the last process that could write it has ended.
const drainTime = 2 * time.Second

// attempt is one run of a container.
type attempt struct {
	worker    *worker
	spec      *corev1.Container
	pod       *corev1.Pod
	number    int
	id        string
	process   shim.Process // template for processes that exec starts
	container *sandbox.Container
	group     *cgroup.Group
	log       *logfile.File
	streams   *streams
	directory string // contains the container's root and its termination message
	startedAt time.Time

	probesMu     sync.Mutex
	cancelProbes context.CancelFunc
}

// configError is the error of a container whose configuration refers to a missing object. Like the kubelet, the node
// tries again to start such a container.
type configError struct{ err error }

func (e configError) Error() string { return e.err.Error() }
func (e configError) Unwrap() error { return e.err }

// startContainer starts a container and posts the result to the worker.
func (w *worker) startContainer(c *lifecycle.Container, number int, api *corev1.Pod) {
	a, err := w.launchContainer(c.Spec, number, api)
	var configuration configError
	switch {
	case errors.As(err, &configuration):
		w.node.recordPodEvent(api, corev1.EventTypeWarning, "Failed", "Error: "+err.Error())
		w.postToWorker(func() { c.CannotConfigure(lifecycle.ReasonConfigError, err.Error(), time.Now()) })
	case err != nil:
		w.node.recordPodEvent(api, corev1.EventTypeWarning, "Failed", "Error: "+err.Error())
		now := time.Now()
		w.postToWorker(func() {
			c.RecordAttemptEnd(lifecycle.End{Code: shim.CodeCannotStart, Reason: lifecycle.ReasonStartError, Message: err.Error(), StartedAt: now, FinishedAt: now})
		})
	default:
		w.postToWorker(func() {
			w.setAttempt(c.Spec.Name, a)
			c.RecordAttemptStart(a.id, a.startedAt)
			go w.awaitAttemptEnd(c, a)
			if a.failedToStart() == "" {
				a.handleStarted(c)
			}
		})
	}
}

// failedToStart returns the reason why the main process was never started, or "".
func (a *attempt) failedToStart() string {
	select {
	case <-a.container.Main().Done():
		return a.container.Main().Exit().StartError
	default:
		return ""
	}
}

// handleStarted records that the container is running, and starts its hook and probes.
func (a *attempt) handleStarted(c *lifecycle.Container) {
	a.worker.node.recordPodEvent(a.pod, corev1.EventTypeNormal, "Started", "Started container "+a.spec.Name)
	if len(a.process.Args) == 0 {
		a.worker.node.recordPodEvent(a.pod, corev1.EventTypeWarning, "NoCommand", "Container "+a.spec.Name+" has no command: process nodes do not pull the image "+a.spec.Image+
			", so its entrypoint is unknown. The container waits until it is stopped. Set command (or args) to run a program")
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.probesMu.Lock()
	a.cancelProbes = cancel
	a.probesMu.Unlock()
	go a.runHookAndProbes(ctx, c)
}

func (a *attempt) stopProbes() {
	a.probesMu.Lock()
	defer a.probesMu.Unlock()
	if a.cancelProbes != nil {
		a.cancelProbes()
	}
}

// awaitAttemptEnd waits for the attempt to end and posts the result.
func (w *worker) awaitAttemptEnd(c *lifecycle.Container, a *attempt) {
	<-a.container.Main().Done()
	a.stopProbes()
	a.streams.drainFiles(drainTime)
	a.log.Close()
	exit := a.container.Main().Exit()
	end := lifecycle.End{Code: exit.Code, Signal: exit.Signal, StartedAt: a.startedAt, FinishedAt: time.Now(), ID: a.id}
	switch {
	case exit.StartError != "":
		end.Reason, end.Message = lifecycle.ReasonStartError, exit.StartError
		w.node.recordPodEvent(a.pod, corev1.EventTypeWarning, "Failed", "Error: "+exit.StartError)
	case exit.Code == 0:
		end.Reason = lifecycle.ReasonCompleted
	case a.group.OutOfMemory():
		end.Reason = lifecycle.ReasonOOMKilled
	default:
		end.Reason = lifecycle.ReasonError
	}
	if end.Message == "" {
		end.Message = a.terminationMessage(exit.Code != 0)
	}
	use := a.group.ReadUse()
	a.group.RemoveGroup()
	sandbox.RemoveTree(a.directory)
	w.postToWorker(func() {
		w.addUse(c.Spec.Name, use)
		w.setAttempt(c.Spec.Name, nil)
		c.RecordAttemptEnd(end)
		if !w.pod.IsStopping() && end.Code != 0 && c.Attempt > 0 {
			w.node.recordPodEvent(a.pod, corev1.EventTypeWarning, "BackOff", "Back-off restarting failed container "+c.Spec.Name+" in pod "+a.pod.Name)
		}
	})
}

// Limits for a termination message, as in the kubelet.
const (
	maxMessageBytes  = 4096
	fallbackBytes    = 2048
	fallbackLines    = 80
	terminationFile  = "termination"
	defaultLogTarget = "/dev/termination-log"
)

// terminationMessage returns the termination message that the container has left.
func (a *attempt) terminationMessage(failed bool) string {
	text := readFileStart(a.terminationPath(), maxMessageBytes)
	if text == "" && failed && a.spec.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError {
		var out strings.Builder
		options := logfile.Options{Tail: fallbackLines, LimitBytes: -1}
		if logfile.Read(context.Background(), a.worker.logPath(a.spec.Name, a.number), nil, options, &out) == nil {
			text = out.String()
			if len(text) > fallbackBytes {
				text = text[len(text)-fallbackBytes:]
			}
		}
	}
	return strings.ToValidUTF8(text, "?")
}

func readFileStart(path string, limit int64) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit))
	if err != nil {
		return ""
	}
	return string(text)
}

// stopGracefully ends the container gracefully. It runs the preStop hook, and then sends the stop signal. After the
// deadline, the worker kills the container.
func (a *attempt) stopGracefully(until time.Time) {
	if a.spec.Lifecycle != nil && a.spec.Lifecycle.PreStop != nil {
		ctx, cancel := context.WithDeadline(context.Background(), until)
		if err := a.runLifecycleHook(ctx, a.spec.Lifecycle.PreStop); err != nil {
			a.worker.node.recordPodEvent(a.pod, corev1.EventTypeWarning, "FailedPreStopHook", "PreStopHook failed: "+err.Error())
		}
		cancel()
	}
	_ = a.container.Signal(a.container.Main(), a.stopSignal())
}

func (a *attempt) stopSignal() syscall.Signal {
	if a.spec.Lifecycle != nil && a.spec.Lifecycle.StopSignal != nil {
		if signal, ok := signals[string(*a.spec.Lifecycle.StopSignal)]; ok {
			return signal
		}
	}
	return syscall.SIGTERM
}

// signals lists the supported stop signals.
var signals = map[string]syscall.Signal{
	"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT, "SIGQUIT": syscall.SIGQUIT, "SIGHUP": syscall.SIGHUP, "SIGKILL": syscall.SIGKILL,
	"SIGUSR1": syscall.SIGUSR1, "SIGUSR2": syscall.SIGUSR2, "SIGABRT": syscall.SIGABRT, "SIGALRM": syscall.SIGALRM, "SIGWINCH": syscall.SIGWINCH,
}
