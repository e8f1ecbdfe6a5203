package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/vc-batch/vc/internal/usererror"
)

// stateVersion identifies the layout of the directory and the Kubernetes minor version of its data. A cluster can be
// restarted only by a program with the same value.
const stateVersion = "vc-local state 1, kubernetes 1.37"

// leastFreeBytes is the minimum free disk space that a cluster needs to start. etcd allocates its files in steps of 64
// MB, and logs and the files of pods need additional space.
const leastFreeBytes = 512 << 20

// Dir is the path of a cluster's directory.
type Dir string

// DefaultDir returns $XDG_STATE_HOME/vc-local, or ~/.local/state/vc-local.
func DefaultDir() (Dir, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return Dir(filepath.Join(state, "vc-local")), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", usererror.Wrapf("set HOME or XDG_STATE_HOME, or specify --dir", "the home directory is unknown: %v", err)
	}
	return Dir(filepath.Join(home, ".local", "state", "vc-local")), nil
}

// NewDir returns the absolute form of a path that a user has specified, or DefaultDir if the path is empty.
func NewDir(path string) (Dir, error) {
	if path == "" {
		return DefaultDir()
	}
	absolute, err := filepath.Abs(path)
	return Dir(absolute), err
}

// RunningDir returns the directory of the cluster that the user refers to. This is path if it is not empty. Otherwise,
// it is the directory of the cluster whose kubeconfig KUBECONFIG names or, if there is no such cluster, DefaultDir.
func RunningDir(path string) (Dir, error) {
	if path != "" {
		return NewDir(path)
	}
	kubeconfig, err := filepath.Abs(os.Getenv("KUBECONFIG"))
	if err != nil || os.Getenv("KUBECONFIG") == "" {
		return DefaultDir()
	}
	dir := Dir(filepath.Dir(kubeconfig))
	if ours, err := dir.isClusterDir(); err != nil || !ours || dir.KubeconfigPath() != kubeconfig {
		return DefaultDir()
	}
	return dir, nil
}

func (d Dir) pathInDir(names ...string) string {
	return filepath.Join(append([]string{string(d)}, names...)...)
}

// KubeconfigPath returns the path of the administrator's kubeconfig.
func (d Dir) KubeconfigPath() string { return d.pathInDir("kubeconfig") }

// ProcessLog returns the path of the detached process's output.
func (d Dir) ProcessLog() string { return d.pathInDir("log", "vc-local.log") }

// ControlPlaneLog returns the path of the log of all components.
func (d Dir) ControlPlaneLog() string { return d.pathInDir("log", "control-plane.log") }

func (d Dir) versionFile() string { return d.pathInDir("version") }
func (d Dir) lockFile() string    { return d.pathInDir("lock") }
func (d Dir) recordFile() string  { return d.pathInDir("run.json") }

// accountingDir is the directory of the accounting database, and accountingSpoolDir of the records that wait for it.
func (d Dir) accountingDir() string      { return d.pathInDir("accounting", "records") }
func (d Dir) accountingSpoolDir() string { return d.pathInDir("accounting", "spool") }

func (d Dir) settingsFile() string { return d.pathInDir("settings.json") }
func (d Dir) nodesDir() string     { return d.pathInDir("nodes") }
func (d Dir) volumesDir() string   { return d.pathInDir("volumes") }

// Check returns an error if the directory must not be used for a cluster. A directory may be used if it does not exist,
// or if it belongs to this user and is either empty or a cluster directory of this version.
func (d Dir) Check() error {
	if err := d.checkOwner(os.Geteuid()); err != nil {
		return err
	}
	ours, err := d.isClusterDir()
	if err != nil || ours {
		return err
	}
	entries, err := os.ReadDir(string(d))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.ENOTDIR):
		return usererror.Wrapf("specify another --dir", "%s is not a directory", d)
	case err != nil:
		return usererror.Wrapf("specify a --dir that you can read and write", "%s cannot be read: %v", d, err)
	case len(entries) > 0:
		return usererror.Wrapf("specify a --dir that is empty or does not exist yet", "%s contains files that do not belong to vc-local (for example %q)", d, entries[0].Name())
	}
	return nil
}

