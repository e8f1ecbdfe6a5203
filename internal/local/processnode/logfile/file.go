package logfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The streams of a line.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// maxLineBytes is the length at which a line is split into parts (tag P), as container runtimes do.
const maxLineBytes = 16 << 10

// maxFileBytes is the size at which a file is rotated. A single old file is kept.
const maxFileBytes = 10 << 20

// OldSuffix is added to the name of a rotated file.
const OldSuffix = ".old"

// File is the log of one attempt of a container that is running.
type File struct {
	path      string
	limit     int64
	mu        sync.Mutex
	size      int64
	rotations int // number of rotations
	file      *os.File
	now       func() time.Time
	changed   chan struct{} // closed and replaced at each write
	closed    bool
}

// Create opens the file for writing. It appends to an existing file of the same attempt.
func Create(path string, now func() time.Time) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	f := &File{path: path, limit: maxFileBytes, file: file, now: now, changed: make(chan struct{})}
	if info, err := file.Stat(); err == nil {
		f.size = info.Size()
	}
	return f, nil
}

// Stream returns a writer for a stream. When the writer is closed, it writes the last line even if the line is
// incomplete.
func (f *File) Stream(name string) *Stream { return &Stream{file: f, name: name} }

// Stream writes one stream of a container to the log.
type Stream struct {
	file *File
	name string
	rest []byte // start of a line whose end has not been written yet
}

// Write never returns an error, because the container must continue even if the disk is full; in that case, lines are
// lost.
func (s *Stream) Write(data []byte) (int, error) {
	size := len(data)
	var out bytes.Buffer
	stamp := s.file.now().Format(time.RFC3339Nano)
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		if end >= 0 {
			writeLine(&out, stamp, s.name, "F", s.rest, data[:end])
			s.rest, data = s.rest[:0], data[end+1:]
			continue
		}
		s.rest = append(s.rest, data...)
		data = nil
		for len(s.rest) >= maxLineBytes {
			writeLine(&out, stamp, s.name, "P", s.rest[:maxLineBytes], nil)
			s.rest = append(s.rest[:0], s.rest[maxLineBytes:]...)
		}
	}
	s.file.appendLines(out.Bytes())
	return size, nil
}

// Close writes the rest of the last line.
func (s *Stream) Close() error {
	if len(s.rest) > 0 {
		var out bytes.Buffer
		writeLine(&out, s.file.now().Format(time.RFC3339Nano), s.name, "P", s.rest, nil)
		s.rest = nil
		s.file.appendLines(out.Bytes())
	}
	return nil
}

func writeLine(out *bytes.Buffer, stamp, stream, tag string, parts ...[]byte) {
	out.WriteString(stamp)
	out.WriteByte(' ')
	out.WriteString(stream)
	out.WriteByte(' ')
	out.WriteString(tag)
	out.WriteByte(' ')
	for _, part := range parts {
		out.Write(part)
	}
	out.WriteByte('\n')
}

func (f *File) appendLines(lines []byte) {
	if len(lines) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	n, _ := f.file.Write(lines)
	if f.size += int64(n); f.size >= f.limit {
		f.rotateLogFile()
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// rotateLogFile rotates the file. If this fails, the current file keeps growing.
func (f *File) rotateLogFile() {
	if os.Rename(f.path, f.path+OldSuffix) != nil {
		return
	}
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		_ = os.Rename(f.path+OldSuffix, f.path)
		return
	}
	_ = f.file.Close()
	f.file, f.size = file, 0
	f.rotations++
}

// Close closes the log. Followers read it to the end and stop.
func (f *File) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.closed = true
	_ = f.file.Close()
	close(f.changed)
}

// currentState returns a channel that is closed at the next write, the number of rotations, and whether the log is
// closed.
func (f *File) currentState() (changed <-chan struct{}, rotations int, closed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed, f.rotations, f.closed
}
