package state

import (
	"strconv"
	"syscall"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/slurm/launch"
)

// Exit is how a program ended: its exit code, or the signal that ended it.
type Exit struct{ Code, Signal int }

// String is code:signal, as sacct prints it.
func (e Exit) String() string { return strconv.Itoa(e.Code) + ":" + strconv.Itoa(e.Signal) }

// NoMemory is the exit of a job that used too much memory: Slurm gives 125 for the signal then.
var NoMemory = Exit{Signal: 125}

// ExitOf reads an exit code of which nothing else is known: 128 and the number of a signal stands for that signal, where it is one that ends programs, as a
// shell means it. That a script ended itself with such a code is said only by what the pod tells: the launcher's Report.
func ExitOf(code int32) Exit {
	if number := int(code) - 128; ends(number) {
		return Exit{Signal: number}
	}
	return Exit{Code: int(code)}
}

// lastSignal is the last of Linux's signals; 32 and 33 are the C library's own, which nobody sends.
const lastSignal = 64

// ends says whether a number is that of a signal that ends a program which has not asked for it. No program can have ended by another one: the code is its own.
func ends(number int) bool {
	switch syscall.Signal(number) {
	case syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGURG, syscall.SIGWINCH, // are ignored
		syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, // stop it
		32, 33:
		return false
	}
	return number > 0 && number <= lastSignal
}

func exitOf(pod *corev1.Pod) Exit {
	if end := badEnd(pod); end != nil {
		if end.Reason == "OOMKilled" {
			return NoMemory
		}
		if report, ok := launch.ParseReport(end.Message); ok {
			return Exit{Code: report.Code, Signal: report.Signal}
		}
		if end.Signal > 0 { // process nodes and some runtimes say it; that others do not is no proof
			return Exit{Signal: int(end.Signal)}
		}
		return ExitOf(end.ExitCode)
	}
	if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "DeadlineExceeded" {
		return Exit{Code: 1}
	}
	return Exit{}
}

// status orders exits as a shell would see them.
func (e Exit) status() int {
	if e.Signal > 0 {
		return 128 + e.Signal
	}
	return e.Code
}
