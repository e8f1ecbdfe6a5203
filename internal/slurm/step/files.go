package step

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/usererror"
)

// fileRequest requests copying a file to or from a pod.
type fileRequest struct {
	Path string `json:"path"`
	// Force replaces an existing file. It applies only to copies to the pod.
	Force bool `json:"force,omitempty"`
	// Stamp holds the mode and times of the source. It applies only to copies to the pod.
	Stamp fileStamp `json:"stamp"`
	// Remove removes the file after the peer has received it. It applies only to copies from the pod.
	Remove bool `json:"remove,omitempty"`
	// Tree permits a directory, which is sent as an archive. It applies only to copies from the pod.
	Tree bool `json:"tree,omitempty"`
}

// fileStamp holds the attributes of a file that a copy preserves.
type fileStamp struct {
	Mode fs.FileMode `json:"mode"`
	// Accessed and Modified are in nanoseconds since the epoch; 0 leaves the times of the copy unchanged.
	Accessed int64 `json:"accessed,omitempty"`
	Modified int64 `json:"modified,omitempty"`
}

// newFileStamp returns the attributes of a file. The times are included only if withTimes is true.
func newFileStamp(info fs.FileInfo, withTimes bool) fileStamp {
	s := fileStamp{Mode: info.Mode().Perm()}
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

// newFile is a copy under a temporary name. It gets its final name when it is complete.
type newFile struct {
	*os.File
	path  string
	force bool
	stamp fileStamp
}

// createFile creates a temporary file in the directory of path, so that an incomplete copy is never visible under its
// final name.
func createFile(path string, force bool, stamp fileStamp) (*newFile, error) {
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, syscall.EISDIR
	case err == nil && !force:
		return nil, syscall.EEXIST
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, systemReason(err)
	}
	return &newFile{File: file, path: path, force: force, stamp: stamp}, nil
}

// complete sets the mode, times and final name of the copy.
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
		return systemReason(err)
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
	left, right := make([]byte, chunk), make([]byte, chunk)
	for {
		n, errLeft := io.ReadFull(a, left)
		m, errRight := io.ReadFull(b, right)
		switch {
		case !bytes.Equal(left[:n], right[:m]):
			return false
		case errLeft != nil || errRight != nil:
			return isEndOfFile(errLeft) && isEndOfFile(errRight)
		}
	}
}

// isEndOfFile reports whether err marks the end of a file.
func isEndOfFile(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// discard removes the temporary file.
func (f *newFile) discard() {
	_ = f.Close()
	_ = os.Remove(f.Name())
}

// storeFile writes the file that the peer sends. It responds twice: when it is ready for the data, and when all data
// has been written.
func storeFile(w *wire, r *fileRequest) error {
	file, err := createFile(r.Path, r.Force, r.Stamp)
	if err != nil {
		return addForceHint(err)
	}
	if err := w.sendFrame(answerFrame, 0, []byte("{}")); err != nil {
		file.discard()
		return err
	}
	for {
		f, err := w.receiveFrame()
		if err == nil && f.kind == stdinFrame {
			_, err = file.Write(f.data)
		}
		switch {
		case err != nil:
			file.discard()
			return systemReason(err)
		case f.kind == stdinEndFrame:
			if err := file.complete(); err != nil {
				return addForceHint(err)
			}
			return w.sendFrame(answerFrame, 0, []byte("{}"))
		}
	}
}

// addForceHint adds a hint to the error about a file that exists already.
func addForceHint(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return usererror.WithHint(err, "use --force to replace it")
	}
	return err
}

// fetchFile sends a file or a directory: first its attributes, then its content, then a response. The peer confirms
// that it has received everything.
func fetchFile(w *wire, r *fileRequest) error {
	file, err := os.Open(r.Path)
	if err != nil {
		return systemReason(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return systemReason(err)
	}
	isTree := info.IsDir() && r.Tree
	if !info.Mode().IsRegular() && !isTree {
		return errors.New("not a regular file")
	}
	stamp := newFileStamp(info, true)
	stamp.Mode |= info.Mode().Type()
	if err := w.sendJSON(answerFrame, 0, stamp); err != nil {
		return err
	}
	if isTree {
		err = sendTree(stream{w, stdoutFrame, 0}, r.Path)
	} else {
		_, err = io.Copy(stream{w, stdoutFrame, 0}, file)
	}
	if err != nil {
		return systemReason(err)
	}
	if err := w.sendFrame(answerFrame, 0, []byte("{}")); err != nil {
		return err
	}
	f, err := w.receiveFrame()
	switch {
	case err != nil:
		return err
	case f.kind != stdinEndFrame:
		return fmt.Errorf("the end of a file is followed by a message of kind %d", f.kind)
	case r.Remove:
		remove := os.Remove
		if isTree {
			remove = removeTree
		}
		// On a shared disk, another node of the job may already have removed the file.
		if err := remove(r.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return systemReason(err)
		}
	}
	return w.sendFrame(answerFrame, 0, []byte("{}"))
}

// systemReason returns the system's description of an error, without the call and the path.
func systemReason(err error) error {
	var number syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newSlurmError("No such file or directory")
	case errors.As(err, &number):
		return number
	}
	return err
}
