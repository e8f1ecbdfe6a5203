package state

import (
	"strconv"
	"syscall"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// Exit describes how a program ended, by its exit code or by the signal that ended it.
type Exit struct{ Code, Signal int }

// String returns code:signal, as sacct prints it.
func (e Exit) String() string { return strconv.Itoa(e.Code) + ":" + strconv.Itoa(e.Signal) }

// NoMemory describes the end of a job that used too much memory, for which Slurm reports signal 125.
var NoMemory = Exit{Signal: 125}

// NewExit converts a container's exit code. If the code is 128 plus the number of a signal that ends programs, NewExit
// interprets it as that signal, as shells do. A script can also exit with such a code by itself. Only the launcher's
// Report distinguishes the two cases.
func NewExit(code int32) Exit {
	if number := int(code) - 128; isTerminating(number) {
		return Exit{Signal: number}
	}
	return Exit{Code: int(code)}
}

// lastSignal is the highest signal number on Linux. The numbers 32 and 33 are reserved for the C library.
const lastSignal = 64

// isTerminating reports whether a signal ends a program by default. If it does not, an exit code that corresponds to
// the signal must have been chosen by the program itself.
func isTerminating(number int) bool {
	switch syscall.Signal(number) {
	case syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGURG, syscall.SIGWINCH, // ignored by default
		syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, // stop the program
		32, 33:
		return false
	}
	return number > 0 && number <= lastSignal
}

func podExit(pod *corev1.Pod) Exit {
	if end := failedTermination(pod); end != nil {
		if end.Reason == "OOMKilled" {
			return NoMemory
		}
		if report, ok := launchconfig.ParseReport(end.Message); ok {
			return Exit{Code: report.Code, Signal: report.Signal}
		}
		if end.Signal > 0 { // set by process nodes and some runtimes; 0 does not prove that there was no signal
			return Exit{Signal: int(end.Signal)}
		}
		return NewExit(end.ExitCode)
	}
	if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "DeadlineExceeded" {
		return Exit{Code: 1}
	}
	return Exit{}
}

// shellStatus returns the exit code as a shell would report it. It is used to compare values of Exit.
func (e Exit) shellStatus() int {
	if e.Signal > 0 {
		return 128 + e.Signal
	}
	return e.Code
}
