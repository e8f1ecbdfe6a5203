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

// insideVariable is set in the processes that run in namespaces of their own. Its value is the role of the process.
const insideVariable = "VC_REAL_INSIDE"

// The roles of processes in the namespaces.
const (
	roleInit  = "init"  // PID 1: starts the process with roleTests, and reaps orphans
	roleTests = "tests" // runs the tests
)

// runInNamespaces runs this program again as PID 1 of new PID, mount and network namespaces, and returns its exit code.
// When the new process ends, the kernel kills all processes in the namespaces.
func runInNamespaces() (int, error) {
	// The kernel sends the signal below when the thread ends that started the process, not when this process ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	program, err := os.Executable()
	if err != nil {
		return 1, err
	}
	inside := exec.Command(program, os.Args[1:]...)
	inside.Env = append(os.Environ(), insideVariable+"="+roleInit)
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

// runAsInit runs the tests in a child process, and returns its exit code. Until the child ends, it reaps the orphans in
// the PID namespace: containerd leaves one for each pod, and thousands of zombies slow down everything that reads /proc.
func runAsInit() (int, error) {
	program, err := os.Executable()
	if err != nil {
		return 1, err
	}
	if err := os.Setenv(insideVariable, roleTests); err != nil {
		return 1, err
	}
	tests, err := os.StartProcess(program, os.Args, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return 1, err
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 1, fmt.Errorf("wait for the tests: %w", err)
		case pid == tests.Pid && status.Signaled():
			return 1, fmt.Errorf("the tests ended by signal: %s", status.Signal())
		case pid == tests.Pid:
			return status.ExitStatus(), nil
		}
	}
}

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
