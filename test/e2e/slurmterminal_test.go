package e2e

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
)

// onATerminal tests a shell in the first pod of an allocation, and a task with a terminal, and their sizes.
func (u *slurmUser) onATerminal() {
	t := u.terminal("salloc", "-N2", "-t", "5")
	t.sees("salloc: Granted job allocation ")
	t.types("srun -l hostname; stty size; exit 6\n")
	t.sees("1: ")
	t.sees("33 120")
	t.sees("salloc: Relinquishing job allocation ")
	if code := t.ends(); code != 6 {
		u.t.Errorf("salloc ended with %d", code)
	}
	t = u.terminal("srun", "--pty", "sh")
	t.types("while [ \"$(stty size)\" != '33 120' ]; do :; done; test -t 0 && test -t 1 && echo on a term''inal\n")
	t.sees("on a terminal")
	t.tty.Resize(90, 20)
	t.types("while [ \"$(stty size)\" != '20 90' ]; do :; done; echo re''sized\n")
	t.sees("resized")
	t.types("exit 5\n")
	if code := t.ends(); code != 5 {
		u.t.Errorf("srun --pty ended with %d", code)
	}
	t = u.terminal("srun", "-n2", "-l", "sh", "-c", "trap 'echo interr''upted; exit 3' INT; echo rea''dy; while :; do sleep 0.1; done")
	t.sees(": ready")
	t.sees(": ready")
	t.types("\x03")
	t.sees("srun: interrupt (one more within 1 sec to abort)")
	t.types("\x03")
	t.sees("interrupted")
	if code := t.ends(); code != 3 {
		u.t.Errorf("srun ended with %d after Ctrl-C", code)
	}
}

// screen is one of Slurm's commands in a terminal.
type screen struct {
	u     *slurmUser
	tty   *sandbox.Terminal
	cmd   *exec.Cmd
	read  chan string
	shown string
}

func (u *slurmUser) terminal(words ...string) *screen {
	u.t.Helper()
	tty, err := sandbox.OpenTerminal()
	if err != nil {
		u.t.Fatal(err)
	}
	tty.Resize(120, 33)
	s := &screen{u: u, tty: tty, cmd: exec.Command(filepath.Join(binaries, "vcctl"), append([]string{"slurm"}, words...)...), read: make(chan string, 1000)}
	s.cmd.Env = append(os.Environ(), "KUBECONFIG="+u.kubeconfig, "HOME="+u.cluster.dir)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty.Slave, tty.Slave, tty.Slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	_ = tty.Slave.Close()
	u.t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait(); _ = tty.Master.Close() })
	go func() {
		defer close(s.read)
		buffer := make([]byte, 4096)
		for {
			n, err := tty.Master.Read(buffer)
			if err != nil {
				return
			}
			s.read <- string(buffer[:n])
		}
	}()
	return s
}

// sees waits for a text after the previous one.
func (s *screen) sees(text string) {
	s.u.t.Helper()
	timeout := time.After(40 * time.Second)
	for !strings.Contains(s.shown, text) {
		select {
		case more, open := <-s.read:
			if !open {
				s.u.t.Fatalf("%s ended; it shows %q, want %q", s.cmd.Args[2], s.shown, text)
			}
			s.shown += more
		case <-timeout:
			s.u.t.Fatalf("%s shows %q, want %q", s.cmd.Args[2], s.shown, text)
		}
	}
	_, s.shown, _ = strings.Cut(s.shown, text)
}

func (s *screen) types(text string) { _, _ = io.WriteString(s.tty.Master, text) }

func (s *screen) ends() int {
	go func() {
		for range s.read {
		}
	}()
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}
