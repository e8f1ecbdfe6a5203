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
var errViewerStalled = errors.New("the client stopped reading the output and was disconnected so that it does not block the container")

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
	go v.writeQueue()
	return v
}

// changeState changes the viewer by calling how, and wakes the goroutines that are waiting for a change.
func (v *viewer) changeState(how func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	how()
	v.wakeWaiting()
}

// wakeWaiting wakes the waiting goroutines. The caller must hold mu.
func (v *viewer) wakeWaiting() {
	close(v.changed)
	v.changed = make(chan struct{})
}

// markViewerEnded marks the viewer as ended. The caller must hold mu.
func (v *viewer) markViewerEnded(why error) {
	if !v.ended {
		v.ended, v.closed, v.err, v.queue, v.size = true, true, why, nil, 0
		close(v.over)
	}
}

// dropViewer ends the viewer and discards the output in its queue.
func (v *viewer) dropViewer(why error) { v.changeState(func() { v.markViewerEnded(why) }) }

// writeQueue writes the queued output until the queue is closed and empty, or the viewer is dropped.
func (v *viewer) writeQueue() {
	for {
		next, more := v.waitForNextPiece()
		if !more {
			return
		}
		if _, err := next.to.Write(next.data); err != nil {
			v.dropViewer(err)
			return
		}
		v.changeState(func() {
			if !v.ended {
				v.queue, v.size = v.queue[1:], v.size-len(next.data)
			}
		})
	}
}

// waitForNextPiece waits for the first piece in the queue. The piece stays in the queue until it has been written.
func (v *viewer) waitForNextPiece() (piece, bool) {
	for {
		v.mu.Lock()
		if len(v.queue) > 0 {
			defer v.mu.Unlock()
			return v.queue[0], true
		}
		if v.closed {
			defer v.mu.Unlock()
			v.markViewerEnded(nil)
			return piece{}, false
		}
		changed := v.changed
		v.mu.Unlock()
		<-changed
	}
}

// queueOutput queues output. If the queue is full, it waits for space, for at most patience (0 means no limit), and not
// at all once hurry is closed. If there is still no space, it drops the viewer.
func (v *viewer) queueOutput(data []byte, isStderr bool, patience time.Duration, hurry <-chan struct{}) {
	next := piece{v.stdout, data}
	if isStderr {
		next.to = v.stderr
	}
	if next.to == nil {
		return
	}
	if changed := v.tryQueuePiece(next, viewerBuffer); changed != nil {
		v.waitAndQueue(next, changed, patience, hurry)
	}
}

func (v *viewer) waitAndQueue(next piece, changed <-chan struct{}, patience time.Duration, hurry <-chan struct{}) {
	var enough <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		enough = timer.C
	}
	for changed != nil {
		select {
		case <-changed:
			changed = v.tryQueuePiece(next, viewerBuffer)
		case <-enough:
			v.dropViewer(errViewerStalled)
			return
		case <-hurry:
			if v.tryQueuePiece(next, viewerBuffer+viewerReserve) != nil {
				v.dropViewer(errViewerStalled)
			}
			return
		}
	}
}

// tryQueuePiece queues a piece. It returns nil if the piece was queued or is no longer needed, and otherwise a channel
// to wait on.
func (v *viewer) tryQueuePiece(next piece, limit int) <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.closed:
	case v.size+len(next.data) > limit:
		return v.changed
	default:
		v.queue, v.size = append(v.queue, next), v.size+len(next.data)
		v.wakeWaiting()
	}
	return nil
}

// finishOutput waits until all output has been written. It returns an error if ctx is done, or if the viewer has
// accepted nothing for viewerFlush.
func (v *viewer) finishOutput(ctx context.Context) error {
	v.changeState(func() { v.closed = true })
	return v.waitUntilFlushed(ctx, viewerFlush)
}

func (v *viewer) waitUntilFlushed(ctx context.Context, patience time.Duration) error {
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
			v.dropViewer(errViewerStalled)
		case <-ctx.Done():
			v.dropViewer(ctx.Err())
		}
	}
}
