package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// prSetChildSubreaper makes this process the parent of orphaned descendants (prctl).
const prSetChildSubreaper = 36

func init() { Main() }

// Main runs the container's init if the program was started as one, and then never returns. Otherwise, it does
// nothing.
func Main() {
	if len(os.Args) == 0 || os.Args[0] != Argv0 {
		return
	}
	runtime.LockOSThread()
	debug.SetGCPercent(20)
	debug.SetMemoryLimit(8 << 20)
	syscall.CloseOnExec(SocketFD)
	serveRequests()
	os.Exit(0)
}

// server holds the state of the init.
type server struct {
	mu        sync.Mutex
	processes map[int]int // process ID → request ID; 0 is the main process
	mainPid   int         // 0 while a container without a command waits
	ownPID    bool
}

func serveRequests() {
	s := &server{processes: map[int]int{}}
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	// If a process in the container sends a signal to all processes, this must not end the init. The init catches
	// these signals instead of ignoring them, because its children would inherit ignored signals.
	others := make(chan os.Signal, 16)
	signal.Notify(others, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE)
	go func() {
		for range others {
		}
	}()
	go func() {
		for range children {
			s.reapChildren()
		}
	}()
	for {
		var request Request
		files, err := ReceiveMessage(SocketFD, &request)
		if err != nil {
			killAll(s.ownPID)
			return
		}
		s.handleRequest(request, files)
		for _, file := range files {
			_ = syscall.Close(file)
		}
	}
}

func (s *server) handleRequest(request Request, files []int) {
	switch request.Op {
	case OpStart:
		s.startMain(request.Container, files)
	case OpExec:
		s.startExec(request, files)
	case OpSignal:
		s.sendSignal(request.ID, syscall.Signal(request.Signal))
	}
}

// startMain creates the root and starts the main process. If either fails, the init ends.
func (s *server) startMain(container *Container, files []int) {
	s.ownPID = container.OwnPID
	root, err := buildRoot(container)
	if err != nil {
		s.reportStartFailure(err)
		return
	}
	process := container.Process
	if len(process.Args) == 0 {
		reportEvent(Event{Kind: EventStarted, Root: root, Pid: os.Getpid()})
		return
	}
	if root != RootNone && process.Dir != "" {
		// Create a missing working directory, as container runtimes do.
		_ = os.MkdirAll(process.Dir, 0o755)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	pid, err := spawnProcess(process, files)
	if err != nil {
		reportEvent(Event{Kind: EventFailed, Code: CodeCannotStart, Message: err.Error()})
		killAll(s.ownPID)
		os.Exit(0)
	}
	s.processes[pid], s.mainPid = 0, pid
	reportEvent(Event{Kind: EventStarted, Root: root, Pid: pid})
}

func (s *server) reportStartFailure(err error) {
	reportEvent(Event{Kind: EventFailed, Code: CodeCannotStart, Message: err.Error()})
	os.Exit(0)
}

func (s *server) startExec(request Request, files []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pid, err := spawnProcess(*request.Process, files)
	if err != nil {
		code := CodeNotRunnable
		if errors.Is(err, fs.ErrNotExist) {
			code = CodeNotFound
		}
		reportEvent(Event{Kind: EventFailed, ID: request.ID, Code: code, Message: err.Error()})
		return
	}
	s.processes[pid] = request.ID
	reportEvent(Event{Kind: EventStarted, ID: request.ID, Pid: pid})
}

// sendSignal sends a signal to a process. If the process was started by exec, it sends the signal to the whole session,
// because otherwise the background processes of the session would never end.
func (s *server) sendSignal(id int, sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == 0 && s.mainPid == 0 {
		if sig == syscall.SIGTERM || sig == syscall.SIGINT {
			s.endContainer(0, 0)
		}
		if sig == syscall.SIGKILL {
			s.endContainer(128+int(sig), int(sig))
		}
		return
	}
	for pid, process := range s.processes {
		if process != id {
			continue
		}
		if id != 0 {
			_ = syscall.Kill(-pid, sig)
		}
		_ = syscall.Kill(pid, sig)
	}
}

// reapChildren collects all children that have ended. The container ends when its main process ends.
func (s *server) reapChildren() {
	for {
		var status syscall.WaitStatus
		s.mu.Lock()
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			s.mu.Unlock()
			continue
		}
		if err != nil || pid <= 0 {
			s.mu.Unlock()
			return
		}
		if id, known := s.processes[pid]; known {
			delete(s.processes, pid)
			code, sig := exitCodeAndSignal(status)
			if id == 0 {
				s.endContainer(code, sig)
			}
			reportEvent(Event{Kind: EventExited, ID: id, Code: code, Signal: sig})
		}
		s.mu.Unlock()
	}
}

// endContainer kills the remaining processes, reports that the main process has ended, and ends the init.
func (s *server) endContainer(code, sig int) {
	killAll(s.ownPID)
	reportEvent(Event{Kind: EventExited, ID: 0, Code: code, Signal: sig})
	os.Exit(0)
}

func exitCodeAndSignal(status syscall.WaitStatus) (code, sig int) {
	if status.Signaled() {
		return 128 + int(status.Signal()), int(status.Signal())
	}
	return status.ExitStatus(), 0
}

func reportEvent(event Event) {
	if err := SendMessage(SocketFD, event); err != nil {
		killAll(false)
		os.Exit(1)
	}
}

// killAll kills all processes that belong to the init and waits until they have ended.
func killAll(ownPID bool) {
	for range 1000 {
		if ownPID {
			_ = syscall.Kill(-1, syscall.SIGKILL)
		} else {
			for _, pid := range childProcesses(os.Getpid()) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		// Children of killed processes become children of this sub-reaper, so the next round finds them.
		if _, err := syscall.Wait4(-1, nil, 0, nil); err == syscall.ECHILD {
			return
		}
	}
}

func childProcesses(pid int) []int {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	var pids []int
	for _, task := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}
