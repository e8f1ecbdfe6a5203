package step

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/usererror"
)

// leaveTime is how long an interactive allocation continues after its last session, and how long a job continues for an
// sattach that watches its last step, so that the result can still be received.
const leaveTime = time.Second

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
	err := sendToViewer(w, v, s.view)
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
