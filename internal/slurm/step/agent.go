package step

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// Port is the TCP port on which the agents of a job with several pods listen.
const Port = "6818"

const (
	// helloTime limits how long a new connection may take to send its request.
	helloTime = 10 * time.Second
	// acceptPause is the pause after a failed accept, for example when no file descriptor is free.
	acceptPause = 100 * time.Millisecond
	// killWait is the time between sending SIGTERM and sending SIGKILL to tasks.
	killWait = 5 * time.Second
)

// agent runs tasks in its pod. The agent of the head also responds to requests about the whole job.
type agent struct {
	// container is the environment of the pod's container; own holds the variables that are specific to the node.
	container, own []string
	// ready is nil except in the head, where it is closed as soon as the function head may be called.
	ready chan struct{}
	// head responds to requests that only the head can handle. attend keeps a node connected until the job ends.
	head   func(w *wire, r *request) error
	attend func(w *wire, host string) error

	oom oomKills

	mu      sync.Mutex // guards the fields below
	running map[*process]bool
	// steps counts the steps that have tasks in this pod, or whose srun has not received all results yet.
	steps int
}

// portAddress returns the address on which a pod's agent listens for connections from the job's other pods. Pods with
// loopback addresses share a network, so each of them listens only on its own address.
func portAddress(podIP string) string {
	if ip := net.ParseIP(podIP); ip != nil && ip.IsLoopback() {
		return net.JoinHostPort(podIP, Port)
	}
	return ":" + Port
}

// listen opens the pod's local socket and, if identity is not nil, a TLS port at address for the job's other pods.
func listen(socket, address string, identity *tls.Config) (listeners []net.Listener, err error) {
	if err := os.MkdirAll(filepath.Dir(socket), 0o777); err != nil {
		return nil, err
	}
	_ = os.Remove(socket) // left behind by a container that ran here before
	local, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	if identity == nil {
		return []net.Listener{local}, nil
	}
	open, err := tls.Listen("tcp", address, identity)
	if err != nil {
		_ = local.Close()
		return nil, fmt.Errorf("listen for the job's other pods: %w", err)
	}
	return []net.Listener{local, open}, nil
}

// serve handles connections until the listener is closed.
func (a *agent) serve(l net.Listener) {
	for {
		connection, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(acceptPause) // the process may be out of file descriptors
			continue
		}
		go a.answer(connection)
	}
}

func (a *agent) answer(connection net.Conn) {
	w := newWire(connection)
	_ = connection.SetReadDeadline(time.Now().Add(helloTime))
	f, err := w.receive()
	if err != nil || f.kind != askFrame {
		_ = w.Close()
		return
	}
	_ = connection.SetReadDeadline(time.Time{})
	defer w.finish()
	var r request
	if err = json.Unmarshal(f.data, &r); err == nil {
		switch {
		case r.Tasks != nil:
			err = a.runTasks(w, r.Tasks)
		case r.Store != nil:
			err = storeFile(w, r.Store)
		case r.Fetch != nil:
			err = fetchFile(w, r.Fetch)
		case r.Attend != "" && a.attend != nil:
			err = a.attend(w, r.Attend)
		case a.ready != nil:
			<-a.ready
			if r.Attach != nil { // exit only after attached viewers have received the end of the step
				a.countSteps(1)
				defer a.countSteps(-1)
			}
			err = a.head(w, &r)
		default:
			err = errors.New("only the first node of the job can answer this request")
		}
	}
	if err != nil {
		_ = w.send(errorFrame, 0, errorText(err))
	}
}

// runTasks runs the tasks of a step until the last task has ended and srun has received all results. If srun
// disconnects, it kills the tasks.
func (a *agent) runTasks(w *wire, r *tasksRequest) error {
	a.countSteps(1)
	defer a.countSteps(-1)
	group := &taskGroup{agent: a, wire: w, processes: map[uint32]*process{}}
	env := launchconfig.Merge(a.container, r.Env, a.own)
	if r.Dir != "" {
		if info, err := os.Stat(r.Dir); err != nil || !info.IsDir() {
			_ = w.send(noticeFrame, 0, []byte(fmt.Sprintf("error: couldn't chdir to `%s': No such file or directory: going to /tmp instead", r.Dir)))
			r.Dir = "/tmp"
		}
	}
	for i := range r.Tasks {
		if err := group.start(r, &r.Tasks[i], env); err != nil {
			group.kill()
			return err
		}
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		group.listen()
	}()
	over := make(chan struct{})
	go func() {
		defer close(over)
		group.ends.Wait()
		group.tellOfMemory(launchconfig.Value(env, "SLURM_JOB_ID"), r.Step)
	}()
	select {
	case <-over:
		_ = w.send(answerFrame, 0, []byte("{}"))
		w.closeWrite()
		<-gone // srun closes the connection after it has received the response
	case <-gone:
		group.kill()
		<-over
	}
	return nil
}

