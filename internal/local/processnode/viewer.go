package processnode

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// viewerBuffer is the number of bytes by which a viewer may lag behind.
	viewerBuffer = 1 << 20
	// viewerReserve is additional space for data that remains in the two pipes of an ended process (64 KiB each) and
	// in the goroutines that copy it.
	viewerReserve = 256 << 10
	// viewerPatience is how long a viewer that accepts no output may block the container. It is not zero, so that a
	// viewer that reads steadily loses nothing when the container prints faster than the network transfers.
	viewerPatience = time.Second
	// viewerFlush is how long a viewer may accept no output after the process has ended.
	viewerFlush = 10 * time.Second
)

// errViewerStalled is the error of a viewer that was disconnected because it accepted no output.
var errViewerStalled = errors.New("the client does not take the output any more: it was disconnected so that the container is not held up")

// viewer sends the output of a process to a client at the client's pace. It has its own goroutine for writing, so
// that no other goroutine waits for the client.
type viewer struct {
	stdout, stderr io.Writer
	// over is closed after the last write.
	over chan struct{}

	mu      sync.Mutex
	queue   []piece
	size    int           // bytes in the queue
	closed  bool          // no more output may be queued
	ended   bool          // over has been closed
	err     error         // the reason why the viewer was dropped
	changed chan struct{} // closed and replaced when one of the fields above changes
}

// piece is the data from one read. All viewers share its bytes.
type piece struct {
	to   io.Writer
	data []byte
}

// newViewer starts a viewer. Output to a nil writer is discarded.
func newViewer(stdout, stderr io.Writer) *viewer {
	v := &viewer{stdout: stdout, stderr: stderr, over: make(chan struct{}), changed: make(chan struct{})}
	go v.write()
	return v
}

// change calls how to change the viewer, and wakes the goroutines that wait for a change.
func (v *viewer) change(how func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	how()
	v.tell()
}

// tell wakes the waiting goroutines. The caller must hold mu.
func (v *viewer) tell() {
	close(v.changed)
	v.changed = make(chan struct{})
}

// end marks the viewer as ended. The caller must hold mu.
func (v *viewer) end(why error) {
	if !v.ended {
		v.ended, v.closed, v.err, v.queue, v.size = true, true, why, nil, 0
		close(v.over)
	}
}

// drop ends the viewer and discards the output in its queue.
func (v *viewer) drop(why error) { v.change(func() { v.end(why) }) }

// write writes the queued output until the queue is closed and empty, or the viewer is dropped.
func (v *viewer) write() {
	for {
		next, more := v.next()
		if !more {
			return
		}
		if _, err := next.to.Write(next.data); err != nil {
			v.drop(err)
			return
		}
		v.change(func() {
			if !v.ended {
				v.queue, v.size = v.queue[1:], v.size-len(next.data)
			}
		})
	}
}

// next waits for the first piece in the queue. The piece stays in the queue until it has been written.
func (v *viewer) next() (piece, bool) {
	for {
		v.mu.Lock()
		if len(v.queue) > 0 {
			defer v.mu.Unlock()
			return v.queue[0], true
		}
		if v.closed {
			defer v.mu.Unlock()
			v.end(nil)
			return piece{}, false
		}
		changed := v.changed
		v.mu.Unlock()
		<-changed
	}
}

// put queues output. If the queue is full, it waits for space, for at most patience (0 means no limit), and not at
// all once hurry is closed. If there is still no space, it drops the viewer.
func (v *viewer) put(data []byte, isStderr bool, patience time.Duration, hurry <-chan struct{}) {
	next := piece{v.stdout, data}
	if isStderr {
		next.to = v.stderr
	}
	if next.to == nil {
		return
	}
	if changed := v.tryPut(next, viewerBuffer); changed != nil {
		v.putLate(next, changed, patience, hurry)
	}
}

func (v *viewer) putLate(next piece, changed <-chan struct{}, patience time.Duration, hurry <-chan struct{}) {
	var enough <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		enough = timer.C
	}
	for changed != nil {
		select {
		case <-changed:
			changed = v.tryPut(next, viewerBuffer)
		case <-enough:
			v.drop(errViewerStalled)
			return
		case <-hurry:
			if v.tryPut(next, viewerBuffer+viewerReserve) != nil {
				v.drop(errViewerStalled)
			}
			return
		}
	}
}

// tryPut queues a piece. It returns nil if the piece was queued or is no longer needed, and otherwise a channel to
// wait on.
func (v *viewer) tryPut(next piece, limit int) <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.closed:
	case v.size+len(next.data) > limit:
		return v.changed
	default:
		v.queue, v.size = append(v.queue, next), v.size+len(next.data)
		v.tell()
	}
	return nil
}

// finish waits until all output has been written. It returns an error if ctx is done, or if the viewer has accepted
// nothing for viewerFlush.
func (v *viewer) finish(ctx context.Context) error {
	v.change(func() { v.closed = true })
	return v.flushed(ctx, viewerFlush)
}

func (v *viewer) flushed(ctx context.Context, patience time.Duration) error {
	stalled := time.NewTimer(patience)
	defer stalled.Stop()
	for {
		v.mu.Lock()
		changed := v.changed
		v.mu.Unlock()
		select {
		case <-v.over:
			v.mu.Lock()
			defer v.mu.Unlock()
			return v.err
		case <-changed:
			stalled.Reset(patience)
		case <-stalled.C:
			v.drop(errViewerStalled)
		case <-ctx.Done():
			v.drop(ctx.Err())
		}
	}
}