// checkOwner rejects directories that belong to another user. Root would be able to use such a directory, but its
// owner could then replace files that root reads from it, such as keys, settings and links.
func (d Dir) checkOwner(user int) error {
	info, err := os.Stat(string(d))
	if err != nil {
		return nil //nolint:nilerr // reading the directory reports the error
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != user {
		return usererror.Wrapf("specify a --dir that belongs to you, or run vc-local as that user", "%s belongs to user %d, but you are user %d", d, stat.Uid, user)
	}
	return nil
}

// isClusterDir reports whether this is a cluster directory. If it is one of another version, isClusterDir also returns
// an error.
func (d Dir) isClusterDir() (bool, error) {
	content, err := os.ReadFile(d.versionFile())
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return false, nil
	case err != nil:
		return false, usererror.Wrapf("specify a --dir that you can read and write", "%s cannot be read: %v", d.versionFile(), err)
	}
	found := strings.TrimSpace(string(content))
	if !strings.HasPrefix(found, "vc-local state ") {
		return false, usererror.Wrapf("specify another --dir", "%s is not a vc-local version file (it contains %q)", d.versionFile(), shortenText(found))
	}
	if found != stateVersion {
		return true, usererror.Wrapf(fmt.Sprintf("use the vc-local version that created the directory, or remove the directory with: vc-local down --purge --dir %s", d),
			"%s has version %q, but this vc-local requires %q", d, shortenText(found), stateVersion)
	}
	return true, nil
}

func shortenText(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}

// Create creates the directory and its version file, and checks the free disk space.
func (d Dir) Create() error {
	if err := d.Check(); err != nil {
		return err
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return usererror.Wrapf("specify a --dir that you can write to", "%s cannot be created: %v", d, err)
	}
	if err := os.Chmod(string(d), 0o700); err != nil {
		return usererror.Wrapf("specify a --dir that belongs to you", "the permissions of %s cannot be restricted: %v", d, err)
	}
	if err := d.checkFreeSpace(); err != nil {
		return err
	}
	if ours, _ := d.isClusterDir(); ours {
		return nil
	}
	if err := os.WriteFile(d.versionFile(), []byte(stateVersion+"\n"), 0o600); err != nil {
		return usererror.Wrapf("specify a --dir that you can write to", "%s cannot be written: %v", d.versionFile(), err)
	}
	return nil
}

// freeBytes returns the free disk space that is available to the directory. It returns false if the file system does
// not report this number.
func (d Dir) freeBytes() (uint64, bool) {
	var disk syscall.Statfs_t
	err := syscall.Statfs(string(d), &disk)
	return disk.Bavail * uint64(disk.Bsize), err == nil
}

func (d Dir) checkFreeSpace() error {
	free, told := d.freeBytes()
	if !told || free >= leastFreeBytes {
		return nil // if the amount is unknown, etcd will report a full disk
	}
	return usererror.Wrapf(fmt.Sprintf("free some space on this disk, or specify a --dir on another disk; vc-local requires at least %d MiB", leastFreeBytes>>20),
		"the disk that contains %s is almost full: only %d MiB is free", d, free>>20)
}

// removeClusterDir deletes the directory if it is a cluster directory, of any version.
func (d Dir) removeClusterDir() error {
	content, err := os.ReadFile(d.versionFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(content), "vc-local state ") {
		return usererror.Wrapf("if you no longer need the directory, remove it manually", "%s is not a vc-local directory", d)
	}
	if err := d.clearContents(); err != nil {
		return err
	}
	return os.RemoveAll(string(d))
}

// clearContents deletes everything in the directory except the version file and the lock, so that an interrupted
// removal can be repeated.
func (d Dir) clearContents() error {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return err
	}
	var failed []error
	for _, entry := range entries {
		if path := d.pathInDir(entry.Name()); path != d.versionFile() && path != d.lockFile() {
			failed = append(failed, os.RemoveAll(path))
		}
	}
	return errors.Join(failed...)
}
