package main

import (
	"bufio"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
)

// vcctl runs vcctl in this process with a kubeconfig. lines receives all its output, results and messages.
func vcctl(t *testing.T, export string, args ...string) (lines <-chan string, code <-chan int) {
	t.Helper()
	kubeconfig := strings.TrimPrefix(strings.TrimSpace(export), "export KUBECONFIG=")
	reader, writer := io.Pipe()
	printed, ended := make(chan string, 1000), make(chan int, 1)
	go func() {
		for scanner := bufio.NewScanner(reader); scanner.Scan(); {
			printed <- scanner.Text()
		}
		close(printed)
	}()
	streams, _, _ := iostreams.TestStreams("", 0)
	streams.Out, streams.Err = writer, writer
	go func() {
		ended <- root.Main(t.Context(), "vcctl", append([]string{"--kubeconfig", kubeconfig}, args...), streams)
		_ = writer.Close()
	}()
	return printed, ended
}

// awaitLine returns when a line with the text was printed.
func awaitLine(t *testing.T, lines <-chan string, text string) {
	t.Helper()
	var seen []string
	deadline := time.After(2 * time.Minute)
	for {
		select {
		case line, open := <-lines:
			seen = append(seen, line)
			switch {
			case strings.Contains(line, text):
				return
			case !open:
				t.Fatalf("it ended without a line %q:\n%s", text, strings.Join(seen, "\n"))
			}
		case <-deadline:
			t.Fatalf("there is no line %q:\n%s", text, strings.Join(seen, "\n"))
		}
	}
}

// TestWhoWaitsOutlastsAKilledControlPlane kills and restarts a control plane while commands wait and follow: each must
// report the outage once and the recovery once, and continue.
func TestWhoWaitsOutlastsAKilledControlPlane(t *testing.T) {
	p := newProgram(t)
	export, _ := p.must("up", "--detach", "--process-nodes=0", "--simulated-nodes=1")
	succeeds := func(args ...string) {
		t.Helper()
		lines, code := vcctl(t, export, args...)
		var said []string
		for line := range lines {
			said = append(said, line)
		}
		if got := <-code; got != 0 {
			t.Fatalf("vcctl %v: exit %d\n%s", args, got, strings.Join(said, "\n"))
		}
	}
	succeeds("job", "run", "huge", "--cpu", "1000", "--", "true")
	waiting, waited := vcctl(t, export, "job", "wait", "huge", "--for=deleted")
	following, _ := vcctl(t, export, "job", "list", "-w")
	awaitLine(t, following, "huge")
	awaitLine(t, waiting, "is waiting")
	if err := syscall.Kill(p.status().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitLine(t, waiting, "is not responding")
	awaitLine(t, following, "is not responding")
	p.must("up", "--detach")
	awaitLine(t, waiting, "is responding again")
	awaitLine(t, following, "is responding again")
	succeeds("job", "run", "later", "--cpu", "1", "--", "true")
	awaitLine(t, following, "later")
	succeeds("job", "delete", "huge", "--yes")
	awaitLine(t, waiting, "deleted")
	if code := <-waited; code != 0 {
		t.Errorf("job wait ended with exit code %d", code)
	}
}
