package srun

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/vc-batch/vc/internal/slurm/step/process"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// forwardSignal sends a signal to all tasks. It ignores a signal that was already sent within the last 100 ms, because
// the same signal may arrive in two ways.
func (r *runner) forwardSignal(number int) {
	r.mu.Lock()
	recent := time.Since(r.sent[number]) < 100*time.Millisecond
	r.sent[number] = time.Now()
	if number == int(syscall.SIGTERM) || number == int(syscall.SIGKILL) {
		r.cancelled = true
	}
	r.mu.Unlock()
	if recent {
		return
	}
	for _, n := range r.nodes {
		if n.conn != nil {
			_ = n.conn.SendFrame(protocol.SignalFrame, 0, protocol.EncodeNumber(number))
		}
	}
}

// receiveFromHead forwards signals from the head to the tasks until the head confirms the result of the step.
func (r *runner) receiveFromHead() {
	defer close(r.heard)
	for {
		f, err := r.head.ReceiveFrame()
		switch {
		case err != nil:
			r.terminateTasks() // a step cannot continue without its job
			return
		case f.Kind == protocol.SignalFrame:
			r.forwardSignal(protocol.DecodeNumber(f.Data))
		case f.Kind == protocol.AttachFrame:
			r.outputs.MirrorOutputTo(r.head)
		case f.Kind == protocol.AnswerFrame:
			return
		}
	}
}

// interruptTime is the time within which a second Ctrl-C interrupts the step.
const interruptTime = time.Second

// handleSignals forwards the signals that srun receives to the tasks. The first Ctrl-C only prints the state of the
// step.
func (r *runner) handleSignals(stop <-chan struct{}) {
	defer signal.Stop(r.received)
	r.sendTerminalSize() // the size may have changed before srun was registered for signals
	var asked time.Time
	for {
		select {
		case <-stop:
			return
		case s := <-r.received:
			switch number, _ := s.(syscall.Signal); {
			case number == syscall.SIGWINCH:
				r.sendTerminalSize()
			case number == syscall.SIGINT && time.Since(asked) > interruptTime:
				asked = time.Now()
				r.printNotice("interrupt (one more within 1 sec to abort)")
				r.printNotice(fmt.Sprintf("StepId=%s.%d tasks %s: running", r.job.Pod.SlurmJobID(), r.given.Step, r.unfinishedTasks()))
			case number == syscall.SIGINT:
				r.printNotice(fmt.Sprintf("sending Ctrl-C to StepId=%s.%d", r.job.Pod.SlurmJobID(), r.given.Step))
				r.forwardSignal(int(number))
				time.AfterFunc(process.KillDelay, r.terminateTasks)
			default:
				r.forwardSignal(int(number))
			}
		}
	}
}

// unfinishedTasks lists the tasks that have not ended.
func (r *runner) unfinishedTasks() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ranks []int
	for _, n := range r.nodes {
		for _, t := range n.tasks {
			if _, ended := r.ends[t.Rank]; !ended {
				ranks = append(ranks, t.Rank)
			}
		}
	}
	return formatRanks(ranks)
}

func (r *runner) sendTerminalSize() {
	if !r.options.PTY {
		return
	}
	width, height := process.WindowSize(os.Stdin)
	if width == 0 || height == 0 {
		return
	}
	size := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, width), height)
	_ = r.nodes[0].conn.SendFrame(protocol.ResizeFrame, 0, size)
}

// enterRawMode switches srun's terminal to raw mode if a task uses a terminal. It returns a function that restores the
// previous mode.
func (r *runner) enterRawMode() (restore func()) {
	if !r.options.PTY || !term.IsTerminal(int(os.Stdin.Fd())) {
		return func() {}
	}
	state, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(os.Stdin.Fd()), state) }
}

// startTimers starts timers that end the step at its time limit and, before that, send the requested signal.
func (r *runner) startTimers(stop <-chan struct{}) {
	if r.options.Limit <= 0 {
		return
	}
	end := time.AfterFunc(r.options.Limit, func() {
		fmt.Fprintf(r.errors, "slurmstepd: error: *** STEP %s.%d ON %s CANCELLED AT %s DUE TO TIME LIMIT ***\n",
			r.job.Pod.SlurmJobID(), r.given.Step, r.given.Hosts[0], time.Now().Format("2006-01-02T15:04:05"))
		r.terminateTasks()
	})
	timers := []*time.Timer{end}
	if s := r.options.Signal; s != nil {
		timers = append(timers, time.AfterFunc(max(0, r.options.Limit-time.Duration(s.Seconds)*time.Second), func() { r.forwardSignal(s.Number) }))
	}
	go func() {
		<-stop
		for _, timer := range timers {
			timer.Stop()
		}
	}()
}

// terminateTasks sends SIGTERM to all remaining tasks. After process.KillDelay, it kills them.
func (r *runner) terminateTasks() {
	for _, number := range []syscall.Signal{syscall.SIGCONT, syscall.SIGTERM} {
		r.forwardSignal(int(number))
	}
	time.AfterFunc(process.KillDelay, func() { r.forwardSignal(int(syscall.SIGKILL)) })
}
