package stepmgr

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/usererror"
)

// LeaveTime is the time for which an interactive allocation continues after its last session has ended. It is also the
// time for which a job continues after its last step has ended, if an sattach command is watching the step, so that the
// command can still receive the result.
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

// attachViewer sends a step's output to the peer until the step ends or the peer disconnects. It then sends the step's
// record.
func (m *Manager) attachViewer(conn *protocol.Conn, r *protocol.AttachRequest) error {
	m.mu.Lock()
	s := m.live[r.Step]
	if s == nil {
		m.mu.Unlock()
		return usererror.Errorf("run scontrol show step or squeue -s to list the running steps", "job step %s.%d not found: Invalid job id specified", m.pod.SlurmJobID(), r.Step)
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
		_ = s.conn.SendFrame(protocol.AttachFrame, 0, nil) // an error means that srun, and thus the step, has ended
	}
	err := sendToViewer(conn, v, s.view)
	select {
	case <-s.view.over:
		time.Sleep(LeaveTime) // otherwise, the container may exit before sattach has received the exit code
	default:
	}
	return err
}

func (m *Manager) removeViewer(s *liveStep, v *viewer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.view.viewers = slices.DeleteFunc(s.view.viewers, func(other *viewer) bool { return other == v })
}
