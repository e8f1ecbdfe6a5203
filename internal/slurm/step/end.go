package step

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launch"
)

// endBy ends the job because a process inside of it asked for that. Requeue and cancellation take effect after the answer.
func (l *launcher) endBy(r endRequest) {
	l.mu.Lock()
	if r.Leave {
		l.left = r.Code
		l.mu.Unlock()
		return
	}
	first := l.asked == nil
	if first {
		l.asked = &r
	}
	l.mu.Unlock()
	if !first {
		return
	}
	if !r.Requeue && !r.Cancel {
		l.stopAll()
		return
	}
	why := ""
	if r.Requeue {
		why = " DUE TO JOB REQUEUE"
	}
	time.AfterFunc(answerLead, func() {
		l.tell(why)
		l.stopAll()
	})
}

// cancelled ends the job because its pod is going away.
func (l *launcher) cancelled() {
	why := ""
	if limit := l.head.limit(); limit > 0 && time.Since(l.start) >= limit-2*time.Second {
		why = " DUE TO TIME LIMIT"
	}
	l.tell(why)
	l.stopAll()
}

func (l *launcher) tell(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.errors, "slurmstepd: error: *** JOB %s ON %s CANCELLED AT %s%s ***\n", l.pod.ID(), l.place.Host(), time.Now().Format("2006-01-02T15:04:05"), why)
}

// notify writes a message of scontrol notify to the errors of the script.
func (l *launcher) notify(message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.errors, "slurmstepd: error: %s\n", message)
}

// stopAll asks steps and script to end, and makes them after a while.
func (l *launcher) stopAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.stop:
		return
	default:
	}
	close(l.stop)
	l.head.close()
	for _, number := range []syscall.Signal{syscall.SIGCONT, syscall.SIGTERM} {
		l.head.signal(&signalRequest{Number: int(number), Steps: true, Step: -1})
		if l.script != nil {
			l.script.signal(int(number))
		}
	}
	time.AfterFunc(launch.KillWait, func() {
		l.signalScript(int(syscall.SIGKILL), false)
		l.head.cut()
	})
}

func (l *launcher) isStopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// finish ends what the script left, and leaves the report.
func (l *launcher) finish(e ending) {
	l.head.close()
	if l.head.liveSteps() > 0 || l.groupLives() {
		l.head.signal(&signalRequest{Number: int(syscall.SIGTERM), Steps: true, Step: -1})
		l.killGroup(syscall.SIGTERM)
		l.waitForRest()
		l.head.cut()
		l.killGroup(syscall.SIGKILL)
	}
	patience, cancel := context.WithTimeout(context.Background(), killWait)
	defer cancel()
	l.agent.idle(patience)
	report := launch.Report{Code: e.Code, Signal: e.Signal, Usage: usageOfAll(), Steps: l.head.job().Steps}
	_ = os.WriteFile(l.dirs.termination, []byte(report.Text()), 0o666)
}

// waitForRest waits for steps and for what the script left behind, for a while.
func (l *launcher) waitForRest() {
	for deadline := time.Now().Add(killWait); time.Now().Before(deadline) && (l.head.liveSteps() > 0 || l.groupLives()); {
		time.Sleep(20 * time.Millisecond)
	}
}

func (l *launcher) groupLives() bool { return l.killGroup(0) }

// killGroup reaches what the script left in its process group; false when there is nothing. The number cannot be somebody else's as long as one is left.
func (l *launcher) killGroup(number syscall.Signal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.script != nil && syscall.Kill(-l.script.command.Process.Pid, number) == nil
}

// code is the exit code of the container.
func (l *launcher) code(e ending) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.asked == nil:
		return ownCode(e.status())
	case l.asked.Requeue:
		return launch.ExitRequeue
	case l.asked.Cancel:
		return launch.ExitCancelled
	}
	return ownCode(l.asked.Code)
}

// ownCode keeps a program's own exit code from being taken for what only the launcher says; the Report has the true one.
func ownCode(code int) int {
	if code == launch.ExitRequeue || code == launch.ExitCancelled {
		return 1
	}
	return code
}

func (l *launcher) leftWith() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left
}

// sessionEnding returns how an interactive allocation ended. Its session tells an exit code only; where that is what a shell makes of the signal that ended
// the last step, it is the signal.
func sessionEnding(code int, steps []launch.Step) ending {
	if len(steps) > 0 {
		if last := steps[len(steps)-1]; last.Signal > 0 && code == 128+last.Signal {
			return ending{Signal: last.Signal}
		}
	}
	return ending{Code: code}
}

// sessions ends an interactive allocation when its last session does, or when none comes.
func (l *launcher) sessions() func(bool) {
	var mu sync.Mutex
	open := 0
	lonely := time.AfterFunc(comeTime, func() {
		if l.spec.Interactive {
			l.endBy(endRequest{Cancel: true})
		}
	})
	return func(begun bool) {
		mu.Lock()
		defer mu.Unlock()
		lonely.Stop()
		if begun {
			open++
			return
		}
		if open--; open == 0 && l.spec.Interactive {
			time.AfterFunc(leaveTime, func() { l.endBy(endRequest{Code: l.leftWith()}) })
		}
	}
}

// usageOfAll is what all processes of this pod used that were waited for.
func usageOfAll() launch.Usage {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage) != nil {
		return launch.Usage{}
	}
	used := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return launch.Usage{CPUMillis: used.Milliseconds(), MaxRSS: usage.Maxrss}
}
