package filecopy

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// sendTree sends a directory as a tar archive. It preserves symbolic links. It returns an error if the directory
// contains anything other than files, directories and symbolic links.
func sendTree(to io.Writer, dir string) error {
	top, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return slurmerror.SystemReason(err)
	}
	blocks := bufio.NewWriterSize(to, protocol.ChunkSize)
	archive := tar.NewWriter(blocks)
	err = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", path, slurmerror.SystemReason(err))
		}
		name, err := filepath.Rel(top, path)
		if err != nil || name == "." {
			return err
		}
		if err := addEntry(archive, name, path, entry); err != nil {
			return fmt.Errorf("%s: %w", path, slurmerror.SystemReason(err))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return errors.Join(archive.Close(), blocks.Flush())
}

// addEntry adds a file, a directory or a link to an archive.
func addEntry(archive *tar.Writer, name, path string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	link := ""
	switch kind := info.Mode().Type(); kind {
	case 0, fs.ModeDir:
	case fs.ModeSymlink:
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	default:
		return errors.New("not a regular file")
	}
	header, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	header.Name, header.Format = name, tar.FormatPAX
	if err := archive.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(archive, file)
	return err
}

// newTree is a copy of a directory that has a temporary name. It gets its final name when it is complete.
type newTree struct {
	temporary, path string
	force, times    bool
	stamp           protocol.FileStamp
	// directories holds the directories in the archive. Their modes and times are set at the end, because writing to a
	// directory changes its times and requires write permission.
	directories []*tar.Header
}

// createTree creates a directory with a temporary name next to path.
func createTree(path string, force, times bool, stamp protocol.FileStamp) (*newTree, error) {
	if _, err := os.Lstat(path); err == nil && !force {
		return nil, syscall.EEXIST
	}
	temporary, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, slurmerror.SystemReason(err)
	}
	return &newTree{temporary: temporary, path: path, force: force, times: times, stamp: stamp}, nil
}

// unpackArchive extracts an archive into the temporary directory. It never writes outside the directory, even if links
// in the archive point outside.
func (t *newTree) unpackArchive(from io.Reader) error {
	root, err := os.OpenRoot(t.temporary)
	if err != nil {
		return slurmerror.SystemReason(err)
	}
	defer root.Close()
	archive := tar.NewReader(from)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := t.unpackEntry(root, header, archive); err != nil {
			return fmt.Errorf("%s: %w", header.Name, slurmerror.SystemReason(err))
		}
	}
	for _, header := range slices.Backward(t.directories) {
		if err := t.finishEntry(root, header); err != nil {
			return fmt.Errorf("%s: %w", header.Name, slurmerror.SystemReason(err))
		}
	}
	return nil
}

func (t *newTree) unpackEntry(root *os.Root, header *tar.Header, content io.Reader) error {
	switch header.Typeflag {
	case tar.TypeDir:
		t.directories = append(t.directories, header)
		return root.Mkdir(filepath.Clean(header.Name), 0o700)
	case tar.TypeSymlink:
		return root.Symlink(header.Linkname, header.Name)
	case tar.TypeReg:
		file, err := root.OpenFile(header.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
		return t.finishEntry(root, header)
	}
	return errors.New("not a regular file")
}

// finishEntry sets the mode and the times of a file or directory.
func (t *newTree) finishEntry(root *os.Root, header *tar.Header) error {
	name := filepath.Clean(header.Name)
	if err := root.Chmod(name, header.FileInfo().Mode().Perm()); err != nil || !t.times {
		return err
	}
	return root.Chtimes(name, header.AccessTime, header.ModTime)
}

// complete sets the mode and times of the copy, and gives the copy its final name. If force is true, it replaces an
// existing file or directory.
func (t *newTree) complete() error {
	err := os.Chmod(t.temporary, t.stamp.Mode.Perm())
	if err == nil && t.times {
		err = os.Chtimes(t.temporary, time.Unix(0, t.stamp.Accessed), time.Unix(0, t.stamp.Modified))
	}
	if err == nil {
		err = t.moveIntoPlace()
	}
	if err != nil {
		t.discard()
		return slurmerror.SystemReason(err)
	}
	return nil
}

// moveIntoPlace gives the copy its final name. If force is true, it first moves an existing file or directory aside,
// and removes it only at the end, so that it can be restored if the copy cannot take its place.
func (t *newTree) moveIntoPlace() error {
	if !t.force {
		return os.Rename(t.temporary, t.path)
	}
	aside := t.temporary + ".old"
	err := os.Rename(t.path, aside)
	replaces := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(t.temporary, t.path); err != nil {
		if replaces {
			err = errors.Join(err, os.Rename(aside, t.path))
		}
		return err
	}
	if !replaces {
		return nil
	}
	return removeTree(aside)
}

// discard removes the temporary directory.
func (t *newTree) discard() { _ = removeTree(t.temporary) }

// removeTree removes a file or directory with its content. Unlike os.RemoveAll, it also removes the content of
// directories for which their owner has no write permission.
func removeTree(path string) error {
	_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}
