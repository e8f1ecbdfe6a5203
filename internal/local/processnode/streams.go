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

// processIO holds the standard streams of a process.
type processIO struct {
	files    sandbox.Files     // the process's ends; closed after it has started
	terminal *sandbox.Terminal // nil if the process has no terminal
	stdin    io.WriteCloser    // nil if the process has no input
	readers  []*os.File        // the node's ends of the output
	copying  sync.WaitGroup
	ended    chan struct{} // closed when the process has ended
}

// openFiles opens a terminal or pipes. It calls copyOutput for each output stream.
func (p *processIO) openFiles(tty, hasInput bool, copyOutput func(from *os.File, isStderr bool)) error {
	p.ended = make(chan struct{})
	if tty {
		terminal, err := sandbox.OpenTerminal()
		if err != nil {
			return err
		}
		p.terminal = terminal
		p.files = sandbox.Files{terminal.Slave, terminal.Slave, terminal.Slave}
		if hasInput {
			p.stdin = terminal.Master
		}
		copyOutput(terminal.Master, false)
		return nil
	}
	if err := p.openStdin(hasInput); err != nil {
		return err
	}
	for i := range 2 {
		read, write, err := os.Pipe()
		if err != nil {
			p.closeProcessEnds()
			return err
		}
		p.files[i+1] = write
		copyOutput(read, i == 1)
	}
	return nil
}

func (p *processIO) openStdin(hasInput bool) error {
	if !hasInput {
		null, err := os.Open(os.DevNull)
		p.files[0] = null
		return err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	p.files[0], p.stdin = read, write
	return nil
}

// closeProcessEnds closes the ends of the streams that belong to the process.
func (p *processIO) closeProcessEnds() {
	for i, file := range p.files {
		if file != nil && (i == 0 || file != p.files[0]) {
			_ = file.Close()
		}
	}
}

// readOutput calls use for each part of the output, and finish at the end of the output. The data is valid only during
// the call.
func (p *processIO) readOutput(from *os.File, use func(data []byte), finish func()) {
	p.readers = append(p.readers, from)
	p.copying.Go(func() {
		defer finish()
		buffer := make([]byte, 32<<10)
		for {
			n, err := from.Read(buffer)
			if n > 0 {
				use(buffer[:n])
			}
			if err != nil {
				return
			}
		}
	})
}

// drainFiles waits until all output has been read, but no longer than limit, and closes the node's ends. It must be
// called after the process has ended.
func (p *processIO) drainFiles(limit time.Duration) {
	close(p.ended)
	deadline := time.Now().Add(limit)
	for _, reader := range p.readers {
		_ = reader.SetReadDeadline(deadline)
	}
	p.copying.Wait()
	for _, reader := range p.readers {
		_ = reader.Close()
	}
	if p.stdin != nil && p.terminal == nil {
		_ = p.stdin.Close()
	}
}

// streams connects a container's main process to the log and to attached clients.
type streams struct {
	processIO
	once bool // stdin is closed after the first client detaches

	mu       sync.Mutex
	attached map[*viewer]bool
}

func openStreams(spec *corev1.Container, log *logfile.File) (*streams, error) {
	s := &streams{once: spec.StdinOnce, attached: map[*viewer]bool{}}
	err := s.openFiles(spec.TTY, spec.Stdin, func(from *os.File, isStderr bool) {
		name := logfile.Stdout
		if isStderr {
			name = logfile.Stderr
		}
		stream := log.Stream(name)
		s.readOutput(from, func(data []byte) {
			_, _ = stream.Write(data)
			s.sendToViewers(data, isStderr)
		}, func() { _ = stream.Close() })
	})
	if err != nil {
		return nil, err
	}
	return s, nil
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
		v.queueOutput(data, isStderr, viewerPatience, s.ended)
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
