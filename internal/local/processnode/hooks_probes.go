package processnode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/local/processnode/lifecycle"
	"github.com/vc-batch/vc/internal/local/processnode/probe"
	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
)

// runHookAndProbes runs the postStart hook and the probes of a running container until ctx is done.
func (a *attempt) runHookAndProbes(ctx context.Context, c *lifecycle.Container) {
	if a.spec.Lifecycle != nil && a.spec.Lifecycle.PostStart != nil {
		if err := a.runLifecycleHook(ctx, a.spec.Lifecycle.PostStart); err != nil && ctx.Err() == nil {
			a.worker.node.recordPodEvent(a.pod, corev1.EventTypeWarning, "FailedPostStartHook", "PostStartHook failed: "+err.Error())
			a.worker.postToWorker(func() { a.restartContainer(c, nil) })
			return
		}
	}
	if a.spec.StartupProbe != nil && !a.awaitStartup(ctx, c) {
		return
	}
	a.changeContainer(c, func() { c.Started = true })
	if a.spec.LivenessProbe != nil {
		go a.watchLiveness(ctx, c)
	}
	if a.spec.ReadinessProbe != nil {
		go a.watchReadiness(ctx, c)
	}
}

// changeContainer calls change in the worker's goroutine if this attempt is still the container's current one.
func (a *attempt) changeContainer(c *lifecycle.Container, change func()) {
	a.worker.postToWorker(func() {
		if a.isCurrentAttempt(c) {
			change()
		}
	})
}

// watchLiveness restarts the container when its liveness probe fails, until ctx is done.
func (a *attempt) watchLiveness(ctx context.Context, c *lifecycle.Container) {
	probe.Run(ctx, a.spec.LivenessProbe, a.probeTarget(), func(result probe.Result, message string) {
		if result == probe.Failure {
			a.recordUnhealthy("Liveness", message)
			a.worker.postToWorker(func() { a.restartContainer(c, a.spec.LivenessProbe.TerminationGracePeriodSeconds) })
		}
	})
}

// watchReadiness records the results of the readiness probe until ctx is done.
func (a *attempt) watchReadiness(ctx context.Context, c *lifecycle.Container) {
	probe.Run(ctx, a.spec.ReadinessProbe, a.probeTarget(), func(result probe.Result, message string) {
		if result == probe.Failure {
			a.recordUnhealthy("Readiness", message)
		}
		a.changeContainer(c, func() { c.Healthy = result == probe.Success })
	})
}

// awaitStartup waits until the startup probe succeeds. It returns false if the probe failed or the container has
// ended.
func (a *attempt) awaitStartup(ctx context.Context, c *lifecycle.Container) bool {
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	passed := false
	probe.Run(asking, a.spec.StartupProbe, a.probeTarget(), func(result probe.Result, message string) {
		passed = result == probe.Success
		if !passed {
			a.recordUnhealthy("Startup", message)
			a.worker.postToWorker(func() { a.restartContainer(c, a.spec.StartupProbe.TerminationGracePeriodSeconds) })
		}
		cancel()
	})
	return passed
}

func (a *attempt) recordUnhealthy(which, message string) {
	a.worker.node.recordPodEvent(a.pod, corev1.EventTypeWarning, "Unhealthy", which+" probe failed: "+message)
}

// isCurrentAttempt reports whether this attempt is still the container's current one. Only the worker's goroutine may
// call it.
func (a *attempt) isCurrentAttempt(c *lifecycle.Container) bool {
	return a.worker.runningAttempt(c.Spec.Name) == a && c.Stage == lifecycle.Running
}

// restartContainer stops the container. The restart policy then decides whether it starts again. Only the worker's
// goroutine may call it.
func (a *attempt) restartContainer(c *lifecycle.Container, graceSeconds *int64) {
	if !a.isCurrentAttempt(c) || a.worker.pod.IsStopping() {
		return
	}
	if graceSeconds == nil {
		graceSeconds = a.pod.Spec.TerminationGracePeriodSeconds
	}
	grace := 30 * time.Second
	if graceSeconds != nil {
		grace = time.Duration(*graceSeconds) * time.Second
	}
	if action, ok := a.worker.pod.RestartContainer(c, grace, time.Now()); ok {
		a.worker.startAction(action)
	}
}

func (a *attempt) probeTarget() probe.Target {
	a.worker.mu.Lock()
	defer a.worker.mu.Unlock()
	address := a.worker.node.hostIP
	if a.worker.podEnv != nil {
		address = a.worker.podEnv.address
	}
	return probe.Target{Address: address, Container: a.spec, Exec: a.runInContainer}
}

// runLifecycleHook runs a lifecycle handler of the container.
func (a *attempt) runLifecycleHook(ctx context.Context, handler *corev1.LifecycleHandler) error {
	switch {
	case handler.Exec != nil:
		return a.runInContainer(ctx, handler.Exec.Command)
	case handler.HTTPGet != nil:
		return probe.GetForHook(ctx, handler.HTTPGet, a.probeTarget())
	case handler.Sleep != nil:
		sleepContext(ctx, time.Duration(handler.Sleep.Seconds)*time.Second)
		return nil
	}
	return errors.New("the hook must specify exec, httpGet or sleep")
}

// maxCheckOutput is the maximum number of bytes of a failed command's output that are included in an event.
const maxCheckOutput = 1 << 10

// runInContainer runs a command in the container. If the exit code is not 0, it returns an error that contains the
// output.
func (a *attempt) runInContainer(ctx context.Context, command []string) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		_ = write.Close()
		return err
	}
	process := a.process
	process.Args, process.TTY = command, false
	started, err := a.container.Exec(process, sandbox.Files{null, write, write})
	_ = null.Close()
	_ = write.Close()
	if err != nil {
		return err
	}
	var output bytes.Buffer
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		copyLimited(&output, read, maxCheckOutput)
	}()
	select {
	case <-started.Done():
	case <-ctx.Done():
		_ = a.container.Signal(started, syscall.SIGKILL)
		<-started.Done()
	}
	// Processes left behind by the command may hold the pipe open.
	_ = read.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	<-copied
	if ctx.Err() == context.DeadlineExceeded {
		return fmt.Errorf("command timed out: %q", strings.Join(command, " "))
	}
	exit := started.Exit()
	if exit.StartError != "" {
		return errors.New(exit.StartError)
	}
	if exit.Code != 0 {
		return fmt.Errorf("exit code %d: %s", exit.Code, strings.TrimSpace(output.String()))
	}
	return nil
}

// copyLimited copies the first bytes, up to limit, and discards the rest, so that the writer does not block.
func copyLimited(out *bytes.Buffer, in *os.File, limit int) {
	buffer := make([]byte, 4<<10)
	for {
		n, err := in.Read(buffer)
		if room := limit - out.Len(); room > 0 {
			out.Write(buffer[:min(n, room)])
		}
		if err != nil {
			return
		}
	}
}