// taskGroup holds the tasks of a step in one pod.
type taskGroup struct {
	agent     *agent
	wire      *wire
	ends      sync.WaitGroup
	mu        sync.Mutex // guards the fields below
	processes map[uint32]*process
	oomKills  int // processes of the step that were killed for lack of memory
}

// ofMemory returns how a task ended. As in Slurm, the task counts as killed by the out-of-memory killer if any
// process of its step in this pod was killed by it, even if that was not the task itself.
func (g *taskGroup) ofMemory(e ending) ending {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.oomKills += g.agent.oom.claim()
	if g.oomKills == 0 {
		return e
	}
	return ending{Signal: signalNoMemory, Usage: e.Usage}
}

// tellOfMemory reports processes that were killed by the out-of-memory killer to srun.
func (g *taskGroup) tellOfMemory(job string, step int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.oomKills > 0 {
		_ = g.wire.send(noticeFrame, 0, []byte(noMemory(g.oomKills, fmt.Sprintf("%s.%d", job, step))))
	}
}

func (g *taskGroup) start(r *tasksRequest, t *task, env []string) error {
	rank := uint32(t.Rank)
	if len(t.Args) == 0 {
		return fmt.Errorf("task %d has no command", t.Rank)
	}
	var tty *terminal
	if r.Terminal && t.Rank == 0 {
		var err error
		if tty, err = openTerminal(r.Width, r.Height); err != nil {
			return err
		}
	}
	p, err := startProcess(t, r.Dir, launchconfig.Merge(env, t.Env), tty, stream{g.wire, stdoutFrame, rank}, stream{g.wire, stderrFrame, rank})
	if err != nil {
		return g.wire.sendJSON(exitFrame, rank, notStarted(err))
	}
	if p.stdin != nil {
		p.feed(func() { _ = g.wire.send(takenFrame, rank, nil) })
	}
	g.mu.Lock()
	g.processes[rank] = p
	g.mu.Unlock()
	g.agent.add(p)
	if err := g.wire.send(startedFrame, rank, numberBytes(p.command.Process.Pid)); err != nil {
		p.signal(int(syscall.SIGKILL))
	}
	g.ends.Go(func() {
		failure := p.executed()
		e := g.ofMemory(p.wait())
		g.agent.remove(p)
		if failure != nil {
			e = notStarted(failure)
		}
		_ = g.wire.sendJSON(exitFrame, rank, e)
	})
	return nil
}

// listen applies srun's messages (input, signals, terminal sizes) to the tasks until srun disconnects.
func (g *taskGroup) listen() {
	for {
		f, err := g.wire.receive()
		if err != nil {
			return
		}
		if f.kind == signalFrame {
			g.signal(number(f.data))
			continue
		}
		g.mu.Lock()
		p := g.processes[f.task]
		g.mu.Unlock()
		switch {
		case p == nil:
		case f.kind == stdinFrame && len(f.data) > 0:
			p.put(f.data)
		case f.kind == stdinEndFrame:
			p.put(nil)
		case f.kind == resizeFrame && p.terminal != nil && len(f.data) == 4:
			p.terminal.resize(binary.BigEndian.Uint16(f.data), binary.BigEndian.Uint16(f.data[2:]))
		}
	}
}

func (g *taskGroup) signal(number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.processes {
		p.signal(number)
	}
}

// kill ends the tasks after their srun has disconnected.
func (g *taskGroup) kill() {
	g.signal(int(syscall.SIGTERM))
	g.signal(int(syscall.SIGCONT))
	timer := time.AfterFunc(killWait, func() { g.signal(int(syscall.SIGKILL)) })
	g.ends.Wait()
	timer.Stop()
}

func (a *agent) add(p *process) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running == nil {
		a.running = map[*process]bool{}
	}
	a.running[p] = true
}

func (a *agent) remove(p *process) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.running, p)
}

// signal sends a signal to all tasks of the pod.
func (a *agent) signal(number int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p := range a.running {
		p.signal(number)
	}
}

func (a *agent) countSteps(by int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.steps += by
}

// idle waits until no steps are left or ctx is done.
func (a *agent) idle(ctx context.Context) {
	for {
		a.mu.Lock()
		steps := a.steps
		a.mu.Unlock()
		if steps == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}
