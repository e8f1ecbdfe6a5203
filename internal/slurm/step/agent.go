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

const (
	// helloTime limits how long a new connection may take to send its request.
	helloTime = 10 * time.Second
	// acceptPause is the pause after a failed accept, for example when no file descriptor is free.
	acceptPause = 100 * time.Millisecond
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

	// oom counts the processes of the pod that were killed for lack of memory.
	oom *oomKills

	mu      sync.Mutex // guards the fields below
	running map[*process]bool
	// steps counts the steps that have tasks in this pod, or whose srun has not received all results yet.
	steps int
}

// newAgent returns an agent with the environment of the pod's container and the variables of the node.
func newAgent(container, own []string) *agent {
	return &agent{container: container, own: own, oom: newOOMKills()}
}

// portAddress returns the address on which a pod's agent listens for connections from the job's other pods. Pods with
// loopback addresses share a network, so each of them listens only on its own address.
func portAddress(podIP string) string {
	if ip := net.ParseIP(podIP); ip != nil && ip.IsLoopback() {
		return net.JoinHostPort(podIP, Port)
	}
	return ":" + Port
}

// openListeners opens the pod's local socket and, if identity is not nil, a TLS port at address for the job's other
// pods.
func openListeners(socket, address string, identity *tls.Config) (listeners []net.Listener, err error) {
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

// serveConnections handles connections until the listener is closed.
func (a *agent) serveConnections(l net.Listener) {
	for {
		connection, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(acceptPause) // the process may be out of file descriptors
			continue
		}
		go a.answerConnection(connection)
	}
}

func (a *agent) answerConnection(connection net.Conn) {
	w := newWire(connection)
	_ = connection.SetReadDeadline(time.Now().Add(helloTime))
	f, err := w.receiveFrame()
	if err != nil || f.kind != askFrame {
		_ = w.Close()
		return
	}
	_ = connection.SetReadDeadline(time.Time{})
	defer w.closeAfterPeer()
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
		_ = w.sendFrame(errorFrame, 0, encodeError(err))
	}
}

// runTasks runs the tasks of a step until the last task has ended and srun has received all results. If srun
// disconnects, it kills the tasks.
func (a *agent) runTasks(w *wire, r *tasksRequest) error {
	a.countSteps(1)
	defer a.countSteps(-1)
	group := &taskGroup{agent: a, wire: w, processes: map[uint32]*process{}}
	env := launchconfig.MergeVariables(a.container, r.Env, a.own)
	if r.Dir != "" {
		if info, err := os.Stat(r.Dir); err != nil || !info.IsDir() {
			_ = w.sendFrame(noticeFrame, 0, []byte(fmt.Sprintf("error: couldn't chdir to `%s': No such file or directory: going to /tmp instead", r.Dir)))
			r.Dir = "/tmp"
		}
	}
	for i := range r.Tasks {
		if err := group.startTask(r, &r.Tasks[i], env); err != nil {
			group.killTasks()
			return err
		}
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		group.handleMessages()
	}()
	over := make(chan struct{})
	go func() {
		defer close(over)
		group.ends.Wait()
		group.reportMemoryKills(launchconfig.VariableValue(env, "SLURM_JOB_ID"), r.Step)
	}()
	select {
	case <-over:
		_ = w.sendFrame(answerFrame, 0, []byte("{}"))
		w.closeWrite()
		<-gone // srun closes the connection after it has received the response
	case <-gone:
		group.killTasks()
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

// classifyEnding returns how a task ended. As in Slurm, the task counts as killed by the out-of-memory killer if any
// process of its step in this pod was killed by it, even if that was not the task itself.
func (g *taskGroup) classifyEnding(e ending) ending {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.oomKills += g.agent.oom.claimKills()
	if g.oomKills == 0 {
		return e
	}
	return ending{Signal: signalNoMemory, Usage: e.Usage}
}

// reportMemoryKills reports processes that were killed by the out-of-memory killer to srun.
func (g *taskGroup) reportMemoryKills(job string, step int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.oomKills > 0 {
		_ = g.wire.sendFrame(noticeFrame, 0, []byte(memoryKillText(g.oomKills, fmt.Sprintf("%s.%d", job, step))))
	}
}

func (g *taskGroup) startTask(r *tasksRequest, t *task, env []string) error {
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
	p, err := startProcess(command{args: t.Args, env: launchconfig.MergeVariables(env, t.Env), dir: r.Dir, terminal: tty, pipesInput: t.Stdin},
		newStream(g.wire, stdoutFrame, rank), newStream(g.wire, stderrFrame, rank))
	if err != nil {
		return g.wire.sendJSON(exitFrame, rank, endingNotStarted(err))
	}
	if p.hasInput() {
		p.startInput(func() { _ = g.wire.sendFrame(takenFrame, rank, nil) })
	}
	g.mu.Lock()
	g.processes[rank] = p
	g.mu.Unlock()
	g.agent.addProcess(p)
	if err := g.wire.sendFrame(startedFrame, rank, encodeNumber(p.processID())); err != nil {
		p.signalGroup(int(syscall.SIGKILL))
	}
	g.ends.Go(func() {
		failure := p.waitUntilExecuted()
		e := g.classifyEnding(p.waitForEnd())
		g.agent.removeProcess(p)
		if failure != nil {
			e = endingNotStarted(failure)
		}
		_ = g.wire.sendJSON(exitFrame, rank, e)
	})
	return nil
}

// handleMessages applies srun's messages (input, signals, terminal sizes) to the tasks until srun disconnects.
func (g *taskGroup) handleMessages() {
	for {
		f, err := g.wire.receiveFrame()
		if err != nil {
			return
		}
		if f.kind == signalFrame {
			g.signalTasks(decodeNumber(f.data))
			continue
		}
		g.mu.Lock()
		p := g.processes[f.task]
		g.mu.Unlock()
		switch {
		case p == nil:
		case f.kind == stdinFrame && len(f.data) > 0:
			p.queueInput(f.data)
		case f.kind == stdinEndFrame:
			p.queueInput(nil)
		case f.kind == resizeFrame && len(f.data) == 4:
			p.resizeTerminal(binary.BigEndian.Uint16(f.data), binary.BigEndian.Uint16(f.data[2:]))
		}
	}
}

func (g *taskGroup) signalTasks(number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.processes {
		p.signalGroup(number)
	}
}

// killTasks ends the tasks after their srun has disconnected.
func (g *taskGroup) killTasks() {
	g.signalTasks(int(syscall.SIGTERM))
	g.signalTasks(int(syscall.SIGCONT))
	timer := time.AfterFunc(killWait, func() { g.signalTasks(int(syscall.SIGKILL)) })
	g.ends.Wait()
	timer.Stop()
}

func (a *agent) addProcess(p *process) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running == nil {
		a.running = map[*process]bool{}
	}
	a.running[p] = true
}

func (a *agent) removeProcess(p *process) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.running, p)
}

// signalProcesses sends a signal to all tasks of the pod.
func (a *agent) signalProcesses(number int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p := range a.running {
		p.signalGroup(number)
	}
}

func (a *agent) countSteps(by int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.steps += by
}

// waitUntilIdle waits until no steps are left or ctx is done.
func (a *agent) waitUntilIdle(ctx context.Context) {
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
