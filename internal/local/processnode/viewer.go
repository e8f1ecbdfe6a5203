package processnode

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// viewerBuffer is how much a viewer may lag behind, in bytes.
	viewerBuffer = 1 << 20
	// viewerReserve is room on top for what a process that ended has left in its two pipes (64 KiB each) and in the copiers' hands.
	viewerReserve = 256 << 10
	// viewerPatience is how long a container is held up by an attached viewer that takes nothing. There is some, so that who reads
	// steadily loses nothing when the container prints faster than a network carries.
	viewerPatience = time.Second
	// viewerFlush is how long a viewer may take nothing after the process has ended.
	viewerFlush = 10 * time.Second
)

// errViewerStalled ends the connection of a viewer that is dropped.
var errViewerStalled = errors.New("the client does not take the output any more: it was disconnected so that the container is not held up")

// viewer is one client that sees what a process prints, at its own pace: its goroutine writes, nobody waits for that.
type viewer struct {
	stdout, stderr io.Writer
	// over is closed when nothing more will be written.
	over chan struct{}

	mu      sync.Mutex
	queue   []piece
	size    int           // bytes in the queue
	closed  bool          // nothing more is queued
	ended   bool          // over is closed
	err     error         // why it was dropped
	changed chan struct{} // closed and replaced when one of the above changes
}

// piece is what was read at once; viewers share its bytes.
type piece struct {
	to   io.Writer
	data []byte
}

// newViewer starts a viewer. Writers that are nil take nothing.
func newViewer(stdout, stderr io.Writer) *viewer {
	v := &viewer{stdout: stdout, stderr: stderr, over: make(chan struct{}), changed: make(chan struct{})}
	go v.write()
	return v
}

// change makes a change and tells those who wait for one.
func (v *viewer) change(how func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	how()
	v.tell()
}

// tell is called with mu held.
func (v *viewer) tell() {
	close(v.changed)
	v.changed = make(chan struct{})
}

// end is called with mu held.
func (v *viewer) end(why error) {
	if !v.ended {
		v.ended, v.closed, v.err, v.queue, v.size = true, true, why, nil, 0
		close(v.over)
	}
}

// drop gives the viewer up; what is queued is lost.
func (v *viewer) drop(why error) { v.change(func() { v.end(why) }) }

// write passes the queue on until it is closed and empty, or the viewer is dropped.
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

// next waits for the first piece; it stays in the queue while it is written.
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

// put queues what the process printed. While the queue is full it waits for room, at most patience (0: without limit) and not at all
// once hurry is closed; a viewer without room by then is dropped.
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

// tryPut returns nil when the piece is queued or of no use any more, otherwise what to wait for.
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

// finish waits until everything that was put is written: nil, or why that cannot be. It gives up when ctx ends and when the
// viewer takes nothing for viewerFlush.
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
