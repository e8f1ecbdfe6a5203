package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"
)

func TestRecordOfAKilledProcessHasNoOwner(t *testing.T) {
	t.Run("its pid belongs to another process by now: it is neither found nor stopped", func(t *testing.T) {
		d := newDir(t)
		other := exec.Command("sleep", "1000")
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { _ = other.Wait(); close(ended) }()
		defer func() { _ = other.Process.Kill(); <-ended }()
		held, err := takeLock(d) // a new process that has not written its record yet
		if err != nil {
			t.Fatal(err)
		}
		defer held.releaseLock()
		write(t, string(d), "run.json", fmt.Sprintf(`{"pid": %d, "ready": true, "processStart": 1}`, other.Process.Pid))
		if found, running, err := FindRecord(d); found.PID != 0 || found.Ready || !running || err != nil {
			t.Errorf("found %+v, %v, %v", found, running, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := StopCluster(ctx, d, false); err == nil {
			t.Error("down came through although the lock is held")
		}
		select {
		case <-ended:
			t.Error("down stopped somebody's process")
		default:
		}
	})
	t.Run("it goes as soon as the lock is taken for a new run", func(t *testing.T) {
		d := newDir(t)
		write(t, string(d), "run.json", fmt.Sprintf(`{"pid": %d, "ready": true}`, os.Getpid()))
		held, err := takeOverDir(d)
		if err != nil {
			t.Fatal(err)
		}
		defer held.releaseLock()
		if found, running, err := FindRecord(d); found.PID != 0 || !running || err != nil {
			t.Errorf("found %+v, %v, %v", found, running, err)
		}
	})
	t.Run("our own is alive, with its start and without", func(t *testing.T) {
		r := newOwnRecord()
		if r.ProcessStart == 0 || !r.isProcessAlive() || !(Record{PID: r.PID}).isProcessAlive() {
			t.Errorf("%+v", r)
		}
		r.ProcessStart++
		if r.isProcessAlive() {
			t.Error("one that started at another time is taken for it")
		}
	})
}

func TestALookDoesNotKeepTheLockFromBeingTaken(t *testing.T) {
	d := newDir(t)
	held, err := takeLock(d)
	if err != nil {
		t.Fatal(err)
	}
	held.releaseLock()
	var stop atomic.Bool
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for !stop.Load() {
			_, _, _ = FindRecord(d)
		}
	}()
	failed := 0
	for range 2000 {
		if held, err := takeLock(d); err != nil {
			failed++
		} else {
			held.releaseLock()
		}
	}
	stop.Store(true)
	<-stopped
	if failed > 0 {
		t.Errorf("the lock was not taken %d times of 2000", failed)
	}
}

func TestAFileThatCannotBeReplacedLeavesNoOther(t *testing.T) {
	path := t.TempDir() + "/run.json"
	if err := os.Mkdir(path, 0o700); err != nil { // a file cannot replace a directory
		t.Fatal(err)
	}
	if err := writeJSON(path, 1); err == nil {
		t.Error("a directory was replaced")
	}
	if _, err := os.Stat(path + ".new"); !os.IsNotExist(err) {
		t.Errorf("the new file stays: %v", err)
	}
}
