package sandbox

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/local/processnode/shim"
)

// run starts a container at the best permitted level. It returns the output and how the container ended.
func run(t *testing.T, spec *shim.Container, during func(*Container)) (string, Exit) {
	t.Helper()
	permitted := DetectPermitted(t.TempDir())
	spec.Root, spec.OwnPID, spec.OwnUser = permitted.Root, permitted.Level != LevelPlain, permitted.Level == LevelUser
	if spec.Dir == "" {
		spec.Dir = t.TempDir()
		t.Cleanup(func() { RemoveTree(spec.Dir) })
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	container, err := Start(permitted.Level, spec, Namespaces{}, Files{null, write, write}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	if during != nil {
		during(container)
	}
	output, _ := io.ReadAll(read)
	select {
	case <-container.Main().Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the container did not end")
	}
	return string(output), container.Main().Exit()
}

func TestContainerOutcome(t *testing.T) {
	cases := map[string]struct {
		args   []string
		output string
		exit   Exit
	}{
		"output and success":         {args: []string{"/bin/sh", "-c", "echo hello"}, output: "hello\n"},
		"an exit code":               {args: []string{"sh", "-c", "exit 7"}, exit: Exit{Code: 7}},
		"a signal":                   {args: []string{"sh", "-c", "kill -9 $$"}, exit: Exit{Code: 137, Signal: 9}},
		"a daemon does not outlive":  {args: []string{"sh", "-c", "setsid sleep 1000 & echo done"}, output: "done\n"},
		"a program that is missing":  {args: []string{"no-such-program"}, exit: Exit{Code: 128, StartError: "exec no-such-program: executable file not found in $PATH"}},
		"writes stay in the overlay": {args: []string{"sh", "-c", "echo x > /vc-test-file && cat /vc-test-file"}, output: "x\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			output, exit := run(t, &shim.Container{Process: shim.Process{Args: c.args}}, nil)
			if output != c.output || exit != c.exit {
				t.Errorf("got %q and %+v, want %q and %+v", output, exit, c.output, c.exit)
			}
			if _, err := os.Stat("/vc-test-file"); err == nil {
				t.Error("the container wrote to the machine")
			}
		})
	}
}

func TestExecRunsBesideTheMainProcess(t *testing.T) {
	_, exit := run(t, &shim.Container{Hostname: "box", Process: shim.Process{Args: []string{"sleep", "1000"}}}, func(c *Container) {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		process, err := c.Exec(shim.Process{Args: []string{"sh", "-c", "hostname; exit 3"}}, Files{read, write, write})
		if err != nil {
			t.Fatal(err)
		}
		<-process.Done()
		_ = write.Close()
		output, _ := io.ReadAll(read)
		if strings.TrimSpace(string(output)) != "box" || process.Exit().Code != 3 {
			t.Errorf("got %q and %+v", output, process.Exit())
		}
		if err := c.Signal(c.Main(), syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	})
	if exit.Code != 143 || exit.Signal != 15 {
		t.Errorf("after SIGTERM: %+v", exit)
	}
}

func TestKillEndsAContainerWithoutACommand(t *testing.T) {
	_, exit := run(t, &shim.Container{}, func(c *Container) { c.Kill() })
	if exit.Code != 137 {
		t.Errorf("got %+v", exit)
	}
}

func BenchmarkStart(b *testing.B) {
	permitted := DetectPermitted(b.TempDir())
	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	for b.Loop() {
		container, err := Start(permitted.Level, &shim.Container{
			Root: permitted.Root, Dir: b.TempDir(), OwnPID: true, Process: shim.Process{Args: []string{"/bin/true"}},
		}, Namespaces{}, Files{null, null, null}, nil)
		if err != nil {
			b.Fatal(err)
		}
		<-container.Main().Done()
	}
}
