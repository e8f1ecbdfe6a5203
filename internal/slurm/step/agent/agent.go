// Package agent accepts the connections to a pod and runs the tasks of steps in the pod. In the head, it also forwards
// requests about the whole job.
//
//	In:   a protocol.Request for each connection; input and signals for its tasks
//	Out:  the tasks' output and results, as frames
//
// # Invariants
//
//   - The tasks of a step end when its srun disconnects.
//   - A connection is closed only after the peer has closed it, so that nothing that was sent is lost.
//
// # Concurrency
//
// Each connection has its own goroutine. Mutexes guard the lists of processes.
package agent

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
	"github.com/vc-batch/vc/internal/slurm/step/filecopy"
	"github.com/vc-batch/vc/internal/slurm/step/process"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/step/signals"
)

const (
	// helloTime is the maximum time that a new connection may take to send its request.
	helloTime = 10 * time.Second
	// acceptPause is the pause after a failed accept, for example when no file descriptor is free.
	acceptPause = 100 * time.Millisecond
)

// Agent runs tasks in its pod. The agent of the head also responds to requests about the whole job.
type Agent struct {
	// Container is the environment of the pod's container. own holds the variables that are specific to the node.
	Container, own []string
	// Ready is nil except in the head, where it is closed as soon as the function Head may be called.
	Ready chan struct{}
	// Head responds to requests that only the head can handle. Attend keeps a node connected until the job ends.
	Head   func(conn *protocol.Conn, r *protocol.Request) error
	Attend func(conn *protocol.Conn, host string) error

	// OOM counts the pod's processes that were killed for lack of memory.
	OOM *process.OOMCounter

	mu      sync.Mutex // guards the fields below
	running map[*process.Process]bool
	// steps is the number of steps that have tasks in this pod, or whose srun has not received all results yet.
	steps int
}

// New returns an agent. container is the environment of the pod's container, and own holds the variables of the node.
func New(container, own []string) *Agent {
	return &Agent{Container: container, own: own, OOM: process.NewOOMCounter()}
}

// PortAddress returns the address on which a pod's agent listens for connections from the job's other pods. Pods with
// loopback addresses share a network, which means that each of them must listen only on its own address.
func PortAddress(podIP string) string {
	if ip := net.ParseIP(podIP); ip != nil && ip.IsLoopback() {
		return net.JoinHostPort(podIP, protocol.Port)
	}
	return ":" + protocol.Port
}

// OpenListeners opens the pod's local socket and, if identity is not nil, a TLS port at address for the job's other
// pods.
func OpenListeners(socket, address string, identity *tls.Config) (listeners []net.Listener, err error) {
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
		return nil, fmt.Errorf("listen for connections from the job's other pods: %w", err)
	}
	return []net.Listener{local, open}, nil
}

