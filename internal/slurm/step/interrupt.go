package step

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// pass sends a signal to all tasks. It ignores repetitions within 100 ms, because the same signal may arrive in two
// ways.
func (r *runner) pass(number int) {
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
		if n.wire != nil {
			_ = n.wire.send(signalFrame, 0, numberBytes(number))
		}
	}
}

// listenHead forwards signals from the head to the tasks until the head confirms the result of the step.
func (r *runner) listenHead() {
	defer close(r.heard)
	for {
		f, err := r.head.receive()
		switch {
		case err != nil:
			r.terminate() // a step cannot continue without its job
			return
		case f.kind == signalFrame:
			r.pass(number(f.data))
		case f.kind == attachFrame:
			r.outputs.mirrorTo(r.head)
		case f.kind == answerFrame:
			return
		}
	}
}

// interruptTime is the time within which a second Ctrl-C ends the step.
const interruptTime = time.Second

// signals forwards the signals that srun receives to the tasks. A first Ctrl-C only prints the state of the step.
func (r *runner) signals(stop <-chan struct{}) {
	defer signal.Stop(r.received)
	r.resize() // the size may have changed before srun listened for signals
	var asked time.Time
	for {
		select {
		case <-stop:
			return
		case s := <-r.received:
			switch number, _ := s.(syscall.Signal); {
			case number == syscall.SIGWINCH:
				r.resize()
			case number == syscall.SIGINT && time.Since(asked) > interruptTime:
				asked = time.Now()
				r.notice("interrupt (one more within 1 sec to abort)")
				r.notice(fmt.Sprintf("StepId=%s.%d tasks %s: running", r.job.Pod.ID(), r.given.Step, r.running()))
			case number == syscall.SIGINT:
				r.notice(fmt.Sprintf("sending Ctrl-C to StepId=%s.%d", r.job.Pod.ID(), r.given.Step))
				r.pass(int(number))
				time.AfterFunc(killWait, r.terminate)
			default:
				r.pass(int(number))
			}
		}
	}
}

// running lists the tasks that have not ended.
func (r *runner) running() string {
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
	return rankList(ranks)
}

func (r *runner) resize() {
	if !r.options.pty {
		return
	}
	width, height := windowSize(os.Stdin)
	if width == 0 || height == 0 {
		return
	}
	size := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, width), height)
	_ = r.nodes[0].wire.send(resizeFrame, 0, size)
}

// terminal switches srun's terminal to raw mode if a task uses a terminal. The returned function restores the
// previous mode.
func (r *runner) terminal() (restore func()) {
	if !r.options.pty || !term.IsTerminal(int(os.Stdin.Fd())) {
		return func() {}
	}
	state, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(os.Stdin.Fd()), state) }
}

// timers ends the step at its time limit and sends the requested signal before that.
func (r *runner) timers(stop <-chan struct{}) {
	if r.options.limit <= 0 {
		return
	}
	end := time.AfterFunc(r.options.limit, func() {
		fmt.Fprintf(r.errors, "slurmstepd: error: *** STEP %s.%d ON %s CANCELLED AT %s DUE TO TIME LIMIT ***\n",
			r.job.Pod.ID(), r.given.Step, r.given.Hosts[0], time.Now().Format("2006-01-02T15:04:05"))
		r.terminate()
	})
	timers := []*time.Timer{end}
	if s := r.options.signal; s != nil {
		timers = append(timers, time.AfterFunc(max(0, r.options.limit-time.Duration(s.Seconds)*time.Second), func() { r.pass(s.Number) }))
	}
	go func() {
		<-stop
		for _, timer := range timers {
			timer.Stop()
		}
	}()
}
