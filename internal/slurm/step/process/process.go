// Package process runs the script and the tasks of steps as processes in the pod. It connects their streams to pipes or
// to a pseudo terminal, signals them, and determines how they ended, including whether the kernel killed them for lack
// of memory.
//
// # Concurrency
//
// Each output of a process is copied by its own goroutine, as is its input. All methods may be called concurrently.
package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// drainTime is the time for which output is read after a task has ended. It is limited because background processes of
// the task may keep the pipe open.
const drainTime = 500 * time.Millisecond

// maxRest is the maximum amount of output that is read after drainTime. A pipe cannot contain more than this.
const maxRest = 1 << 20

// KillDelay is the time between sending SIGTERM to tasks and sending SIGKILL.
const KillDelay = 5 * time.Second

// Exit codes of programs that could not be started. As in Slurm, they are the numbers of the corresponding errors.
const (
	CodeNotFound  = 2
	codeNoProgram = 13
)

// Process is a running task.
type Process struct {
	command  *exec.Cmd
	stdin    io.WriteCloser // nil if the task has no input
	typed    chan []byte    // input for stdin; an empty piece marks the end of the input
	terminal *Terminal
	readers  []*os.File
	copying  sync.WaitGroup
	verdict  *os.File   // receives the error if the task's program could not be executed
	mu       sync.Mutex // guards ended and typed
	ended    bool
}

// Command describes the process of a script or task.
type Command struct {
	Args, Env []string
	Dir       string
	// Terminal is the pseudo terminal of the process. It is nil if the process has none.
	Terminal *Terminal
	// PipesInput is true if the process receives its input through QueueInput. Otherwise, the process reads Input,
	// which may be nil.
	PipesInput bool
	Input      *os.File
}

// Start starts a command in its own process group and copies its output to the writers. If the command has a terminal,
// or if stderr is nil, the process uses a single descriptor for both output streams, which preserves the order of the
// output.
func Start(c Command, stdout, stderr io.Writer) (*Process, error) {
	p := &Process{command: &exec.Cmd{Dir: c.Dir, Env: c.Env, Args: c.Args, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}, terminal: c.Terminal}
	var err error
	if p.command.Path, err = LookPath(c.Args[0], c.Dir, c.Env); err != nil {
		return nil, err
	}
	var theirs []*os.File
	if tty := c.Terminal; tty != nil {
		p.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		p.command.Stdin, p.command.Stdout, p.command.Stderr = tty.Slave, tty.Slave, tty.Slave
		p.stdin = tty.Master
		theirs = append(theirs, tty.Slave)
		p.copyOutput(stdout, tty.Master)
	} else if theirs, err = p.connectPipes(c.PipesInput, stdout, stderr); err != nil {
		return nil, err
	}
	if c.Input != nil {
		p.command.Stdin, theirs = c.Input, append(theirs, c.Input)
	}
	verdict, err := p.startThroughHelper()
	if err == nil {
		theirs = append(theirs, verdict)
		err = p.command.Start()
	}
	for _, file := range theirs {
		_ = file.Close()
	}
	if err != nil {
		p.closePipes(0)
		return nil, err
	}
	return p, nil
}

// connectPipes connects the streams of a task and returns the ends of the pipes that belong to the task. The output
// goes through pipes that this process reads itself, so that background processes do not delay the end of the task.
func (p *Process) connectPipes(stdin bool, stdout, stderr io.Writer) (theirs []*os.File, err error) {
	for _, to := range []struct {
		writer io.Writer
		end    *io.Writer
	}{{stdout, &p.command.Stdout}, {stderr, &p.command.Stderr}} {
		if to.writer == nil {
			*to.end = p.command.Stdout
			continue
		}
		read, write, err := os.Pipe()
		if err != nil {
			p.closePipes(0)
			return theirs, err
		}
		*to.end, theirs = write, append(theirs, write)
		p.copyOutput(to.writer, read)
	}
	if !stdin {
		return theirs, nil
	}
	read, write, err := os.Pipe()
	if err != nil {
		p.closePipes(0)
		return theirs, err
	}
	p.command.Stdin, p.stdin = read, write
	return append(theirs, read), nil
}

func (p *Process) copyOutput(to io.Writer, from *os.File) {
	p.readers = append(p.readers, from)
	p.copying.Go(func() {
		buffer := make([]byte, protocol.ChunkSize)
		rest := maxRest
		for {
			n, err := from.Read(buffer)
			if n > 0 {
				_, _ = to.Write(buffer[:n]) // the task continues even if nothing reads its output
			}
			switch {
			case errors.Is(err, os.ErrDeadlineExceeded) && rest > 0:
				// The task has ended. If the reader was slow, the pipe may still contain output.
				rest -= protocol.ChunkSize
				if n, _ = readAvailable(from, buffer); n == 0 {
					return
				}
				_, _ = to.Write(buffer[:n])
			case err != nil:
				return
			}
		}
	})
}

// readAvailable reads the data that can be read without waiting.
func readAvailable(from *os.File, buffer []byte) (n int, err error) {
	raw, err := from.SyscallConn()
	if err != nil {
		return 0, err
	}
	controlErr := raw.Control(func(fd uintptr) { n, err = syscall.Read(int(fd), buffer) })
	return max(n, 0), errors.Join(err, controlErr)
}

