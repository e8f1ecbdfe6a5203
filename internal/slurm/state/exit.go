package state

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/slurm/launch"
)

// Exit is how a program ended: its exit code, or the signal that ended it.
type Exit struct{ Code, Signal int }

// String is code:signal, as sacct prints it.
func (e Exit) String() string { return strconv.Itoa(e.Code) + ":" + strconv.Itoa(e.Signal) }

// outOfMemory is what Slurm gives for a signal where the kernel ended a job that used too much memory.
const outOfMemory = 125

// ExitOf reads the exit code of a container, which is 128 and the number of the signal where a signal ended it. Only the launcher's Report tells
// a script that ended itself with such a code from one that a signal ended.
func ExitOf(code int32) Exit {
	if code > 128 && code <= 128+64 {
		return Exit{Signal: int(code) - 128}
	}
	return Exit{Code: int(code)}
}

func exitOf(pod *corev1.Pod) Exit {
	if end := badEnd(pod); end != nil {
		if end.Reason == "OOMKilled" {
			return Exit{Signal: outOfMemory}
		}
		if report, ok := launch.ParseReport(end.Message); ok {
			return Exit{Code: report.Code, Signal: report.Signal}
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
