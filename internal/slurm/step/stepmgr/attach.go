package stepmgr

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/usererror"
)

// LeaveTime is how long an interactive allocation continues after its last session, and how long a job continues for an
// sattach that watches its last step, so that the result can still be received.
const LeaveTime = time.Second

// showOutput forwards a piece of output to the viewers of a step.
func (m *Manager) showOutput(s *liveStep, f protocol.Frame) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.view.recent.AppendFrame(f)
	for _, v := range s.view.viewers {
		v.queueFrame(f)
	}
}

// attachViewer sends a step's output to the peer until the step ends or the peer disconnects.
func (m *Manager) attachViewer(conn *protocol.Conn, r *protocol.AttachRequest) error {
	m.mu.Lock()
	s := m.live[r.Step]
	if s == nil {
		m.mu.Unlock()
		return usererror.Errorf("scontrol show step and squeue -s list running steps", "no job step %s.%d: Invalid job id specified", m.pod.SlurmJobID(), r.Step)
	}
	isFirst := !s.view.mirrors
	s.view.mirrors = true
	v := &viewer{queue: make(chan protocol.Frame, viewerQueue)}
	for _, f := range s.view.recent.Frames {
		v.queueFrame(f)
	}
	s.view.viewers = append(s.view.viewers, v)
	answer := protocol.AttachAnswer{Counts: s.view.counts}
	for _, node := range s.nodeIDs {
		answer.Hosts = append(answer.Hosts, m.hosts[node])
	}
	m.mu.Unlock()
	defer m.removeViewer(s, v)
	if err := conn.SendJSON(protocol.AnswerFrame, 0, answer); err != nil {
		return err
	}
	if isFirst {
		_ = s.conn.SendFrame(protocol.AttachFrame, 0, nil) // an error does not matter: without its srun the step ends
	}
	err := sendToViewer(conn, v, s.view)
	select {
	case <-s.view.over:
		time.Sleep(LeaveTime) // sattach must receive the end before the container exits, or the exit code would be lost
	default:
	}
	return err
}

func (m *Manager) removeViewer(s *liveStep, v *viewer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.view.viewers = slices.DeleteFunc(s.view.viewers, func(other *viewer) bool { return other == v })
}