// WaitForEnd waits until the task has ended and its output has been copied. It returns how the task ended.
func (p *Process) WaitForEnd() protocol.Ending {
	err := p.command.Wait()
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.closePipes(drainTime)
	p.endInput()
	return EndingOf(p.command.ProcessState, err)
}

func (p *Process) closePipes(limit time.Duration) {
	for _, reader := range p.readers {
		_ = reader.SetReadDeadline(time.Now().Add(limit))
	}
	p.copying.Wait()
	for _, reader := range p.readers {
		_ = reader.Close()
	}
	if p.stdin != nil {
		_ = p.stdin.Close()
	}
	if p.verdict != nil {
		_ = p.verdict.Close()
	}
}

// StartInput starts a goroutine that writes input to the task, so that a task that does not read its input does not
// delay signals. The goroutine calls written after each piece.
func (p *Process) StartInput(written func()) {
	typed := make(chan []byte, protocol.InputWindow+1)
	p.mu.Lock()
	p.typed = typed
	p.mu.Unlock()
	go func() {
		for data := range typed {
			if len(data) == 0 {
				if p.terminal == nil {
					_ = p.stdin.Close()
				}
				continue
			}
			_, _ = p.stdin.Write(data) // an error is ignored, because it means that the task has closed its input
			written()
		}
	}()
}

// QueueInput queues a piece of input. An empty piece marks the end of the input. QueueInput never blocks. No input is
// lost if at most protocol.InputWindow pieces are queued at the same time.
func (p *Process) QueueInput(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.typed == nil {
		return
	}
	select {
	case p.typed <- data:
	default:
	}
}

func (p *Process) endInput() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.typed != nil {
		close(p.typed)
		p.typed = nil
	}
}

// SignalGroup sends a signal to the task's process group.
func (p *Process) SignalGroup(number int) {
	p.sendSignal(number, -1)
}

// SignalProcess sends a signal only to the task's own process.
func (p *Process) SignalProcess(number int) { p.sendSignal(number, 1) }

func (p *Process) sendSignal(number, sign int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended { // after the process has ended, its ID may be reused
		_ = syscall.Kill(sign*p.command.Process.Pid, syscall.Signal(number))
	}
}

// EndingOf returns how a process ended. err is the error that was returned when waiting for the process.
func EndingOf(state *os.ProcessState, err error) protocol.Ending {
	if state == nil {
		return protocol.Ending{Code: 1, Problem: err.Error()}
	}
	e := protocol.Ending{Code: state.ExitCode(), Usage: launchconfig.Usage{CPUMillis: (state.UserTime() + state.SystemTime()).Milliseconds()}}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		e.MaxRSS = usage.Maxrss
	}
	if how, ok := state.Sys().(syscall.WaitStatus); ok && how.Signaled() {
		e.Code, e.Signal = 0, int(how.Signal())
	}
	return e
}

// EndingNotStarted returns the Ending of a task that could not be started because of err.
func EndingNotStarted(err error) protocol.Ending {
	e := protocol.Ending{Code: codeNoProgram, Problem: err.Error()}
	var path *fs.PathError
	if errors.As(err, &path) {
		e.Problem = path.Err.Error()
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		e.Code, e.Problem = CodeNotFound, "No such file or directory"
	} else if errors.Is(err, fs.ErrPermission) {
		e.Problem = "Permission denied"
	}
	return e
}

// LookPath searches for a program in the PATH of env. dir is the directory to which relative entries in PATH refer.
func LookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, directory := range filepath.SplitList(launchconfig.VariableValue(env, "PATH")) {
		if directory == "" {
			directory = "."
		}
		if !filepath.IsAbs(directory) {
			directory = filepath.Join(dir, directory)
		}
		path := filepath.Join(directory, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// startThroughHelper changes the command so that this program, called with the name StarterName, starts it. It returns
// the file that belongs to the started process.
func (p *Process) startThroughHelper() (theirs *os.File, err error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.verdict = read
	p.command.Args = append([]string{StarterName, p.command.Path}, p.command.Args...)
	p.command.Path, p.command.ExtraFiles = own, []*os.File{write}
	return write, nil
}

// WaitUntilExecuted waits until the task's program is running. It returns an error if the program could not be
// executed.
func (p *Process) WaitUntilExecuted() error {
	text, err := io.ReadAll(p.verdict)
	_ = p.verdict.Close()
	if err != nil || len(text) == 0 {
		return err
	}
	number, err := strconv.Atoi(string(text))
	if err != nil {
		return fmt.Errorf("the task was not started: %q", text)
	}
	return syscall.Errno(number)
}

// HasInput reports whether the process receives input from this process.
func (p *Process) HasInput() bool { return p.stdin != nil }

// PID returns the process ID.
func (p *Process) PID() int { return p.command.Process.Pid }

// ResizeTerminal sets the size of the terminal, if the process has one.
func (p *Process) ResizeTerminal(width, height uint16) {
	if p.terminal != nil {
		p.terminal.SetSize(width, height)
	}
}

// SignalRemaining sends a signal to the process group and reports whether the group still contains processes. It may be
// called even if the process itself has ended, because the ID of a process group is not reused while the group contains
// a process.
func (p *Process) SignalRemaining(number syscall.Signal) bool {
	return syscall.Kill(-p.command.Process.Pid, number) == nil
}
