package launcher

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// runAsInit runs the program again as a child if this process is the first process in its container. The first process
// must wait for all processes that have lost their parents, which conflicts with the way in which Go waits for
// children. runAsInit returns the child's exit code. is is false if this is not the first process.
func runAsInit() (code int, is bool) {
	if os.Getpid() != 1 {
		return 0, false
	}
	program, err := os.Executable()
	if err != nil {
		return 0, false
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGQUIT, syscall.SIGCONT)
	command := exec.Command(program, os.Args[1:]...)
	command.Args[0] = os.Args[0]
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Start(); err != nil {
		return 0, false
	}
	child := command.Process.Pid
	go func() {
		for s := range signals {
			if number, ok := s.(syscall.Signal); ok {
				_ = syscall.Kill(child, number)
			}
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 1, true
		case pid == child && status.Exited():
			return status.ExitStatus(), true
		case pid == child && status.Signaled():
			return 128 + int(status.Signal()), true
		}
	}
}
