package golden

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
	"github.com/vc-batch/vc/test/clitest"
)

// patience is how long to wait for output or an action of a running command.
const patience = 10 * time.Second

// Screen collects the output of a running command, both standard output and errors. Tests can wait for text on it.
type Screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newScreen() *Screen { return &Screen{more: make(chan struct{}, 1)} }

// Write adds text and wakes a waiting test.
func (s *Screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.text.Write(text)
}

func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// WaitFor waits until the screen shows want.
func (s *Screen) WaitFor(t *testing.T, want string) {
	t.Helper()
	deadline := time.After(patience)
	for !strings.Contains(s.String(), want) {
		select {
		case <-s.more:
		case <-deadline:
			t.Fatalf("the screen never shows %q:\n%s", want, s)
		}
	}
}

// Start runs a command in the background. stop ends the command and returns its exit code.
func Start(t *testing.T, server *clitest.Server, args ...string) (out *Screen, stop func() int, done <-chan int) {
	t.Helper()
	streams, _, _ := iostreams.TestStreams("", 0)
	out = newScreen()
	streams.Out, streams.Err = out, out
	f := newFactory(t, &streams)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	argv := append([]string{"--kubeconfig", server.WriteKubeconfig("nlp")}, args...)
	go func() { ended <- root.Run(ctx, f, argv) }()
	t.Cleanup(cancel)
	return out, func() int { cancel(); return <-ended }, ended
}

// WaitForEnd stores last in the cluster, waits until the command has exited, and returns its exit code.
func WaitForEnd(t *testing.T, server *clitest.Server, out *Screen, done <-chan int, last client.Object) int {
	t.Helper()
	server.SetObjects(last)
	select {
	case code := <-done:
		return code
	case <-time.After(patience):
		t.Fatalf("the command does not end:\n%s", out)
		return 0
	}
}

// WaitForJob waits until the command has created the job and returns it.
func WaitForJob(t *testing.T, server *clitest.Server, out *Screen, name string) *batchv1alpha1.Job {
	t.Helper()
	out.WaitFor(t, "job.batch.volcano.sh/"+name+" created")
	job := NewJob(name, "default", batchv1alpha1.Running, 0)
	for _, object := range server.ObjectsBelow(JobsPath) {
		if meta := object["metadata"].(map[string]any); meta["name"] == name {
			job.SetUID(UIDOf(meta))
		}
	}
	return job
}
