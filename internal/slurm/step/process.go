package step

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
)

// drainTime is how long to read output after a task has ended. Background processes of the task may keep the pipe
// open.
const drainTime = 500 * time.Millisecond

// maxRest is the maximum amount of output that is read after that. A pipe cannot contain more.
const maxRest = 1 << 20

// killWait is the time between sending SIGTERM and sending SIGKILL to tasks.
const killWait = 5 * time.Second

// Exit codes of programs that could not be started. As in Slurm, they are the numbers of the errors.
const (
	codeNotFound  = 2
	codeNoProgram = 13
)

// process is a running task.
type process struct {
	command  *exec.Cmd
	stdin    io.WriteCloser // nil if the task has no input
	typed    chan []byte    // input for stdin; an empty piece ends the input
	terminal *terminal
	readers  []*os.File
	copying  sync.WaitGroup
	verdict  *os.File   // receives the error if the task's program could not be executed
	mu       sync.Mutex // guards ended
	ended    bool
}

// command describes the process of a script or task.
type command struct {
	args, env []string
	dir       string
	// terminal is the pseudo terminal of the process; nil if it has none.
	terminal *terminal
	// pipesInput is true if the process receives its input through queueInput; otherwise it reads input, which may be
	// nil.
	pipesInput bool
	input      *os.File
}

// startProcess starts a command in its own process group and copies its output to the writers. If the command has a
// terminal, or if stderr is nil, the process uses a single descriptor for both streams, which preserves the order of
// its output.
func startProcess(c command, stdout, stderr io.Writer) (*process, error) {
	p := &process{command: &exec.Cmd{Dir: c.dir, Env: c.env, Args: c.args, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}, terminal: c.terminal}
	var err error
	if p.command.Path, err = lookPath(c.args[0], c.dir, c.env); err != nil {
		return nil, err
	}
	var theirs []*os.File
	if tty := c.terminal; tty != nil {
		p.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		p.command.Stdin, p.command.Stdout, p.command.Stderr = tty.slave, tty.slave, tty.slave
		p.stdin = tty.master
		theirs = append(theirs, tty.slave)
		p.copyOutput(stdout, tty.master)
	} else if theirs, err = p.connectPipes(c.pipesInput, stdout, stderr); err != nil {
		return nil, err
	}
	if c.input != nil {
		p.command.Stdin, theirs = c.input, append(theirs, c.input)
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

// connectPipes connects the streams of a task and returns the ends of the pipes that belong to the task. Output goes
// through pipes of this process, so that background processes do not delay the end of the task.
func (p *process) connectPipes(stdin bool, stdout, stderr io.Writer) (theirs []*os.File, err error) {
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

func (p *process) copyOutput(to io.Writer, from *os.File) {
	p.readers = append(p.readers, from)
	p.copying.Go(func() {
		buffer := make([]byte, chunk)
		rest := maxRest
		for {
			n, err := from.Read(buffer)
			if n > 0 {
				_, _ = to.Write(buffer[:n]) // the task continues even if nothing reads its output
			}
			switch {
			case errors.Is(err, os.ErrDeadlineExceeded) && rest > 0:
				// The task has ended. If the reader was slow, the pipe may still contain output.
				rest -= chunk
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

// readAvailable reads the data that is available without waiting.
func readAvailable(from *os.File, buffer []byte) (n int, err error) {
	raw, err := from.SyscallConn()
	if err != nil {
		return 0, err
	}
	controlErr := raw.Control(func(fd uintptr) { n, err = syscall.Read(int(fd), buffer) })
	return max(n, 0), errors.Join(err, controlErr)
}

// waitForEnd waits until the task has ended and its output has been copied.
func (p *process) waitForEnd() ending {
	err := p.command.Wait()
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.closePipes(drainTime)
	p.endInput()
	return endingOfState(p.command.ProcessState, err)
}

func (p *process) closePipes(limit time.Duration) {
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

// startInput starts a goroutine that writes input to the task, so that signals are not delayed if the task does not
// read its input. It calls written after each piece.
func (p *process) startInput(written func()) {
	typed := make(chan []byte, window+1)
	p.typed = typed
	go func() {
		for data := range typed {
			if len(data) == 0 {
				if p.terminal == nil {
					_ = p.stdin.Close()
				}
				continue
			}
			_, _ = p.stdin.Write(data) // an error means that the task has closed its input
			written()
		}
	}()
}

// queueInput queues a piece of input; an empty piece ends the input. It never blocks. No input is lost as long as at
// most window pieces are queued.
func (p *process) queueInput(data []byte) {
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

func (p *process) endInput() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.typed != nil {
		close(p.typed)
		p.typed = nil
	}
}

// signalGroup sends a signal to the task's process group.
func (p *process) signalGroup(number int) {
	p.sendSignal(number, -1)
}

// signalProcess sends a signal only to the task's own process.
func (p *process) signalProcess(number int) { p.sendSignal(number, 1) }

func (p *process) sendSignal(number, sign int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended { // after the process has ended, its ID may be reused
		_ = syscall.Kill(sign*p.command.Process.Pid, syscall.Signal(number))
	}
}

func endingOfState(state *os.ProcessState, err error) ending {
	if state == nil {
		return ending{Code: 1, Problem: err.Error()}
	}
	e := ending{Code: state.ExitCode(), Usage: launchconfig.Usage{CPUMillis: (state.UserTime() + state.SystemTime()).Milliseconds()}}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		e.MaxRSS = usage.Maxrss
	}
	if how, ok := state.Sys().(syscall.WaitStatus); ok && how.Signaled() {
		e.Code, e.Signal = 0, int(how.Signal())
	}
	return e
}

// endingNotStarted returns the ending for a task that could not be started.
func endingNotStarted(err error) ending {
	e := ending{Code: codeNoProgram, Problem: err.Error()}
	var path *fs.PathError
	if errors.As(err, &path) {
		e.Problem = path.Err.Error()
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		e.Code, e.Problem = codeNotFound, "No such file or directory"
	} else if errors.Is(err, fs.ErrPermission) {
		e.Problem = "Permission denied"
	}
	return e
}

// lookPath searches for a program in the PATH of env.
func lookPath(name, dir string, env []string) (string, error) {
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

// startThroughHelper changes a command so that it is started by this program. It returns the file that belongs to the
// started process.
func (p *process) startThroughHelper() (theirs *os.File, err error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.verdict = read
	p.command.Args = append([]string{taskName, p.command.Path}, p.command.Args...)
	p.command.Path, p.command.ExtraFiles = own, []*os.File{write}
	return write, nil
}

// waitUntilExecuted waits until the task's program is running. It returns an error if the program could not be
// executed.
func (p *process) waitUntilExecuted() error {
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

// hasInput reports whether the process receives input through queueInput.
func (p *process) hasInput() bool { return p.stdin != nil }

// processID returns the process ID.
func (p *process) processID() int { return p.command.Process.Pid }

// resizeTerminal sets the size of the terminal, if the process has one.
func (p *process) resizeTerminal(width, height uint16) {
	if p.terminal != nil {
		p.terminal.setSize(width, height)
	}
}

// signalRemaining sends a signal to the process group and reports whether the group still contains processes, even if the
// process itself has ended. The ID of a process group cannot be reused while a process of the group exists.
func (p *process) signalRemaining(number syscall.Signal) bool {
	return syscall.Kill(-p.command.Process.Pid, number) == nil
}
