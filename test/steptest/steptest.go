// Package steptest runs the head pod of a job for tests, as directories and processes of this machine.
package steptest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/process"
)

// EnvOOMCounter names a file that replaces the kernel's counter of killed processes.
const EnvOOMCounter = "TEST_OOM_COUNTER"

// Main makes the test program behave as vc-step when it is called by one of vc-step's names.
func Main(m *testing.M) {
	if name := filepath.Base(os.Args[0]); name == "vc-step" || name == process.StarterName || slices.Contains(step.CommandNames, name) {
		if file := os.Getenv(EnvOOMCounter); file != "" {
			process.FindOOMFiles = func(string) []string { return []string{file} }
		}
		os.Exit(step.Main(context.Background(), os.Args))
	}
	os.Exit(m.Run())
}

// Pod is the head pod of a job. It consists of directories.
type Pod struct {
	T   *testing.T
	Dir string
	Env []string
	// Spec and additional variables are set before the pod starts.
	Spec   launchconfig.Spec
	script string
	Cmd    *exec.Cmd
	Out    lockedBuffer
	Err    lockedBuffer
}

// lockedBuffer can be read while a process writes to it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// NewPod returns a pod whose job runs a script. The pod does not run yet.
func NewPod(t *testing.T, script string) *Pod {
	t.Helper()
	dir, err := os.MkdirTemp("", "vc-step-") // keep it short: the path of a socket is limited to 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &Pod{T: t, Dir: dir, script: script, Spec: launchconfig.Spec{JobName: "test", Partition: "nlp", User: "mei", Nodes: 1, CPUs: 4, WorkDir: dir}}
	p.Env = append(os.Environ(), "VC_VOLUMES="+dir, jobclient.EnvDir+"="+filepath.Join(dir, "tools"), "VC_POD_NAME=t-head-0", "VC_JOB_NAME=t", "VC_TASK_NAME=head", "VC_JOB_ID=42", "VC_NODE_NAME=n1", "GORACE=atexit_sleep_ms=0")
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"tools/bin", "tools/run", launchconfig.JobVolume, launchconfig.SecretVolume} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range append([]string{"vc-step"}, step.CommandNames...) {
		if err := os.Symlink(own, filepath.Join(dir, "tools/bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// Write writes a file in the directory of the pod.
func (p *Pod) Write(name, text string) {
	p.T.Helper()
	if err := os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o644); err != nil {
		p.T.Fatal(err)
	}
}

// Read returns the text of a file in the directory of the pod; "" if none exists.
func (p *Pod) Read(name string) string {
	text, _ := os.ReadFile(filepath.Join(p.Dir, name))
	return string(text)
}

// Program returns a command that runs vc-step in the pod.
func (p *Pod) Program(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.Dir, "tools/bin/vc-step"), args...)
	cmd.Env = p.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// Start starts the launcher.
func (p *Pod) Start() *Pod {
	p.T.Helper()
	spec, err := json.Marshal(p.Spec)
	if err != nil {
		p.T.Fatal(err)
	}
	p.Write(filepath.Join(launchconfig.JobVolume, launchconfig.SpecKey), string(spec))
	p.Write(filepath.Join(launchconfig.JobVolume, launchconfig.ScriptKey), p.script)
	p.Cmd = p.Program("launch")
	p.Cmd.Stdout, p.Cmd.Stderr = &p.Out, &p.Err
	if err := p.Cmd.Start(); err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(func() { _ = p.Cmd.Process.Kill(); _ = p.Cmd.Wait() })
	return p
}

// Wait waits until the launcher has ended and returns its exit code.
func (p *Pod) Wait() int {
	p.T.Helper()
	ended := time.AfterFunc(30*time.Second, func() { _ = p.Cmd.Process.Kill() })
	defer ended.Stop()
	_ = p.Cmd.Wait()
	return p.Cmd.ProcessState.ExitCode()
}

// Until waits for a file that the script creates.
func (p *Pod) Until(name string) {
	p.T.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(p.Dir, name)); err == nil {
			return
		}
		if time.Now().After(deadline) {
			p.T.Fatalf("%s never came\n%s%s", name, p.Out.String(), p.Err.String())
		}
	}
}

// Report returns the report that the launcher has written.
func (p *Pod) Report() launchconfig.Report {
	p.T.Helper()
	r, ok := launchconfig.ParseReport(p.Read("tools/run/termination-log"))
	if !ok {
		p.T.Fatalf("no report: %q", p.Read("tools/run/termination-log"))
	}
	return r
}

// Run runs a script until it ends.
func Run(t *testing.T, script string, change ...func(*Pod)) (*Pod, int) {
	t.Helper()
	p := NewPod(t, script)
	for _, f := range change {
		f(p)
	}
	code := p.Start().Wait()
	return p, code
}

// RequireParts fails the test if a text lacks one of the parts.
func RequireParts(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
}

// SortedLines returns the lines of a text, sorted.
func SortedLines(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(lines)
	return lines
}
