package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/usererror"
)

// lock is the lock of a directory. It is held by the process that runs the directory's cluster.
type lock struct{ file *os.File }

// errLocked is returned if another process is running the cluster.
var errLocked = errors.New("another process is already running this cluster")

const (
	// lockPatience is how long a lock must be held to count as the lock of a running cluster. A process that only
	// checks the lock (see isLockHeld) holds it only briefly.
	lockPatience = 100 * time.Millisecond
	lockPoll     = 2 * time.Millisecond
)

// takeLock locks the directory or returns errLocked.
func takeLock(d Dir) (*lock, error) {
	file, err := os.OpenFile(d.lockFile(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(lockPoll) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return &lock{file}, nil
		}
		if errors.Is(err, syscall.EWOULDBLOCK) && time.Now().Before(deadline) {
			continue
		}
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, usererror.Wrapf("specify a --dir on a local file system", "%s cannot be locked: %v", d.lockFile(), err)
	}
}

// takeOverDir locks the directory for a process that will run its cluster. It immediately removes the record of a
// killed process, so that other processes do not mistake it for the record of this process.
func takeOverDir(d Dir) (*lock, error) {
	held, err := takeLock(d)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(d.recordFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		held.releaseLock()
		return nil, explainFullDisk(d, err)
	}
	return held, nil
}

func (l *lock) releaseLock() { _ = l.file.Close() }

// isLockHeld reports whether a process currently holds the lock.
func isLockHeld(d Dir) (bool, error) {
	file, err := os.Open(d.lockFile())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// Record describes a running process. The process writes the record to its directory, where other processes can find
// it.
type Record struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	// ProcessStart is the start time of the process, in ticks since the machine was booted. Together with the PID, it
	// identifies a process uniquely. 0 means unknown.
	ProcessStart uint64 `json:"processStart,omitempty"`
	// Ready is true once the start is complete.
	Ready bool `json:"ready"`
	// Server is the URL of the API server.
	Server string `json:"server,omitempty"`
	// Kubeconfig is the path printed by `up`.
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// Socket is the path of the process's control socket (see Client).
	Socket string `json:"socket,omitempty"`
}

func (d Dir) writeRecord(r Record) error { return writeJSON(d.recordFile(), r) }

func (d Dir) readRecord() (Record, error) {
	var r Record
	err := readJSON(d.recordFile(), &r)
	return r, err
}

// FindRecord returns the record of the process that is running the cluster in a directory. It returns false if no
// process holds the lock, so a record left by a killed process is ignored. If the process has not written its record
// yet, the record is empty.
func FindRecord(d Dir) (Record, bool, error) {
	held, err := isLockHeld(d)
	if err != nil || !held {
		return Record{}, false, err
	}
	r, err := d.readRecord()
	if errors.Is(err, fs.ErrNotExist) || (err == nil && !r.isProcessAlive()) {
		return Record{}, true, nil // the process has only just started
	}
	return r, true, err
}

// isProcessAlive reports whether the process that wrote the record is still running. Another process with the same PID
// does not count.
func (r Record) isProcessAlive() bool {
	start, ok := processStart(r.PID)
	return ok && (r.ProcessStart == 0 || r.ProcessStart == start)
}

// processStart returns the start time of a process, in ticks since the machine was booted. It returns false if the
// process does not exist or is a zombie.
func processStart(pid int) (uint64, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name in parentheses may contain any characters. It is followed by the state and, 19 fields later, the start
	// time.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return 0, false
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	return start, err == nil
}

// writeJSON replaces a file atomically, so that a reader never sees an incomplete file, even after a power failure.
func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	err = writeSynced(path+".new", append(data, '\n'))
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		_ = os.Remove(path + ".new")
	}
	return err
}

func writeSynced(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func readJSON(path string, value any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, value)
}
