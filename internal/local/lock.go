package local

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// lock is held by the process that runs the cluster of a directory.
type lock struct{ file *os.File }

// errLocked says that another process runs the cluster.
var errLocked = errors.New("another process runs this cluster")

// takeLock locks the directory, or returns errLocked.
func takeLock(d Dir) (*lock, error) {
	file, err := os.OpenFile(d.lockFile(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, hinted("give a --dir on a local file system", "%s cannot be locked: %v", d.lockFile(), err)
	}
	return &lock{file}, nil
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
// taken for a running one: only the lock counts.
func Find(d Dir) (Record, bool, error) {
	held, err := locked(d)
	if err != nil || !held {
		return Record{}, false, err
	}
	r, err := d.readRecord()
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // It has only just begun.
	}
	return r, true, err
}

// writeJSON replaces a file in one step, so that a reader never sees half of it.
func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func readJSON(path string, value any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, value)
}