// ServeConnections handles connections until the listener is closed.
func (a *Agent) ServeConnections(l net.Listener) {
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

func (a *Agent) answerConnection(connection net.Conn) {
	conn := protocol.NewConn(connection)
	_ = connection.SetReadDeadline(time.Now().Add(helloTime))
	f, err := conn.ReceiveFrame()
	if err != nil || f.Kind != protocol.AskFrame {
		_ = conn.Close()
		return
	}
	_ = connection.SetReadDeadline(time.Time{})
	defer conn.CloseAfterPeer()
	var r protocol.Request
	if err = json.Unmarshal(f.Data, &r); err == nil {
		switch {
		case r.Tasks != nil:
			err = a.runTasks(conn, r.Tasks)
		case r.Store != nil:
			err = filecopy.Store(conn, r.Store)
		case r.Fetch != nil:
			err = filecopy.Fetch(conn, r.Fetch)
		case r.Attend != "" && a.Attend != nil:
			err = a.Attend(conn, r.Attend)
		case a.Ready != nil:
			<-a.Ready
			if r.Attach != nil { // the launcher must not exit before attached viewers have received the end of the step
				a.countSteps(1)
				defer a.countSteps(-1)
			}
			err = a.Head(conn, &r)
		default:
			err = errors.New("only the first node of the job can handle this request")
		}
	}
	if err != nil {
		_ = conn.SendFrame(protocol.ErrorFrame, 0, protocol.EncodeError(err))
	}
}

// runTasks runs the tasks of a step until the last task has ended and srun has received all results. If srun
// disconnects, it kills the tasks.
func (a *Agent) runTasks(conn *protocol.Conn, r *protocol.TasksRequest) error {
	a.countSteps(1)
	defer a.countSteps(-1)
	group := &taskGroup{agent: a, conn: conn, processes: map[uint32]*process.Process{}}
	env := launchconfig.MergeVariables(a.Container, r.Env, a.own)
	if r.Dir != "" {
		if info, err := os.Stat(r.Dir); err != nil || !info.IsDir() {
			_ = conn.SendFrame(protocol.NoticeFrame, 0, []byte(fmt.Sprintf("error: couldn't chdir to `%s': No such file or directory: going to /tmp instead", r.Dir)))
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
		_ = conn.SendFrame(protocol.AnswerFrame, 0, []byte("{}"))
		conn.CloseWrite()
		<-gone // srun closes the connection after it has received all results
	case <-gone:
		group.killTasks()
		<-over
	}
	return nil
}

// taskGroup holds the tasks of a step in one pod.
type taskGroup struct {
	agent     *Agent
	conn      *protocol.Conn
	ends      sync.WaitGroup
	mu        sync.Mutex // guards the fields below
	processes map[uint32]*process.Process
	oomKills  int // processes of the step that were killed for lack of memory
}

// classifyEnding returns how a task ended. As in Slurm, the task counts as killed by the out-of-memory killer if any
// process of its step in this pod was killed by it, even if the task itself was not.
func (g *taskGroup) classifyEnding(e protocol.Ending) protocol.Ending {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.oomKills += g.agent.OOM.ClaimKills()
	if g.oomKills == 0 {
		return e
	}
	return protocol.Ending{Signal: signals.NoMemory, Usage: e.Usage}
}

// reportMemoryKills reports to srun how many processes of the step were killed by the out-of-memory killer.
func (g *taskGroup) reportMemoryKills(job string, step int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.oomKills > 0 {
		_ = g.conn.SendFrame(protocol.NoticeFrame, 0, []byte(process.OOMText(g.oomKills, fmt.Sprintf("%s.%d", job, step))))
	}
}

func (g *taskGroup) startTask(r *protocol.TasksRequest, t *protocol.Task, env []string) error {
	rank := uint32(t.Rank)
	if len(t.Args) == 0 {
		return fmt.Errorf("task %d has no command", t.Rank)
	}
	var tty *process.Terminal
	if r.Terminal && t.Rank == 0 {
		var err error
		if tty, err = process.OpenTerminal(r.Width, r.Height); err != nil {
			return err
		}
	}
	p, err := process.Start(process.Command{Args: t.Args, Env: launchconfig.MergeVariables(env, t.Env), Dir: r.Dir, Terminal: tty, PipesInput: t.Stdin},
		protocol.NewStream(g.conn, protocol.StdoutFrame, rank), protocol.NewStream(g.conn, protocol.StderrFrame, rank))
	if err != nil {
		return g.conn.SendJSON(protocol.ExitFrame, rank, process.EndingNotStarted(err))
	}
	if p.HasInput() {
		p.StartInput(func() { _ = g.conn.SendFrame(protocol.TakenFrame, rank, nil) })
	}
	g.mu.Lock()
	g.processes[rank] = p
	g.mu.Unlock()
	g.agent.addProcess(p)
	if err := g.conn.SendFrame(protocol.StartedFrame, rank, protocol.EncodeNumber(p.PID())); err != nil {
		p.SignalGroup(int(syscall.SIGKILL))
	}
	g.ends.Go(func() {
		failure := p.WaitUntilExecuted()
		e := g.classifyEnding(p.WaitForEnd())
		g.agent.removeProcess(p)
		if failure != nil {
			e = process.EndingNotStarted(failure)
		}
		_ = g.conn.SendJSON(protocol.ExitFrame, rank, e)
	})
	return nil
}

// handleMessages applies srun's messages, which are input, signals and terminal sizes, to the tasks until srun
// disconnects.
func (g *taskGroup) handleMessages() {
	for {
		f, err := g.conn.ReceiveFrame()
		if err != nil {
			return
		}
		if f.Kind == protocol.SignalFrame {
			g.signalTasks(protocol.DecodeNumber(f.Data))
			continue
		}
		g.mu.Lock()
		p := g.processes[f.Task]
		g.mu.Unlock()
		switch {
		case p == nil:
		case f.Kind == protocol.StdinFrame && len(f.Data) > 0:
			p.QueueInput(f.Data)
		case f.Kind == protocol.StdinEndFrame:
			p.QueueInput(nil)
		case f.Kind == protocol.ResizeFrame && len(f.Data) == 4:
			p.ResizeTerminal(binary.BigEndian.Uint16(f.Data), binary.BigEndian.Uint16(f.Data[2:]))
		}
	}
}

func (g *taskGroup) signalTasks(number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.processes {
		p.SignalGroup(number)
	}
}

// killTasks ends the tasks, for example after their srun has disconnected. It first sends SIGTERM, and after a delay
// SIGKILL.
func (g *taskGroup) killTasks() {
	g.signalTasks(int(syscall.SIGTERM))
	g.signalTasks(int(syscall.SIGCONT))
	timer := time.AfterFunc(process.KillDelay, func() { g.signalTasks(int(syscall.SIGKILL)) })
	g.ends.Wait()
	timer.Stop()
}

func (a *Agent) addProcess(p *process.Process) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running == nil {
		a.running = map[*process.Process]bool{}
	}
	a.running[p] = true
}

func (a *Agent) removeProcess(p *process.Process) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.running, p)
}

// SignalProcesses sends a signal to all tasks in the pod.
func (a *Agent) SignalProcesses(number int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p := range a.running {
		p.SignalGroup(number)
	}
}

func (a *Agent) countSteps(by int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.steps += by
}

// WaitUntilIdle waits until no steps are left, or until ctx is done.
func (a *Agent) WaitUntilIdle(ctx context.Context) {
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
