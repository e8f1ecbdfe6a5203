package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/local/processnode"
)

const (
	// gentleStop is how long a cluster may take to end by itself. Pods get
	// their grace periods in it.
	gentleStop = 60 * time.Second
	// stopPoll is how often an ending process is looked at.
	stopPoll = 50 * time.Millisecond
)

// Stopped says what Down found and did.
type Stopped struct {
	// WasRunning: a process ran and has ended.
	WasRunning bool
	// Killed: it had to be killed.
	Killed bool
	// Pods is how many pods ran on its process nodes, and were stopped.
	Pods int
	// Purged: the directory is gone.
	Purged bool
}

// Down ends the cluster of a directory and removes what it may have left:
// processes, mounts, networks. It is no error when nothing runs. purge removes
// the directory too.
func Down(ctx context.Context, d Dir, purge bool) (Stopped, error) {
	var result Stopped
	if ours, err := d.owned(); err != nil && !ours || !ours {
		return result, err // Nothing there, or nothing of ours: left alone.
	} else if err != nil && !purge {
		return result, err // Of another version: only to be removed.
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
		result.Purged = true // It was ephemeral and removed itself.
		return result, nil
	}
	held, err := takeLock(d)
	if err != nil {
		return result, hinted("try again", "the cluster in %s was started again meanwhile: %v", d, err)
	}
	defer held.release()
	if err := processnode.Cleanup(d.nodesDir()); err != nil {
		return result, hinted("run vc-local down once more, with the rights that ran the cluster", "leftovers of process nodes stay: %v", err)
	}
	_ = os.Remove(d.recordFile())
	_ = os.Remove(d.join("control.sock"))
	if !purge && !settings.Ephemeral {
		return result, nil
	}
	if settings.Kubeconfig != "" && CheckKubeconfig(settings.Kubeconfig) == nil {
		_ = os.Remove(settings.Kubeconfig)
	}
	if err := d.remove(); err != nil {
		return result, hinted("remove it by hand", "%s cannot be removed whole: %v", d, err)
	}
	result.Purged = true
	return result, nil
}

// countTimeout is how long a cluster that is to be stopped may take to say what runs on it.
const countTimeout = 2 * time.Second

// runningPods is how many pods end with the process: those of process nodes. Simulated ones go on at the next start. A cluster
// that does not answer has none that could be told of.
func runningPods(ctx context.Context, d Dir) int {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	record, running, err := Find(d)
	if err != nil || !running || !record.Ready {
		return 0
	}
	status, err := NewClient(record).Status(ctx)
	if err != nil {
		return 0
	}
	count := 0
	for _, node := range status.Nodes {
		if node.Kind == KindProcess {
			count += node.Pods
		}
	}
	return count
}

// endProcess asks the running process to end, and kills it when it does not.
func endProcess(ctx context.Context, d Dir) (wasRunning, killed bool, err error) {
	record, running, err := Find(d)
	if err != nil || !running {
		return false, false, err
	}
	for deadline := time.Now().Add(gentleStop); record.PID == 0; { // It has only just locked the directory.
		if time.Now().After(deadline) {
			return true, false, hinted("run vc-local down where the cluster was started (not from another container)", "the process that runs the cluster in %s is not found", d)
		}
		select {
		case <-time.After(stopPoll):
		case <-ctx.Done():
			return true, false, ctx.Err()
		}
		if record, running, err = Find(d); err != nil || !running {
			return true, false, err
		}
	}
	// The handle is of one process for ever; only then is it seen whether it is the right one.
	process, err := os.FindProcess(record.PID)
	if err != nil {
		return true, false, err
	}
	defer func() { _ = process.Release() }()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		killed = signal == syscall.SIGKILL
		if err := signalRecorded(process, record, signal); err != nil {
			return true, killed, hinted("stop it as the user who started it", "process %d cannot be stopped: %v", record.PID, err)
		}
		ended, err := waitUnlocked(ctx, d, gentleStop)
		if err != nil || ended {
			waitGone(ctx, record)
			return true, killed, err
		}
	}
	return true, true, hinted("look at it with: ps -fp "+fmt.Sprint(record.PID), "process %d does not end, not even killed", record.PID)
}

// signalRecorded signals the process that wrote the record; one that has got
// its PID since is left alone.
func signalRecorded(process *os.Process, record Record, signal syscall.Signal) error {
	if !record.alive() {
		return nil
	}
	if err := process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// waitGone gives a process that has let go of its directory the moment that it
// still needs to end.
func waitGone(ctx context.Context, record Record) {
	for deadline := time.Now().Add(endingGrace); time.Now().Before(deadline) && ctx.Err() == nil && record.alive(); {
		time.Sleep(stopPoll)
	}
}

// waitUnlocked waits until no process holds the lock of the directory.
func waitUnlocked(ctx context.Context, d Dir, atMost time.Duration) (bool, error) {
	deadline := time.Now().Add(atMost)
	for time.Now().Before(deadline) {
		held, err := locked(d)
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
