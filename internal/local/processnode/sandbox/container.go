package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vc-batch/vc/internal/local/processnode/shim"
)

// ErrGone is returned if the container has ended.
var ErrGone = errors.New("container has ended")

// Exit describes how a process ended.
type Exit struct {
	Code   int // 128+signal if the process was ended by a signal
	Signal int // 0 without a signal
	// StartError is the reason why the process was never started. Code is then 126, 127 or 128.
	StartError string
}

// Level is the degree of isolation that the kernel permits.
type Level int

// The levels, from best to worst.
const (
	LevelFull  Level = iota // root: all namespaces
	LevelUser               // a user namespace allows mounts, process IDs and a host name; the network is the machine's
	LevelPlain              // no namespaces: a plain process
)

// Container is a running container.
type Container struct {
	level   Level
	mu      sync.Mutex
	socket  int
	closed  bool
	init    *os.Process
	nextID  int
	waiting map[int]*Process // execs by ID
	main    *Process
	root    shim.Root
}

// Process is the main process of a container, or an additional process in it.
type Process struct {
	ID      int
	started chan struct{}
	done    chan struct{}
	exit    Exit // valid after done is closed
	once    sync.Once
}

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how the process ended. It is valid after Done is closed.
func (p *Process) Exit() Exit { return p.exit }

func newProcess(id int) *Process {
	return &Process{ID: id, started: make(chan struct{}), done: make(chan struct{})}
}

func (p *Process) recordExit(exit Exit) {
	p.once.Do(func() {
		p.exit = exit
		close(p.done)
	})
}

// Files holds a process's stdin, stdout and stderr.
type Files [3]*os.File

// Start starts a container. If joinGroups is not nil, Start calls it with the process ID of the init before any process
// of the container runs. It returns an error only for problems with the machine (fork, socket). A container that cannot
// be built or run exits with a StartError.
func Start(level Level, spec *shim.Container, namespaces Namespaces, files Files, joinGroups func(pid int) error) (*Container, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open the socket of the container's init: %w", err)
	}
	child := os.NewFile(uintptr(pair[1]), "init")
	process, err := forkContainerInit(level, child, namespaces)
	_ = child.Close()
	if err != nil {
		_ = unix.Close(pair[0])
		return nil, err
	}
	c := &Container{level: level, socket: pair[0], init: process, waiting: map[int]*Process{}, main: newProcess(0)}
	if joinGroups != nil {
		if err := joinGroups(process.Pid); err != nil {
			c.Kill()
			go c.handleEvents()
			return nil, err
		}
	}
	err = shim.SendMessage(c.socket, shim.Request{Op: shim.OpStart, Container: spec}, int(files[0].Fd()), int(files[1].Fd()), int(files[2].Fd()))
	go c.handleEvents()
	if err != nil {
		c.Kill()
		return nil, err
	}
	select {
	case <-c.main.started:
	case <-c.main.done:
	}
	return c, nil
}

func forkContainerInit(level Level, socket *os.File, namespaces Namespaces) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	attributes := &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{null, null, os.Stderr, socket}, Sys: sysProcAttr(level),
	}
	s, err := theSpawner()
	if err != nil {
		return nil, err
	}
	var process *os.Process
	s.runOnThread(func() {
		back, joinErr := s.joinNamespaces(namespaces)
		defer back()
		if err = joinErr; err == nil {
			process, err = os.StartProcess("/proc/self/exe", []string{shim.Argv0}, attributes)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("container's init: %w", err)
	}
	return process, nil
}

func sysProcAttr(level Level) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setsid: true}
	switch level {
	case LevelFull:
		attributes.Cloneflags = syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS
	case LevelUser:
		attributes.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	case LevelPlain:
		// Without a process-ID namespace, the children of a killed init would survive. Therefore, the init must
		// detect that the socket was closed and kill them itself.
		return attributes
	}
	attributes.Pdeathsig = syscall.SIGKILL
	return attributes
}

// handleEvents handles the events of the init until the init has ended.
func (c *Container) handleEvents() {
	for {
		var event shim.Event
		if _, err := shim.ReceiveMessage(c.socket, &event); err != nil {
			break
		}
		c.deliverEvent(event)
	}
	state, err := c.init.Wait()
	exit := Exit{Code: 128 + int(syscall.SIGKILL), Signal: int(syscall.SIGKILL)}
	if err == nil {
		if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			exit = Exit{Code: 128 + int(status.Signal()), Signal: int(status.Signal())}
		}
	}
	c.mu.Lock()
	c.closed = true
	_ = unix.Close(c.socket)
	execs := c.waiting
	c.waiting = map[int]*Process{}
	c.mu.Unlock()
	c.main.recordExit(exit)
	for _, process := range execs {
		process.recordExit(exit)
	}
}

func (c *Container) deliverEvent(event shim.Event) {
	c.mu.Lock()
	process := c.main
	if event.ID != 0 {
		process = c.waiting[event.ID]
	}
	if event.Kind == shim.EventStarted && event.ID == 0 {
		c.root = event.Root
	}
	if event.Kind != shim.EventStarted && event.ID != 0 {
		delete(c.waiting, event.ID)
	}
	c.mu.Unlock()
	if process == nil {
		return
	}
	switch event.Kind {
	case shim.EventStarted:
		close(process.started)
	case shim.EventFailed:
		process.recordExit(Exit{Code: event.Code, StartError: event.Message})
	case shim.EventExited:
		// Report the end of the main process only after the init has ended, because all processes of the container have
		// ended only then.
		if event.ID == 0 {
			<-waitForEnd(c.init)
		}
		process.recordExit(Exit{Code: event.Code, Signal: event.Signal})
	}
}

// waitForEnd returns a channel that is closed when the process is a zombie or has ended. It does not reap the process.
func waitForEnd(process *os.Process) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		var info unix.Siginfo
		for {
			err := unix.Waitid(unix.P_PID, process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
			if err != unix.EINTR {
				return
			}
		}
	}()
	return gone
}

// Main returns the container's main process.
func (c *Container) Main() *Process { return c.main }

// Root returns the way in which the container's root was created. It is valid after Start has returned.
func (c *Container) Root() shim.Root {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.root
}

// Exec starts an additional process in the container.
func (c *Container) Exec(process shim.Process, files Files) (*Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrGone
	}
	c.nextID++
	started := newProcess(c.nextID)
	c.waiting[started.ID] = started
	request := shim.Request{Op: shim.OpExec, ID: started.ID, Process: &process}
	if err := shim.SendMessage(c.socket, request, int(files[0].Fd()), int(files[1].Fd()), int(files[2].Fd())); err != nil {
		delete(c.waiting, started.ID)
		return nil, ErrGone
	}
	return started, nil
}

// Signal sends a signal to a process of the container. If the process was started by Exec, the signal is sent to its
// whole session.
func (c *Container) Signal(process *Process, signal syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrGone
	}
	return shim.SendMessage(c.socket, shim.Request{Op: shim.OpSignal, ID: process.ID, Signal: int(signal)})
}

// InitPID returns the process ID of the container's init, as seen by this process.
func (c *Container) InitPID() int { return c.init.Pid }

// Kill immediately kills the whole container.
func (c *Container) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if c.level == LevelPlain {
		// If the init were killed, its children would survive. When its stream ends, the init kills them and ends
		// itself.
		_ = unix.Shutdown(c.socket, unix.SHUT_WR)
		return
	}
	_ = c.init.Signal(syscall.SIGKILL)
}
