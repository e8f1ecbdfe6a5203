package processnode

import (
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/local/processnode/logfile"
	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
)

// streams connects a container's main process to the log and to attached clients.
type streams struct {
	files    sandbox.Files     // the process's ends; closed after it has started
	terminal *sandbox.Terminal // nil if the container has no terminal
	stdin    io.WriteCloser    // nil if spec.stdin is not set
	once     bool              // stdin is closed after the first client detaches
	readers  []*os.File
	copying  sync.WaitGroup
	draining chan struct{} // closed when the process has ended

	mu       sync.Mutex
	attached map[*viewer]bool
}

func openStreams(spec *corev1.Container, log *logfile.File) (*streams, error) {
	s := &streams{once: spec.StdinOnce, draining: make(chan struct{}), attached: map[*viewer]bool{}}
	if spec.TTY {
		terminal, err := sandbox.OpenTerminal()
		if err != nil {
			return nil, err
		}
		s.terminal = terminal
		s.files = sandbox.Files{terminal.Slave, terminal.Slave, terminal.Slave}
		if spec.Stdin {
			s.stdin = terminal.Master
		}
		s.copyOutput(terminal.Master, log.Stream(logfile.Stdout), false)
		return s, nil
	}
	if err := s.openStdin(spec.Stdin); err != nil {
		return nil, err
	}
	for i, name := range []string{logfile.Stdout, logfile.Stderr} {
		read, write, err := os.Pipe()
		if err != nil {
			s.closeProcessEnds()
			return nil, err
		}
		s.files[i+1] = write
		s.copyOutput(read, log.Stream(name), i == 1)
	}
	return s, nil
}

func (s *streams) openStdin(wanted bool) error {
	if !wanted {
		null, err := os.Open(os.DevNull)
		s.files[0] = null
		return err
	}
	read, write, err := os.Pipe()
	s.files[0], s.stdin = read, write
	return err
}

// closeProcessEnds closes the ends of the streams that belong to the process.
func (s *streams) closeProcessEnds() {
	for i, file := range s.files {
		if file != nil && (i == 0 || file != s.files[0]) {
			_ = file.Close()
		}
	}
}

func (s *streams) copyOutput(from *os.File, log *logfile.Stream, isStderr bool) {
	s.readers = append(s.readers, from)
	s.copying.Go(func() {
		defer log.Close()
		buffer := make([]byte, 32<<10)
		for {
			n, err := from.Read(buffer)
			if n > 0 {
				_, _ = log.Write(buffer[:n])
				s.sendToViewers(buffer[:n], isStderr)
			}
			if err != nil {
				return
			}
		}
	})
}

// sendToViewers sends data to the viewers. It does not hold the lock while it does so, so that a slow viewer does not
// prevent other viewers from attaching and detaching.
func (s *streams) sendToViewers(data []byte, isStderr bool) {
	s.mu.Lock()
	viewers := slices.Collect(maps.Keys(s.attached))
	s.mu.Unlock()
	if len(viewers) == 0 {
		return
	}
	data = slices.Clone(data)
	for _, v := range viewers {
		v.queueOutput(data, isStderr, viewerPatience, s.draining)
	}
}

func (s *streams) attachViewer(v *viewer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attached[v] = true
}

func (s *streams) detachViewer(v *viewer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.attached, v)
}

// drainOutput waits until all output is in the log, but no longer than limit, and closes the streams. It does not wait
// for viewers.
func (s *streams) drainOutput(limit time.Duration) {
	close(s.draining)
	deadline := time.Now().Add(limit)
	for _, reader := range s.readers {
		_ = reader.SetReadDeadline(deadline)
	}
	s.copying.Wait()
	for _, reader := range s.readers {
		_ = reader.Close()
	}
	if s.stdin != nil && s.terminal == nil {
		_ = s.stdin.Close()
	}
}
