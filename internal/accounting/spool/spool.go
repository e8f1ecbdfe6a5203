package spool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
)

// ErrFull means that the spool has no space for the records.
var ErrFull = errors.New("the spool of the accounting records is full")

// ErrClosed means that the spool was closed.
var ErrClosed = errors.New("the spool of the accounting records is closed")

// DamagedError means that a batch is not valid JSON, for example because of a defect of the disk.
type DamagedError struct {
	// Batch is the name of the file.
	Batch string
	Err   error
}

func (e *DamagedError) Error() string {
	return "spool: batch " + e.Batch + " is damaged: " + e.Err.Error()
}

func (e *DamagedError) Unwrap() error { return e.Err }

const (
	// batchSuffix is the suffix of files that contain a batch, and temporarySuffix of files that are being written.
	batchSuffix     = ".json"
	temporarySuffix = ".tmp"
	// maxGroup is the maximum number of calls of Append whose records are written together.
	maxGroup = 1000
)

// Spool is a directory with batches of records.
type Spool struct {
	dir      string
	maxBytes int64
	requests chan *request
	closing  chan struct{}
	closed   chan struct{}

	mu      sync.Mutex
	batches []batchFile // oldest first
	bytes   int64
	next    uint64
	changed chan struct{} // closed when a batch was added
}

// batchFile is a file with a batch.
type batchFile struct {
	name    string
	bytes   int64
	written time.Time
	removed chan struct{} // closed when the batch was removed
}

// request is a call of Append.
type request struct {
	accounting.Batch
	done chan error
}

// Batch is a batch that was read from the spool.
type Batch struct {
	accounting.Batch
	name string
}

// Stats describes the content of a spool.
type Stats struct {
	Bytes, MaxBytes int64
	Batches         int
	// Oldest is when the oldest batch was written. It is zero if the spool is empty.
	Oldest time.Time
}

// Open opens the spool in a directory, which is created if it is missing. maxBytes is the maximum total size of the
// files.
func Open(dir string, maxBytes int64) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	s := &Spool{dir: dir, maxBytes: maxBytes, requests: make(chan *request), closing: make(chan struct{}), closed: make(chan struct{}), changed: make(chan struct{})}
	if err := s.readDirectory(); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	go s.writeUntilClosed()
	return s, nil
}

// readDirectory finds the batches of earlier processes, and removes files that were not completed.
func (s *Spool) readDirectory() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, temporarySuffix) {
			if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
				return err
			}
			continue
		}
		number, err := strconv.ParseUint(strings.TrimSuffix(name, batchSuffix), 10, 64)
		if err != nil || !strings.HasSuffix(name, batchSuffix) {
			continue // not a file of the spool
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		s.batches = append(s.batches, batchFile{name: name, bytes: info.Size(), written: info.ModTime(), removed: make(chan struct{})})
		s.bytes += info.Size()
		s.next = max(s.next, number+1)
	}
	slices.SortFunc(s.batches, func(a, b batchFile) int { return strings.Compare(a.name, b.name) })
	return nil
}

// Append writes a batch to the disk. After an error, nothing of it is in the spool.
func (s *Spool) Append(batch accounting.Batch) error {
	if batch.IsEmpty() {
		return nil
	}
	r := &request{Batch: batch, done: make(chan error, 1)}
	select {
	case s.requests <- r:
		return <-r.done
	case <-s.closing:
		return ErrClosed
	}
}

// writeUntilClosed writes the batches of all waiting calls of Append together, because the disk needs about as long for
// many records as for one.
func (s *Spool) writeUntilClosed() {
	defer close(s.closed)
	for {
		var group []*request
		select {
		case r := <-s.requests:
			group = append(group, r)
		case <-s.closing:
			return
		}
		group = s.collectWaiting(group)
		var batch accounting.Batch
		for _, r := range group {
			batch.Records = append(batch.Records, r.Records...)
			batch.NodeChanges = append(batch.NodeChanges, r.NodeChanges...)
			batch.Changes = append(batch.Changes, r.Changes...)
		}
		err := s.writeBatch(batch)
		for _, r := range group {
			r.done <- err
		}
	}
}

