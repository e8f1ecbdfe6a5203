// Package filecopy copies files and directories between the pods of a job, for sbcast and sgather. An agent calls Store
// and Fetch, and the commands are the peers.
//
// # Invariants
//
//   - A copy gets its final name only when it is complete.
//   - An archive cannot write outside its directory.
package filecopy

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// NewStamp returns the attributes of a file. The times are included only if withTimes is true.
func NewStamp(info fs.FileInfo, withTimes bool) protocol.FileStamp {
	s := protocol.FileStamp{Mode: info.Mode().Perm()}
	if !withTimes {
		return s
	}
	s.Modified = info.ModTime().UnixNano()
	s.Accessed = s.Modified
	if system, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Accessed = time.Unix(system.Atim.Unix()).UnixNano()
	}
	return s
}

// newFile is a copy that has a temporary name. It gets its final name when it is complete.
type newFile struct {
	*os.File
	path  string
	force bool
	stamp protocol.FileStamp
}

// createFile creates a temporary file in the directory of path, so that an incomplete copy is never visible under its
// final name.
func createFile(path string, force bool, stamp protocol.FileStamp) (*newFile, error) {
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, syscall.EISDIR
	case err == nil && !force:
		return nil, syscall.EEXIST
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, slurmerror.SystemReason(err)
	}
	return &newFile{File: file, path: path, force: force, stamp: stamp}, nil
}

// complete sets the mode and times of the copy, and gives the copy its final name.
func (f *newFile) complete() error {
	err := errors.Join(f.Chmod(f.stamp.Mode), f.Close())
	if err == nil && f.stamp.Modified != 0 {
		err = os.Chtimes(f.Name(), time.Unix(0, f.stamp.Accessed), time.Unix(0, f.stamp.Modified))
	}
	switch {
	case err != nil:
	case f.force:
		err = os.Rename(f.Name(), f.path)
	default:
		err = os.Link(f.Name(), f.path) // fails if a file with that name was created in the meantime
		if errors.Is(err, syscall.EEXIST) && isSameFile(f.Name(), f.path) {
			err = nil // another node of the job writes to the same disk
		}
	}
	f.discard()
	if err != nil {
		return slurmerror.SystemReason(err)
	}
	return nil
}

// isSameFile reports whether two files have the same content.
func isSameFile(one, other string) bool {
	a, err := os.Open(one)
	if err != nil {
		return false
	}
	defer a.Close()
	b, err := os.Open(other)
	if err != nil {
		return false
	}
	defer b.Close()
	left, right := make([]byte, protocol.ChunkSize), make([]byte, protocol.ChunkSize)
	for {
		n, errLeft := io.ReadFull(a, left)
		m, errRight := io.ReadFull(b, right)
		switch {
		case !bytes.Equal(left[:n], right[:m]):
			return false
		case errLeft != nil || errRight != nil:
			return IsEndOfFile(errLeft) && IsEndOfFile(errRight)
		}
	}
}

// IsEndOfFile reports whether err marks the end of a file.
func IsEndOfFile(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// discard closes and removes the temporary file.
func (f *newFile) discard() {
	_ = f.Close()
	_ = os.Remove(f.Name())
}
