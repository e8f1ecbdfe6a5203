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
)

// fileRequest is a file that is copied to or from a pod.
type fileRequest struct {
	Path string `json:"path"`
	// Force replaces a file that is there. Of a copy to the pod only.
	Force bool `json:"force,omitempty"`
	// Stamp is that of the source. Of a copy to the pod only.
	Stamp fileStamp `json:"stamp"`
	// Remove removes the file when the other side has it. Of a copy from the pod only.
	Remove bool `json:"remove,omitempty"`
	// Tree permits a directory, which comes as an archive. Of a copy from the pod only.
	Tree bool `json:"tree,omitempty"`
}

// fileStamp is what a copy keeps of a file beside its content.
type fileStamp struct {
	Mode fs.FileMode `json:"mode"`
	// Accessed and Modified are in nanoseconds of the epoch; 0 leaves the times of the copy alone.
	Accessed int64 `json:"accessed,omitempty"`
	Modified int64 `json:"modified,omitempty"`
}

// stampOf returns the stamp of a file, with its times if they are to be kept.
func stampOf(info fs.FileInfo, withTimes bool) fileStamp {
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

// newFile is a copy that gets its name when it is complete.
type newFile struct {
	*os.File
	path  string
	force bool
	stamp fileStamp
}

// createFile begins a copy beside its place, so that no one ever sees half of it.
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
		return nil, reasonOf(err)
	}
	return &newFile{File: file, path: path, force: force, stamp: stamp}, nil
}

// complete gives the copy its mode, times and name.
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
		err = os.Link(f.Name(), f.path) // fails if a file of that name has come in the meantime
		if errors.Is(err, syscall.EEXIST) && isSameFile(f.Name(), f.path) {
			err = nil // another node of the job writes to the same disk
		}
	}
	f.discard()
	if err != nil {
		return reasonOf(err)
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
			return isEnd(errLeft) && isEnd(errRight)
		}
	}
}

// isEnd reports whether all of a file was read.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// discard removes what there is of the copy under its temporary name.
func (f *newFile) discard() {
	_ = f.Close()
	_ = os.Remove(f.Name())
}

// storeFile writes the file that the other side sends. It answers twice: that the data may come, and that all of it is written.
func storeFile(w *wire, r *fileRequest) error {
	file, err := createFile(r.Path, r.Force, r.Stamp)
	if err != nil {
		return err
	}
	if err := w.send(answerFrame, 0, []byte("{}")); err != nil {
		file.discard()
		return err
	}
	for {
		f, err := w.receive()
		if err == nil && f.kind == stdinFrame {
			_, err = file.Write(f.data)
		}
		switch {
		case err != nil:
			file.discard()
			return reasonOf(err)
		case f.kind == stdinEndFrame:
			if err := file.complete(); err != nil {
				return err
			}
			return w.send(answerFrame, 0, []byte("{}"))
		}
	}
}

// fetchFile sends a file or a directory: its stamp, its content, and an answer at its end. The other side then says that it has all of it.
func fetchFile(w *wire, r *fileRequest) error {
	file, err := os.Open(r.Path)
	if err != nil {
		return reasonOf(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return reasonOf(err)
	}
	isTree := info.IsDir() && r.Tree
	if !info.Mode().IsRegular() && !isTree {
		return errors.New("it is no regular file")
	}
	stamp := stampOf(info, true)
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
		return reasonOf(err)
	}
	if err := w.send(answerFrame, 0, []byte("{}")); err != nil {
		return err
	}
	f, err := w.receive()
	switch {
	case err != nil:
		return err
	case f.kind != stdinEndFrame:
		return fmt.Errorf("the end of a file is followed by a message of kind %d", f.kind)
	case r.Remove:
		remove := os.Remove
		if isTree {
			remove = os.RemoveAll
		}
		// Another node of the job may have removed it on a disk that both use.
		if err := remove(r.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return reasonOf(err)
		}
	}
	return w.send(answerFrame, 0, []byte("{}"))
}