// collectWaiting adds the calls that are waiting now.
func (s *Spool) collectWaiting(group []*request) []*request {
	for len(group) < maxGroup {
		select {
		case r := <-s.requests:
			group = append(group, r)
		default:
			return group
		}
	}
	return group
}

// writeBatch writes a file and waits until it is on the disk.
func (s *Spool) writeBatch(batch accounting.Batch) error {
	text, err := json.Marshal(batch)
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.mu.Lock()
	isFull := s.bytes+int64(len(text)) > s.maxBytes
	name := fmt.Sprintf("%020d%s", s.next, batchSuffix)
	s.next++
	s.mu.Unlock()
	if isFull {
		return ErrFull
	}
	if err := writeDurably(filepath.Join(s.dir, name), text); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, batchFile{name: name, bytes: int64(len(text)), written: time.Now(), removed: make(chan struct{})})
	s.bytes += int64(len(text))
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// writeDurably creates a file with a content. When it returns nil, the file survives a crash of the machine.
func writeDurably(path string, content []byte) error {
	temporary := path + temporarySuffix
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return syncDirectory(filepath.Dir(path))
}

func syncDirectory(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Oldest returns the oldest batch. ok is false if the spool is empty. If the batch cannot be parsed, the error is a
// DamagedError.
func (s *Spool) Oldest() (batch Batch, ok bool, err error) {
	s.mu.Lock()
	if len(s.batches) == 0 {
		s.mu.Unlock()
		return Batch{}, false, nil
	}
	batch.name = s.batches[0].name
	s.mu.Unlock()
	text, err := os.ReadFile(filepath.Join(s.dir, batch.name))
	if err != nil {
		return Batch{}, false, fmt.Errorf("spool: batch %s: %w", batch.name, err)
	}
	if err := decodeBatch(text, &batch.Batch); err != nil {
		return Batch{}, false, &DamagedError{Batch: batch.name, Err: err}
	}
	return batch, true, nil
}

// decodeBatch parses a batch. Earlier versions of this program wrote a list of records.
func decodeBatch(text []byte, batch *accounting.Batch) error {
	if bytes.HasPrefix(text, []byte("[")) {
		return json.Unmarshal(text, &batch.Records)
	}
	return json.Unmarshal(text, batch)
}

// Changed returns a channel that is closed when another batch has been added.
func (s *Spool) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// WaitUntilStored waits until the database has stored all batches that are in the spool now, or until ctx is done. It
// reports whether all are stored. The batches are stored in order, so it waits for the last one.
func (s *Spool) WaitUntilStored(ctx context.Context) bool {
	s.mu.Lock()
	if len(s.batches) == 0 {
		s.mu.Unlock()
		return true
	}
	removed := s.batches[len(s.batches)-1].removed
	s.mu.Unlock()
	select {
	case <-removed:
		return true
	case <-ctx.Done():
		return false
	}
}

// Remove removes a batch that the database has stored.
func (s *Spool) Remove(batch Batch) error {
	if err := os.Remove(filepath.Join(s.dir, batch.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("spool: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = slices.DeleteFunc(s.batches, func(f batchFile) bool {
		if f.name == batch.name {
			s.bytes -= f.bytes
			close(f.removed)
			return true
		}
		return false
	})
	return nil
}

// SetAside renames a batch that cannot be read, so that the batches after it can be stored. It returns the new path.
func (s *Spool) SetAside(name string) (string, error) {
	path := filepath.Join(s.dir, name)
	aside := path + ".damaged"
	if err := os.Rename(path, aside); err != nil {
		return "", fmt.Errorf("spool: %w", err)
	}
	return aside, s.Remove(Batch{name: name})
}

// Stats returns the content of the spool.
func (s *Spool) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := Stats{Bytes: s.bytes, MaxBytes: s.maxBytes, Batches: len(s.batches)}
	if len(s.batches) > 0 {
		stats.Oldest = s.batches[0].written
	}
	return stats
}

// Close stops the writer. Records that were appended stay on the disk.
func (s *Spool) Close() {
	close(s.closing)
	<-s.closed
}
