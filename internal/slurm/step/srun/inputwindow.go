package srun

import (
	"sync"

	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// inputWindow counts how many more pieces of input may be sent to a task before the task must acknowledge one.
type inputWindow struct {
	mu      sync.Mutex // guards the fields below
	free    int
	ended   bool
	changed chan struct{}
}

func newInputWindow() *inputWindow {
	return &inputWindow{free: protocol.InputWindow, changed: make(chan struct{})}
}

// waitForRoom waits until a piece may be sent. It returns false if the task has ended.
func (r *inputWindow) waitForRoom() bool {
	for {
		r.mu.Lock()
		if r.ended {
			r.mu.Unlock()
			return false
		}
		if r.free > 0 {
			r.free--
			r.mu.Unlock()
			return true
		}
		changed := r.changed
		r.mu.Unlock()
		<-changed
	}
}

// giveRoom permits one more piece after the task has acknowledged one. If end is true, the task has ended and accepts
// no more input. Calling giveRoom on a nil window does nothing.
func (r *inputWindow) giveRoom(end bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free++
	r.ended = r.ended || end
	close(r.changed)
	r.changed = make(chan struct{})
}
