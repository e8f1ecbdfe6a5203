package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/local/nodespec"
	"github.com/vc-batch/vc/internal/local/processnode"
	"github.com/vc-batch/vc/internal/usererror"
)

const (
	// gentleStop is how long to wait for a cluster to stop by itself. It includes the grace periods of the pods.
	gentleStop = 60 * time.Second
	// stopPoll is how often a stopping process is checked.
	stopPoll = 50 * time.Millisecond
)

// Stopped is the result of StopCluster.
type Stopped struct {
	// WasRunning is true if a process was running. It has ended by the time StopCluster returns.
	WasRunning bool
	// Killed is true if the process had to be killed.
	Killed bool
	// Pods is the number of stopped pods on process nodes.
	Pods int
	// Purged is true if the directory was removed.
	Purged bool
}

// StopCluster stops the cluster in a directory and removes the processes, mounts and networks that it leaves behind. It
// is not an error if no cluster is running. If purge is true, StopCluster also removes the directory.
func StopCluster(ctx context.Context, d Dir, purge bool) (Stopped, error) {
	var result Stopped
	if ours, err := d.isClusterDir(); !ours {
		return result, err // there is no directory, or it is not a cluster directory: leave it alone
	} else if err != nil && !purge {
		return result, err // a directory of another version can only be removed
	}
	settings, _, _ := LoadSettings(d)
	pods := runningPods(ctx, d)
	var err error
	if result.WasRunning, result.Killed, err = endProcess(ctx, d); err != nil {
		return result, err
	}
	if result.WasRunning {
		result.Pods = pods
	}
	if _, err := os.Stat(string(d)); errors.Is(err, os.ErrNotExist) {
		result.Purged = true // an ephemeral cluster removed itself
		return result, nil
	}
	held, err := takeLock(d)
	if err != nil {
		return result, usererror.Wrapf("try again", "the cluster in %s was started again in the meantime: %v", d, err)
	}
	defer held.releaseLock()
	if err := processnode.CleanUpNodes(d.nodesDir()); err != nil {
		return result, usererror.Wrapf("run vc-local down again as the user who started the cluster", "process nodes could not be cleaned up: %v", err)
	}
	_ = os.Remove(d.recordFile())
	_ = os.Remove(d.pathInDir("control.sock"))
	if !purge && !settings.Ephemeral {
		return result, nil
	}
	if settings.Kubeconfig != "" && CheckKubeconfig(settings.Kubeconfig) == nil {
		_ = os.Remove(settings.Kubeconfig)
	}
	if err := d.removeClusterDir(); err != nil {
		return result, usererror.Wrapf("remove the directory manually", "%s cannot be removed completely: %v", d, err)
	}
	result.Purged = true
	return result, nil
}

// countTimeout is how long to wait for the status of a cluster that is about to be stopped.
const countTimeout = 2 * time.Second

// runningPods returns the number of pods on process nodes, which end together with the cluster. (Pods on simulated
// nodes continue after the next start.) If the cluster does not respond, it returns 0.
func runningPods(ctx context.Context, d Dir) int {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	record, running, err := FindRecord(d)
	if err != nil || !running || !record.Ready {
		return 0
	}
	status, err := NewClient(record).Status(ctx)
	if err != nil {
		return 0
	}
	count := 0
	for _, node := range status.Nodes {
		if node.Kind == nodespec.KindProcess {
			count += node.Pods
		}
	}
	return count
}

// endProcess requests that the running process end, and kills it if it does not end in time.
func endProcess(ctx context.Context, d Dir) (wasRunning, killed bool, err error) {
	record, running, err := FindRecord(d)
	if err != nil || !running {
		return false, false, err
	}
	for deadline := time.Now().Add(gentleStop); record.PID == 0; { // the process has only just locked the directory
		if time.Now().After(deadline) {
			return true, false, usererror.Wrapf("run vc-local down on the machine or in the container where you started the cluster", "the process that runs the cluster in %s was not found", d)
		}
		select {
		case <-time.After(stopPoll):
		case <-ctx.Done():
			return true, false, ctx.Err()
		}
		if record, running, err = FindRecord(d); err != nil || !running {
			return true, false, err
		}
	}
	// The handle refers to this process even if the PID is reused, so check whether it is the right process only after
	// the handle has been created.
	process, err := os.FindProcess(record.PID)
	if err != nil {
		return true, false, err
	}
	defer func() { _ = process.Release() }()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		killed = signal == syscall.SIGKILL
		if err := signalRecorded(process, record, signal); err != nil {
			return true, killed, usererror.Wrapf("stop the process as the user who started it", "process %d cannot be stopped: %v", record.PID, err)
		}
		ended, err := waitUnlocked(ctx, d, gentleStop)
		if err != nil || ended {
			waitUntilGone(ctx, record)
			return true, killed, err
		}
	}
	return true, true, usererror.Wrapf("check the process with: ps -fp "+fmt.Sprint(record.PID), "process %d does not exit, even after SIGKILL", record.PID)
}

// signalRecorded sends a signal to the process that wrote the record, but not to a process that has reused its PID.
func signalRecorded(process *os.Process, record Record, signal syscall.Signal) error {
	if !record.isProcessAlive() {
		return nil
	}
	if err := process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// waitUntilGone waits for a process that has released its directory to end.
func waitUntilGone(ctx context.Context, record Record) {
	for deadline := time.Now().Add(endingGrace); time.Now().Before(deadline) && ctx.Err() == nil && record.isProcessAlive(); {
		time.Sleep(stopPoll)
	}
}

// waitUnlocked waits until no process holds the directory's lock. It returns false if this takes longer than atMost.
func waitUnlocked(ctx context.Context, d Dir, atMost time.Duration) (bool, error) {
	deadline := time.Now().Add(atMost)
	for time.Now().Before(deadline) {
		held, err := isLockHeld(d)
		if err != nil || !held {
			return !held, err
		}
		select {
		case <-time.After(stopPoll):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return false, nil
}
