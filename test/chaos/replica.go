package chaos

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a program that is kept running. If it exits by itself, it is started again, as Kubernetes does.
type Process struct {
	name    string
	program string
	args    []string
	log     string
	ended   func(name string, state *os.ProcessState) // called for unexpected exits

	mu      sync.Mutex
	cmd     *exec.Cmd
	closed  bool
	peak    int64 // in bytes, over all restarts
	running sync.WaitGroup
}

func newProcess(name, program, logs string, ended func(string, *os.ProcessState), args ...string) *Process {
	return &Process{name: name, program: program, args: args, log: filepath.Join(logs, name+".log"), ended: ended}
}

// Start starts the program if it does not run.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil || p.closed {
		return nil
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.program, p.args...) //nolint:gosec // the programs under test
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL} // it must not outlive the test
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.cmd = cmd
	p.running.Go(func() { p.wait(cmd) })
	return nil
}

// restartPause is the pause before a program that exited by itself is started again.
const restartPause = time.Second

func (p *Process) wait(cmd *exec.Cmd) {
	_ = cmd.Wait()
	p.mu.Lock()
	byItself := p.cmd == cmd
	if byItself {
		p.cmd = nil
	}
	p.mu.Unlock()
	if !byItself {
		return
	}
	p.ended(p.name, cmd.ProcessState)
	<-time.After(restartPause)
	if err := p.Start(); err != nil {
		p.ended(p.name+": "+err.Error(), nil)
	}
}

// Kill kills the program with SIGKILL, and returns when it has exited.
func (p *Process) Kill() { p.end(syscall.SIGKILL) }

func (p *Process) end(signal syscall.Signal) {
	p.Sample()
	p.mu.Lock()
	cmd := p.cmd
	p.cmd = nil
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(signal)
	for cmd.Process.Signal(syscall.Signal(0)) == nil {
		<-time.After(5 * time.Millisecond)
	}
}

// Close stops the program permanently.
func (p *Process) Close(signal syscall.Signal) {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.end(signal)
	p.running.Wait()
}

// Freeze stops the program with SIGSTOP. thaw lets the same process continue.
func (p *Process) Freeze() (thaw func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd := p.cmd
	if cmd == nil {
		return func() {}
	}
	_ = cmd.Process.Signal(syscall.SIGSTOP)
	return func() { _ = cmd.Process.Signal(syscall.SIGCONT) }
}

// Sample reads the peak memory of the program.
func (p *Process) Sample() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(data)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			p.peak = max(p.peak, kib<<10)
		}
	}
}

// Peak returns the peak memory of the program, in bytes.
func (p *Process) Peak() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peak
}
