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
)

// lock is held by the process that runs the cluster of a directory.
type lock struct{ file *os.File }

// errLocked says that another process runs the cluster.
var errLocked = errors.New("another process runs this cluster")

const (
	// lockPatience is how long a lock may be held until it is taken for that
	// of a running cluster: one that only looks (see locked) holds it for a moment.
	lockPatience = 100 * time.Millisecond
	lockPoll     = 2 * time.Millisecond
)

// takeLock locks the directory, or returns errLocked.
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
		return nil, hinted("give a --dir on a local file system", "%s cannot be locked: %v", d.lockFile(), err)
	}
}

// takeOver locks the directory for a process that will run its cluster. The
// record of a killed process goes at once, so that nobody takes it for ours.
func takeOver(d Dir) (*lock, error) {
	held, err := takeLock(d)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(d.recordFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		held.release()
		return nil, explainDisk(d, err)
	}
	return held, nil
}

func (l *lock) release() { _ = l.file.Close() }

// locked says whether some process holds the lock now.
func locked(d Dir) (bool, error) {
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

// Record is what a running process leaves in its directory for others to find it.
type Record struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	// ProcessStart is the process's start in ticks since the machine's: with
	// the PID it names one process for ever. 0: not known.
	ProcessStart uint64 `json:"processStart,omitempty"`
	// Ready is set when `up` is through.
	Ready bool `json:"ready"`
	// Server is the URL of the API server.
	Server string `json:"server,omitempty"`
	// Kubeconfig is the file that `up` printed.
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// Socket is where the process answers (see Client).
	Socket string `json:"socket,omitempty"`
}

func (d Dir) writeRecord(r Record) error { return writeJSON(d.recordFile(), r) }

func (d Dir) readRecord() (Record, error) {
	var r Record
	err := readJSON(d.recordFile(), &r)
	return r, err
}

// Find returns the record of the process that runs the cluster of a
// directory; false when none runs. A record left by a killed process is not
// taken for a running one: only the lock counts. While a new process holds
// the lock and has not written its record yet, the record is empty.
func Find(d Dir) (Record, bool, error) {
	held, err := locked(d)
	if err != nil || !held {
		return Record{}, false, err
	}
	r, err := d.readRecord()
	if errors.Is(err, fs.ErrNotExist) || err == nil && !r.alive() {
		return Record{}, true, nil // It has only just begun.
	}
	return r, true, err
}

// alive says whether the process that wrote the record runs, and not another
// one with its PID.
func (r Record) alive() bool {
	start, ok := processStart(r.PID)
	return ok && (r.ProcessStart == 0 || r.ProcessStart == start)
}

// processStart is when a process started, in ticks since the machine's start;
// false when there is none, or only one that waits to be reaped.
func processStart(pid int) (uint64, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name in parentheses may hold anything; after it comes the state, and
	// 19 fields later the start.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return 0, false
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	return start, err == nil
}

// writeJSON replaces a file in one step, so that a reader never sees half of
// it, not even after a power failure.
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
