package interrupt

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestMain turns the test binary into a program that cleans up after an interrupt, if the test started it for that.
func TestMain(m *testing.M) {
	if os.Getenv("INTERRUPT_TEST") == "" {
		os.Exit(m.Run())
	}
	ctx, stop := ContextWithSignals(context.Background())
	defer stop()
	_, _ = os.Stdout.WriteString("ready\n")
	<-ctx.Done()
	_, _ = os.Stdout.WriteString("cleaning\n")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	os.Exit(7)
}

// program starts the program and waits until it is ready.
func program(t *testing.T) (cmd *exec.Cmd, says *bufio.Reader, finish func()) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "INTERRUPT_TEST=1", "GORACE=atexit_sleep_ms=0")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	says = bufio.NewReader(out)
	if line, err := says.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q %v", line, err)
	}
	return cmd, says, func() { _, _ = in.Write([]byte("\n")) }
}

func TestASignalThatArrivesTwiceLetsTheProgramCleanUp(t *testing.T) {
	t.Parallel()
	for range 20 {
		cmd, says, finish := program(t)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if line, err := says.ReadString('\n'); line != "cleaning\n" {
			t.Fatalf("%q %v", line, err)
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		finish()
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 7 {
			t.Fatalf("the program ended with %d: %s", code, cmd.ProcessState)
		}
	}
}

func TestASecondSignalEndsAProgramThatTakesLong(t *testing.T) {
	t.Parallel()
	cmd, _, _ := program(t)
	_ = cmd.Process.Signal(syscall.SIGINT)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	for deadline := time.After(20 * time.Second); ; {
		select {
		case <-ended:
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
				t.Errorf("it ended by %s", cmd.ProcessState)
			}
			return
		case <-deadline:
			t.Fatal("it goes on")
		case <-time.After(repeatTime / 4):
			_ = cmd.Process.Signal(syscall.SIGINT)
		}
	}
}
