package launcher

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/process"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/step/stepmgr"
)

// endByRequest ends the job because a process inside it requests this. A requeue or cancellation takes effect only
// after the response has been sent. If r.Leave is true, endByRequest only records the exit code of an interactive
// session.
func (l *launcher) endByRequest(r protocol.EndRequest) {
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
		l.stopEverything()
		return
	}
	why := ""
	if r.Requeue {
		why = " DUE TO JOB REQUEUE"
	}
	time.AfterFunc(stepmgr.AnswerLead, func() {
		l.printCancellation(why)
		l.stopEverything()
	})
}

// endCancelled ends the job because its pod is being terminated.
func (l *launcher) endCancelled() {
	why := ""
	if limit := l.steps.TimeLimit(); limit > 0 && time.Since(l.start) >= limit-2*time.Second {
		why = " DUE TO TIME LIMIT"
	}
	l.printCancellation(why)
	l.stopEverything()
}

func (l *launcher) printCancellation(why string) {
	l.writeMessage(fmt.Sprintf("*** JOB %s ON %s CANCELLED AT %s%s ***", l.pod.SlurmJobID(), l.place.OwnHost(), time.Now().Format("2006-01-02T15:04:05"), why))
}

// writeMessage writes a message, for example from scontrol notify, to the script's error output.
func (l *launcher) writeMessage(message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.errors, "slurmstepd: error: %s\n", message)
}

// stopEverything signals the steps and the script to end, and kills them after launchconfig.KillWait.
func (l *launcher) stopEverything() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.stop:
		return
	default:
	}
	close(l.stop)
	l.steps.RejectSteps()
	for _, number := range []syscall.Signal{syscall.SIGCONT, syscall.SIGTERM} {
		l.steps.SendSignal(&protocol.SignalRequest{Number: int(number), Steps: true, Step: -1})
		if l.script != nil {
			l.script.SignalGroup(int(number))
		}
	}
	time.AfterFunc(launchconfig.KillWait, func() {
		l.signalScript(int(syscall.SIGKILL), false)
		l.steps.CutConnections()
	})
}

// endRemaining ends the steps and processes that the script has left behind, and writes the report.
func (l *launcher) endRemaining(e protocol.Ending) {
	l.steps.RejectSteps()
	if l.steps.CountLiveSteps() > 0 || l.isGroupAlive() {
		l.steps.SendSignal(&protocol.SignalRequest{Number: int(syscall.SIGTERM), Steps: true, Step: -1})
		l.signalGroup(syscall.SIGTERM)
		l.waitForRest()
		l.steps.CutConnections()
		l.signalGroup(syscall.SIGKILL)
	}
	patience, cancel := context.WithTimeout(context.Background(), process.KillDelay)
	defer cancel()
	l.agent.WaitUntilIdle(patience)
	report := launchconfig.Report{Code: e.Code, Signal: e.Signal, Usage: usageOfProcesses(), Steps: l.steps.DescribeJob().Steps}
	_ = os.WriteFile(l.dirs.Termination, []byte(report.EncodeText()), 0o666)
}

// waitForRest waits until all steps and all processes that the script has left behind have ended, but no longer than
// process.KillDelay.
func (l *launcher) waitForRest() {
	for deadline := time.Now().Add(process.KillDelay); time.Now().Before(deadline) && (l.steps.CountLiveSteps() > 0 || l.isGroupAlive()); {
		time.Sleep(20 * time.Millisecond)
	}
}

func (l *launcher) isGroupAlive() bool { return l.signalGroup(0) }

// signalGroup sends a signal to the script's process group, and reports whether the group still contains processes.
func (l *launcher) signalGroup(number syscall.Signal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.script != nil && l.script.SignalRemaining(number)
}

// exitCode returns the exit code of the container.
func (l *launcher) exitCode(e protocol.Ending) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.asked == nil:
		return replaceSpecialCode(e.ShellStatus())
	case l.asked.Requeue:
		return launchconfig.ExitRequeue
	case l.asked.Cancel:
		return launchconfig.ExitCancelled
	}
	return replaceSpecialCode(l.asked.Code)
}

// replaceSpecialCode replaces the program's exit code if it would be mistaken for one of the launcher's special codes.
// The Report contains the original code.
func replaceSpecialCode(code int) int {
	if code == launchconfig.ExitRequeue || code == launchconfig.ExitCancelled {
		return 1
	}
	return code
}

func (l *launcher) lastSessionCode() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left
}

// endingOfSession returns how an interactive allocation ended. A session reports only an exit code. If this code is 128
// plus the number of the signal that ended the last step, the allocation counts as ended by that signal.
func endingOfSession(code int, steps []launchconfig.Step) protocol.Ending {
	if len(steps) > 0 {
		if last := steps[len(steps)-1]; last.Signal > 0 && code == 128+last.Signal {
			return protocol.Ending{Signal: last.Signal}
		}
	}
	return protocol.Ending{Code: code}
}

// newSessionCounter returns a function that counts the sessions of an interactive allocation. The allocation ends after
// its last session has ended, or if no session starts within comeTime.
func (l *launcher) newSessionCounter() func(bool) {
	var mu sync.Mutex
	open := 0
	lonely := time.AfterFunc(comeTime, func() {
		if l.spec.Interactive {
			l.endByRequest(protocol.EndRequest{Cancel: true})
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
			time.AfterFunc(stepmgr.LeaveTime, func() { l.endByRequest(protocol.EndRequest{Code: l.lastSessionCode()}) })
		}
	}
}

// usageOfProcesses returns the total resource usage of this process's children that have ended and have been waited
// for.
func usageOfProcesses() launchconfig.Usage {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage) != nil {
		return launchconfig.Usage{}
	}
	used := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return launchconfig.Usage{CPUMillis: used.Milliseconds(), MaxRSS: usage.Maxrss}
}
