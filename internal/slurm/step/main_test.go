package step

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
)

// envOOMCounter names a file that replaces the kernel's counter of killed processes.
const envOOMCounter = "TEST_OOM_COUNTER"

// TestMain makes the test program behave as vc-step when it is called by one of vc-step's names.
func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); name == "vc-step" || name == taskName || slices.Contains(names, name) {
		if file := os.Getenv(envOOMCounter); file != "" {
			findOOMFiles = func(string) []string { return []string{file} }
		}
		os.Exit(Main(context.Background(), os.Args))
	}
	os.Exit(m.Run())
}

// pod is the head pod of a job. It consists of directories.
type pod struct {
	t   *testing.T
	dir string
	env []string
	// spec and additional variables are set before the pod starts.
	spec   launchconfig.Spec
	script string
	cmd    *exec.Cmd
	out    lockedBuffer
	err    lockedBuffer
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

func newPod(t *testing.T, script string) *pod {
	t.Helper()
	dir, err := os.MkdirTemp("", "vc-step-") // keep it short: the path of a socket is limited to 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &pod{t: t, dir: dir, script: script, spec: launchconfig.Spec{JobName: "test", Partition: "nlp", User: "mei", Nodes: 1, CPUs: 4, WorkDir: dir}}
	p.env = append(os.Environ(), "VC_VOLUMES="+dir, EnvDir+"="+filepath.Join(dir, "tools"), "VC_POD_NAME=t-head-0", "VC_JOB_NAME=t", "VC_TASK_NAME=head", "VC_JOB_ID=42", "VC_NODE_NAME=n1", "GORACE=atexit_sleep_ms=0")
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"tools/bin", "tools/run", launchconfig.JobVolume, launchconfig.SecretVolume} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range append([]string{"vc-step"}, names...) {
		if err := os.Symlink(own, filepath.Join(dir, "tools/bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *pod) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pod) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(p.dir, name))
	return string(text)
}

func (p *pod) program(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.dir, "tools/bin/vc-step"), args...)
	cmd.Env = p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (p *pod) start() *pod {
	p.t.Helper()
	spec, err := json.Marshal(p.spec)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(filepath.Join(launchconfig.JobVolume, launchconfig.SpecKey), string(spec))
	p.write(filepath.Join(launchconfig.JobVolume, launchconfig.ScriptKey), p.script)
	p.cmd = p.program("launch")
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	return p
}

// wait waits until the launcher has ended and returns its exit code.
func (p *pod) wait() int {
	p.t.Helper()
	ended := time.AfterFunc(30*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer ended.Stop()
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// until waits for a file that the script creates.
func (p *pod) until(name string) {
	p.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err == nil {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s never came\n%s%s", name, p.out.String(), p.err.String())
		}
	}
}

func (p *pod) report() launchconfig.Report {
	p.t.Helper()
	r, ok := launchconfig.ParseReport(p.read("tools/run/termination-log"))
	if !ok {
		p.t.Fatalf("no report: %q", p.read("tools/run/termination-log"))
	}
	return r
}

// run runs a script until it ends.
func run(t *testing.T, script string, change ...func(*pod)) (*pod, int) {
	t.Helper()
	p := newPod(t, script)
	for _, f := range change {
		f(p)
	}
	code := p.start().wait()
	return p, code
}

func wants(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
}

func sorted(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(lines)
	return lines
}
