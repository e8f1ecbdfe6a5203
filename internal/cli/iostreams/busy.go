package iostreams

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// busyAfter is the delay before a progress line appears.
	busyAfter = 500 * time.Millisecond
	// busyEvery is the interval between the frames of its animation.
	busyEvery = 120 * time.Millisecond
)

// Busy is a progress line on the error stream. It appears only on a terminal, and only after busyAfter. Output
// through the streams replaces the line. A Busy must be used by a single goroutine; its zero value shows nothing.
type Busy struct {
	streams  *Streams
	out, err io.Writer
	signs    []rune
	stop     chan struct{}
	ended    chan struct{}

	mu    sync.Mutex // guards the fields below and the terminal
	text  string
	turns int
	shown bool
}

// StartBusyLine starts a progress line with the given text. RemoveLine ends it.
func (s *Streams) StartBusyLine(text string) *Busy {
	if !s.ErrTTY || s.Env("TERM") == "dumb" {
		return &Busy{}
	}
	b := &Busy{streams: s, out: s.Out, err: s.Err, text: text, stop: make(chan struct{}), ended: make(chan struct{}), signs: []rune(`|/-\`)}
	if s.SupportsUnicode() {
		b.signs = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	}
	s.Out, s.Err = &besides{b, b.out}, &besides{b, b.err}
	go b.animateLine()
	return b
}

// SetText changes the text.
func (b *Busy) SetText(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = fmt.Sprintf(format, args...)
}

// RemoveLine removes the line and restores the streams.
func (b *Busy) RemoveLine() {
	if b.streams == nil {
		return
	}
	close(b.stop)
	<-b.ended
	b.streams.Out, b.streams.Err = b.out, b.err
	b.streams = nil
}

func (b *Busy) animateLine() {
	defer close(b.ended)
	wait := time.NewTimer(busyAfter)
	defer wait.Stop()
	for {
		select {
		case <-b.stop:
			b.mu.Lock()
			b.clearLine()
			b.mu.Unlock()
			return
		case <-wait.C:
			b.mu.Lock()
			b.clearLine()
			_, _ = fmt.Fprintf(b.err, "%c %s", b.signs[b.turns%len(b.signs)], b.text)
			b.turns, b.shown = b.turns+1, true
			b.mu.Unlock()
			wait.Reset(busyEvery)
		}
	}
}

// clearLine removes the line. The caller must hold the lock.
func (b *Busy) clearLine() {
	if b.shown {
		_, _ = io.WriteString(b.err, "\r\x1b[K")
		b.shown = false
	}
}

// besides wraps a stream while a Busy is showing its line.
type besides struct {
	busy *Busy
	to   io.Writer
}

func (w *besides) Write(text []byte) (int, error) {
	w.busy.mu.Lock()
	defer w.busy.mu.Unlock()
	w.busy.clearLine()
	return w.to.Write(text)
}
