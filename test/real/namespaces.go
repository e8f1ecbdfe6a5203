package real

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/vishvananda/netlink"
)

// insideVariable is set in the process that runs in namespaces of its own.
const insideVariable = "VC_REAL_INSIDE"

// runInNamespaces runs this program again in new PID, mount and network namespaces, and returns its exit code. When
// the new process ends, the kernel kills all processes that it has started.
func runInNamespaces() (int, error) {
	// The kernel sends the signal below when the thread ends that started the process, not when this process ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	program, err := os.Executable()
	if err != nil {
		return 1, err
	}
	inside := exec.Command(program, os.Args[1:]...)
	inside.Env = append(os.Environ(), insideVariable+"=1")
	inside.Stdin, inside.Stdout, inside.Stderr = os.Stdin, os.Stdout, os.Stderr
	inside.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET,
		Pdeathsig:  syscall.SIGKILL,
	}
	err = inside.Run()
	removeCgroups()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return max(failed.ExitCode(), 1), nil
	}
	return 0, err
}

// isInside reports whether this process runs in namespaces of its own.
func isInside() bool { return os.Getenv(insideVariable) != "" }

// prepareNamespaces makes the new namespaces usable: mounts do not propagate to the machine, /proc lists only the
// processes of the PID namespace, and the loopback interface is up.
func prepareNamespaces() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find the loopback interface: %w", err)
	}
	return netlink.LinkSetUp(loopback)
}

// containerCgroups matches the control groups in which containerd places containers.
const containerCgroups = "/sys/fs/cgroup/*/k8s.io"

// removeCgroups removes the control groups of the containers, which remain when the containers are killed. A group
// that another cluster of this machine uses has processes, so it cannot be removed.
func removeCgroups() {
	for _, pattern := range []string{containerCgroups + "/*/*", containerCgroups + "/*", containerCgroups} {
		groups, _ := filepath.Glob(pattern)
		for _, group := range groups {
			_ = syscall.Rmdir(group)
		}
	}
}
