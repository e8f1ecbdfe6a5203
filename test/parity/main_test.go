package parity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long a program may take to start.
const patience = 90 * time.Second

// stage is a directory, the programs that a test started in it, and how to stop them.
type stage struct {
	t   *testing.T
	dir string
	env []string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	return &stage{t: t, dir: t.TempDir(), env: os.Environ()}
}

// write writes a file of the directory and returns its path.
func (s *stage) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// start runs a program until the test ends. Programs stop in the opposite order.
func (s *stage) start(name string, args ...string) {
	s.t.Helper()
	log, err := os.CreateTemp(s.dir, filepath.Base(name)+"-*.log")
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.env, s.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-exited
		}
		_ = log.Close()
	})
}

// result is the output and exit code of a command.
type result struct {
	stdout, stderr string
	code           int
}

// run runs a command and waits for it.
func (s *stage) run(ctx context.Context, dir, name string, args ...string) result {
	s.t.Helper()
	cmd := exec.CommandContext(ctx, name, args...)
	var out, err bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.env, dir, &out, &err
	cmd.WaitDelay = time.Second
	failure := cmd.Run()
	var exit *exec.ExitError
	if failure != nil && !errors.As(failure, &exit) {
		s.t.Errorf("%s: %v", name, failure)
	}
	return result{out.String(), err.String(), cmd.ProcessState.ExitCode()}
}

// must runs a command that must succeed.
func (s *stage) must(name string, args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r := s.run(ctx, s.dir, name, args...)
	if r.code != 0 {
		s.t.Fatalf("%s %s: exit %d\n%s%s", name, strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// eventually waits until a condition holds.
func (s *stage) eventually(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: not after %s\n%s", what, patience, s.logs())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// logs returns the last lines of the programs' logs.
func (s *stage) logs() string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		fmt.Fprintf(&b, "--- %s\n%s\n", filepath.Base(file), text[max(0, len(text)-2000):])
	}
	return b.String()
}

// freePorts returns free ports of the loopback interface.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	var ports []int
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports
}
