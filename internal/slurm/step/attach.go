package step

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/usererror"
)

// attachAnswer is the layout of a step. When the step ends, its record follows as a second response.
type attachAnswer struct {
	Hosts  []string `json:"hosts"`
	Counts []int    `json:"counts"`
}

const (
	// viewerQueue is the maximum number of pieces of output that wait for a viewer. Slower viewers lose output,
	// because the step does not wait for them.
	viewerQueue = 1024
	// backlogBytes is the amount of earlier output that a new viewer receives.
	backlogBytes = 64 << 10
)

// backlog holds the most recent output of a step.
type backlog struct {
	frames []frame
	bytes  int
}

// appendFrame appends a frame. If the backlog exceeds backlogBytes, it drops the oldest frames.
func (b *backlog) appendFrame(f frame) {
	b.frames, b.bytes = append(b.frames, f), b.bytes+len(f.data)
	for b.bytes > backlogBytes && len(b.frames) > 1 {
		b.bytes -= len(b.frames[0].data)
		b.frames = b.frames[1:]
	}
}

// viewer is an sattach command that watches a step.
type viewer struct {
	queue chan frame
	lost  bool // output was dropped since the last frame was queued
}

// queueFrame queues a frame, or drops it if the viewer is too slow.
func (v *viewer) queueFrame(f frame) {
	if v.lost {
		select {
		case v.queue <- frame{kind: noticeFrame, data: []byte("warning: output was lost because it arrives faster than it can be shown")}:
			v.lost = false
		default:
			return
		}
	}
	select {
	case v.queue <- f:
	default:
		v.lost = true
	}
}

// view holds the part of a running step that viewers see. The head's mutex guards it.
type view struct {
	counts  []int
	viewers []*viewer
	// mirrors is true if srun was requested to send a copy of the tasks' output. recent holds the latest part of the
	// output.
	mirrors bool
	recent  backlog
	over    chan struct{} // closed at the end of the step
	result  launchconfig.Step
}

// showOutput forwards a piece of output to the viewers of a step.
func (h *head) showOutput(s *liveStep, f frame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.view.recent.appendFrame(f)
	for _, v := range s.view.viewers {
		v.queueFrame(f)
	}
}

// attachViewer sends a step's output to the peer until the step ends or the peer disconnects.
func (h *head) attachViewer(w *wire, r *attachRequest) error {
	h.mu.Lock()
	s := h.live[r.Step]
	if s == nil {
		h.mu.Unlock()
		return usererror.Errorf("scontrol show step and squeue -s list running steps", "no job step %s.%d: Invalid job id specified", h.pod.SlurmJobID(), r.Step)
	}
	isFirst := !s.view.mirrors
	s.view.mirrors = true
	v := &viewer{queue: make(chan frame, viewerQueue)}
	for _, f := range s.view.recent.frames {
		v.queueFrame(f)
	}
	s.view.viewers = append(s.view.viewers, v)
	answer := attachAnswer{Counts: s.view.counts}
	for _, node := range s.nodeIDs {
		answer.Hosts = append(answer.Hosts, h.hosts[node])
	}
	h.mu.Unlock()
	defer h.removeViewer(s, v)
	if err := w.sendJSON(answerFrame, 0, answer); err != nil {
		return err
	}
	if isFirst {
		_ = s.wire.sendFrame(attachFrame, 0, nil) // an error does not matter: without its srun the step ends
	}
	err := w.sendToViewer(v, s.view)
	select {
	case <-s.view.over:
		time.Sleep(leaveTime) // sattach must receive the end before the container exits, or the exit code would be lost
	default:
	}
	return err
}

func (h *head) removeViewer(s *liveStep, v *viewer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.view.viewers = slices.DeleteFunc(s.view.viewers, func(other *viewer) bool { return other == v })
}

// sendToViewer sends the queued frames to a viewer, and finally the record of the step.
func (w *wire) sendToViewer(v *viewer, from *view) error {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = w.receiveFrame() // sattach sends nothing, so receive returns when it disconnects
	}()
	defer func() {
		w.closeWrite()
		<-gone
	}()
	for {
		select {
		case f := <-v.queue:
			if err := w.sendFrame(f.kind, f.task, f.data); err != nil {
				return nil
			}
			continue
		case <-gone:
			return nil
		case <-from.over:
		}
		for len(v.queue) > 0 { // no more frames are added
			f := <-v.queue
			if err := w.sendFrame(f.kind, f.task, f.data); err != nil {
				return nil
			}
		}
		return w.sendJSON(answerFrame, 0, from.result)
	}
}
