package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// mirrorSource is the path of a directory while a copy of its entries is mounted over it.
const mirrorSource = "/.vc-mirror"

// mountVolume mounts a volume. machine is the path of the machine's root, or "" if the container uses that root
// itself.
func mountVolume(m Mount, machine string) error {
	if m.Source == "" {
		if err := ensureMountTarget(m.Target, true, machine); err != nil {
			return err
		}
		return syscall.Mount("tmpfs", m.Target, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, m.Options)
	}
	source := machine + m.Source
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if err := ensureMountTarget(m.Target, info.IsDir(), machine); err != nil {
		return err
	}
	return bindMountPath(source, m.Target, m.ReadOnly)
}

// ensureMountTarget ensures that target exists as a directory or as an empty file. In a user namespace, the machine's
// directories are not writable, even in an overlay. In that case, ensureMountTarget replaces the nearest existing
// directory with a writable mirror. There are no mirrors in containers that use the machine's root itself.
func ensureMountTarget(target string, directory bool, machine string) error {
	if _, err := os.Stat(target); err == nil {
		return nil
	}
	err := createTarget(target, directory)
	ownRoot := machine != ""
	if ownRoot && errors.Is(err, fs.ErrPermission) {
		if err := mirrorDirectory(existingParent(target)); err != nil {
			return err
		}
		return createTarget(target, directory)
	}
	return err
}

// createTarget creates an empty directory or file, and its parent directories.
func createTarget(target string, directory bool) error {
	if directory {
		return os.MkdirAll(target, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	// It is impossible to mount over a dangling link, such as /etc/resolv.conf on some systems.
	if _, err := os.Lstat(target); err == nil {
		if err := os.Remove(target); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return file.Close()
}

// existingParent returns the nearest directory above target that exists, with symbolic links resolved.
func existingParent(target string) string {
	parent := filepath.Dir(filepath.Clean(target))
	for parent != "/" {
		if resolved, err := filepath.EvalSymlinks(parent); err == nil {
			return resolved
		}
		parent = filepath.Dir(parent)
	}
	return parent
}

// mirrorDirectory mounts a writable directory in memory over a directory. It contains the same entries.
func mirrorDirectory(directory string) error {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(mirrorSource, 0o700); err != nil {
		return err
	}
	defer func() { _ = os.Remove(mirrorSource) }()
	if err := bindMountPath(directory, mirrorSource, false); err != nil {
		return err
	}
	defer func() { _ = syscall.Unmount(mirrorSource, syscall.MNT_DETACH) }()
	if err := syscall.Mount("mirror", directory, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=755"); err != nil {
		return fmt.Errorf("writable mirror of %s: %w", directory, err)
	}
	for _, entry := range entries {
		source, target := filepath.Join(mirrorSource, entry.Name()), filepath.Join(directory, entry.Name())
		if err := mirrorEntry(entry, source, target); err != nil {
			return fmt.Errorf("writable mirror of %s: %w", directory, err)
		}
	}
	return nil
}

// mirrorEntry makes source, an entry of a mirrored directory, available at target. It copies a dangling link at the
// mount point of a volume unchanged, because createTarget replaces the link.
func mirrorEntry(entry fs.DirEntry, source, target string) error {
	if entry.Type()&fs.ModeSymlink != 0 {
		link, err := os.Readlink(source)
		if err != nil {
			return err
		}
		return os.Symlink(link, target)
	}
	if err := createTarget(target, entry.IsDir()); err != nil {
		return err
	}
	return bindMountPath(source, target, false)
}
