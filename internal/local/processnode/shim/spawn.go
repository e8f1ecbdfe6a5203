package shim

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// defaultPath is the default PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// spawnProcess starts a process with the given files as stdin, stdout and stderr. If the program does not exist, it
// returns an error that matches fs.ErrNotExist.
func spawnProcess(process Process, files []int) (int, error) {
	if len(files) < 3 {
		return 0, fmt.Errorf("process %q: received %d files, but needs stdin, stdout and stderr", process.Args, len(files))
	}
	env := withDefaults(process.Env, process.UID)
	dir := process.Dir
	dir = cmp.Or(dir, "/")
	path, err := findProgram(process.Args[0], pathFromEnvironment(env), dir)
	if err != nil {
		return 0, err
	}
	attributes := &syscall.SysProcAttr{Setsid: true}
	if process.TTY {
		attributes.Setctty, attributes.Ctty = true, 0
	}
	if process.UID != nil || process.GID != nil || len(process.Groups) > 0 {
		attributes.Credential = processCredential(process)
	}
	pid, err := syscall.ForkExec(path, process.Args, &syscall.ProcAttr{
		Dir: dir, Env: env, Files: []uintptr{uintptr(files[0]), uintptr(files[1]), uintptr(files[2])}, Sys: attributes,
	})
	if err != nil {
		if _, statErr := os.Stat(dir); statErr != nil {
			return 0, fmt.Errorf("working directory %q: %w", dir, syscall.ENOTDIR)
		}
		return 0, &os.PathError{Op: "exec", Path: path, Err: err}
	}
	return pid, nil
}

func processCredential(process Process) *syscall.Credential {
	c := &syscall.Credential{Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())}
	if process.UID != nil {
		c.Uid = uint32(*process.UID)
		if gid, ok := passwdField(*process.UID, 3); ok && process.GID == nil {
			if number, err := strconv.ParseUint(gid, 10, 32); err == nil {
				c.Gid = uint32(number)
			}
		}
	}
	if process.GID != nil {
		c.Gid = uint32(*process.GID)
	}
	for _, group := range process.Groups {
		c.Groups = append(c.Groups, uint32(group))
	}
	return c
}

// withDefaults adds PATH and HOME if the container does not set them.
func withDefaults(env []string, uid *int64) []string {
	var path, home bool
	for _, entry := range env {
		path = path || strings.HasPrefix(entry, "PATH=")
		home = home || strings.HasPrefix(entry, "HOME=")
	}
	env = append([]string(nil), env...)
	if !path {
		env = append(env, "PATH="+defaultPath)
	}
	if !home {
		user := int64(os.Getuid())
		if uid != nil {
			user = *uid
		}
		directory, ok := passwdField(user, 5)
		if !ok {
			directory = "/"
		}
		env = append(env, "HOME="+directory)
	}
	return env
}

// passwdField returns a field of a user's line in /etc/passwd.
func passwdField(uid int64, field int) (string, bool) {
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return "", false
	}
	return passwdLookup(string(text), uid, field)
}

func passwdLookup(text string, uid int64, field int) (string, bool) {
	for line := range strings.SplitSeq(text, "\n") {
		fields := strings.Split(line, ":")
		if len(fields) > field && len(fields) > 2 && fields[2] == strconv.FormatInt(uid, 10) {
			return fields[field], true
		}
	}
	return "", false
}

func pathFromEnvironment(env []string) string {
	path := ""
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
		}
	}
	return path
}

// findProgram finds a program as a shell would, using the container's PATH and working directory.
func findProgram(name, path, dir string) (string, error) {
	if strings.Contains(name, "/") {
		absolute := name
		if !filepath.IsAbs(name) {
			absolute = filepath.Join(dir, name)
		}
		return absolute, checkRunnable(absolute)
	}
	var denied error
	for _, directory := range filepath.SplitList(path) {
		if !filepath.IsAbs(directory) {
			directory = filepath.Join(dir, directory)
		}
		candidate := filepath.Join(directory, name)
		err := checkRunnable(candidate)
		if err == nil {
			return candidate, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", &os.PathError{Op: "exec", Path: name, Err: notFoundInPath{}}
}

// notFoundInPath is an error with the text that container runtimes use. It matches fs.ErrNotExist.
type notFoundInPath struct{}

func (notFoundInPath) Error() string        { return "executable file not found in $PATH" }
func (notFoundInPath) Is(target error) bool { return target == fs.ErrNotExist }

func checkRunnable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return &os.PathError{Op: "exec", Path: path, Err: errors.Unwrap(err)}
	case info.IsDir():
		return &os.PathError{Op: "exec", Path: path, Err: syscall.EISDIR}
	case info.Mode()&0o111 == 0:
		return &os.PathError{Op: "exec", Path: path, Err: syscall.EACCES}
	}
	return nil
}
