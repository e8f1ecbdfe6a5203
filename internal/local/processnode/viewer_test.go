package processnode

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node/api"
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/local/processnode/logfile"
)

// stalled is a client that accepts no output until it is released.
type stalled chan struct{}

func (s stalled) Write([]byte) (int, error) {
	<-s
	return 0, io.ErrClosedPipe
}

func (s stalled) Close() error { return nil }

// screen is a client's standard output. It can be read concurrently.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(data)
}

func (s *screen) Close() error { return nil }

func (s *screen) bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.text.Bytes())
}

// clientIO is the client of an exec without stdin and terminal.
type clientIO struct{ out io.WriteCloser }

func (c clientIO) Stdin() io.Reader            { return nil }
func (c clientIO) Stdout() io.WriteCloser      { return c.out }
func (c clientIO) Stderr() io.WriteCloser      { return nil }
func (c clientIO) TTY() bool                   { return false }
func (c clientIO) Resize() <-chan api.TermSize { return nil }

func newStreams(t *testing.T) *streams {
	t.Helper()
	log, err := logfile.Create(filepath.Join(t.TempDir(), "log"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStreams(&corev1.Container{}, log)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// within fails the test if f takes longer than limit.
func within(t *testing.T, limit time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("%s takes longer than %s", what, limit)
	}
}

func TestStalledViewerDelaysNoOtherViewer(t *testing.T) {
	much := bytes.Repeat([]byte("0123456789abcdef"), 2*viewerBuffer/16)

	t.Run("a container ends with little printed", func(t *testing.T) {
		s, block := newStreams(t), make(stalled)
		defer close(block)
		s.attachViewer(newViewer(block, nil))
		_, _ = s.files[1].WriteString("hi\n")
		s.closeProcessEnds()
		within(t, 3*time.Second, "drain", func() { s.drainFiles(100 * time.Millisecond) })
	})
	t.Run("a container prints much, is seen by another viewer, and ends", func(t *testing.T) {
		s, block, other := newStreams(t), make(stalled), &screen{}
		defer close(block)
		slow, good := newViewer(block, nil), newViewer(other, nil)
		s.attachViewer(slow)
		s.attachViewer(good)
		within(t, viewerPatience+10*time.Second, "printing", func() { _, _ = s.files[1].Write(much) })
		s.closeProcessEnds()
		within(t, 3*time.Second, "drain", func() { s.drainFiles(2 * time.Second) })
		if err := good.finishOutput(t.Context()); err != nil || !bytes.Equal(other.bytes(), much) {
			t.Errorf("the other saw %d of %d bytes, %v", len(other.bytes()), len(much), err)
		}
		if err := slow.finishOutput(t.Context()); !errors.Is(err, errViewerStalled) {
			t.Errorf("the stalled one ended with %v", err)
		}
	})
	t.Run("what a command in the background still prints", func(t *testing.T) {
		block := make(stalled)
		defer close(block)
		s, err := openSession(clientIO{block})
		if err != nil {
			t.Fatal(err)
		}
		printed := s.files[1]
		go func() { _, _ = printed.Write(much); s.closeProcessEnds() }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		within(t, 5*time.Second, "drain", func() { _ = s.drainOutput(ctx, 100*time.Millisecond) })
	})
}

func TestASlowClientOfExecLosesNothing(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcdef"), 3*viewerBuffer/16)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s, err := openSession(clientIO{write})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan []byte)
	begin := make(chan struct{})
	go func() {
		<-begin
		data, _ := io.ReadAll(read)
		got <- data
	}()
	go func() {
		_, _ = s.files[1].Write(text[:viewerBuffer])
		close(begin)
		_, _ = s.files[1].Write(text[viewerBuffer:])
		s.closeProcessEnds()
	}()
	s.copying.Wait()
	if err := s.drainOutput(t.Context(), 0); err != nil {
		t.Error(err)
	}
	_ = write.Close()
	if data := <-got; !bytes.Equal(data, text) {
		t.Errorf("got %d of %d bytes", len(data), len(text))
	}
}

func TestViewer(t *testing.T) {
	t.Run("a full queue leaves room for what an ended process left", func(t *testing.T) {
		block, hurry := make(stalled), make(chan struct{})
		v := newViewer(block, nil)
		v.queueOutput(make([]byte, viewerBuffer), false, time.Minute, hurry)
		close(hurry)
		v.queueOutput(make([]byte, viewerReserve), false, time.Minute, hurry)
		select {
		case <-v.over:
			t.Error("dropped too early")
		default:
		}
		v.queueOutput([]byte("x"), false, time.Minute, hurry)
		close(block)
		if err := v.finishOutput(t.Context()); !errors.Is(err, errViewerStalled) {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("both streams come in order", func(t *testing.T) {
		out := &screen{}
		v := newViewer(out, out)
		for i, word := range []string{"a", "b", "c", "d"} {
			v.queueOutput([]byte(word), i%2 == 1, time.Minute, nil)
		}
		if err := v.finishOutput(t.Context()); err != nil || string(out.bytes()) != "abcd" {
			t.Errorf("%q, %v", out.bytes(), err)
		}
	})
	t.Run("one that takes nothing is not waited for without end", func(t *testing.T) {
		block := make(stalled)
		defer close(block)
		v := newViewer(block, nil)
		v.queueOutput([]byte("x"), false, time.Minute, nil)
		v.changeState(func() { v.closed = true })
		if err := v.waitUntilFlushed(t.Context(), 10*time.Millisecond); !errors.Is(err, errViewerStalled) {
			t.Errorf("ended with %v", err)
		}
	})
}
