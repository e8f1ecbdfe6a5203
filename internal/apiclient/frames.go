package apiclient

import (
	"bytes"
	"errors"
	"io"
)

// scan counts brackets, starting with the first. It does not check that its input is JSON, because the decoder does
// this.
type scan struct {
	at     int // number of bytes scanned
	depth  int
	quoted bool
}

// endOfObject returns the length of the object at the beginning of data, or -1 if the object is incomplete. To
// continue, call it again with more of the same data.
func (s *scan) endOfObject(data []byte) int {
	for s.at < len(data) {
		if s.quoted && !s.skipString(data) {
			return -1
		}
		if s.at == len(data) {
			return -1
		}
		c := data[s.at]
		s.at++
		switch c {
		case '"':
			s.quoted = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth--; s.depth <= 0 {
				return s.at
			}
		}
	}
	return -1
}

// skipString moves past the end of a string. It returns false if data does not contain the end.
func (s *scan) skipString(data []byte) bool {
	for {
		i := bytes.IndexByte(data[s.at:], '"')
		if i < 0 {
			s.at = len(data) - trailingBackslashes(data[s.at:])
			return false
		}
		end := s.at + i
		escaped := trailingBackslashes(data[s.at:end])%2 == 1
		s.at = end + 1
		if !escaped {
			s.quoted = false
			return true
		}
	}
}

// trailingBackslashes returns the number of backslashes at the end of data.
func trailingBackslashes(data []byte) int {
	return len(data) - len(bytes.TrimRight(data, `\`))
}

const (
	firstBuffer = 16 << 10
	// largest is the maximum size of an event. It exceeds the maximum size of an object in the API server.
	largest = 64 << 20
)

var (
	errNotJSON  = errors.New("watch: the received data is not a JSON object")
	errTooLarge = errors.New("watch: the last event is incomplete")
)

// frames splits a stream into JSON objects, which may be separated by white space.
type frames struct {
	source io.ReadCloser
	buffer []byte // data read from the source
	given  int    // number of bytes of buffer already returned
	whole  int    // remaining bytes of the current object, once its end is known
	scan   scan
}

// Read returns the next object. If it does not fit into the buffer, Read returns a part of it and io.ErrShortBuffer.
func (f *frames) Read(into []byte) (int, error) {
	for f.whole == 0 {
		if f.scan.at == 0 {
			f.given += leadingBlanks(f.buffer[f.given:])
		}
		left := f.buffer[f.given:]
		if len(left) > 0 && left[0] != '{' {
			return 0, errNotJSON
		}
		if end := f.scan.endOfObject(left); end > 0 {
			f.whole, f.scan = end, scan{}
			break
		}
		if err := f.readMoreData(); err != nil {
			return 0, err
		}
	}
	n := copy(into, f.buffer[f.given:f.given+f.whole])
	f.given, f.whole = f.given+n, f.whole-n
	if f.whole > 0 {
		return n, io.ErrShortBuffer
	}
	return n, nil
}

// leadingBlanks returns the length of the white space at the beginning of data.
func leadingBlanks(data []byte) int {
	return len(data) - len(bytes.TrimLeft(data, " \t\r\n"))
}

// readMoreData reads from the source.
func (f *frames) readMoreData() error {
	left := len(f.buffer) - f.given
	switch {
	case left > largest:
		return errTooLarge
	case left <= f.given: // at least half of the buffer is free
		f.buffer, f.given = f.buffer[:copy(f.buffer, f.buffer[f.given:])], 0
	}
	if len(f.buffer) == cap(f.buffer) {
		f.buffer = append(make([]byte, 0, max(firstBuffer, 2*cap(f.buffer))), f.buffer...)
	}
	n, err := f.source.Read(f.buffer[len(f.buffer):cap(f.buffer)])
	f.buffer = f.buffer[:len(f.buffer)+n]
	switch {
	case n > 0:
		return nil // the next read returns the error again
	case errors.Is(err, io.EOF) && len(f.buffer) > f.given:
		return io.ErrUnexpectedEOF
	}
	return err
}

func (f *frames) Close() error { return f.source.Close() }
