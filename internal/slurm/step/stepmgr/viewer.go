package stepmgr

import (
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// viewerQueue is the maximum number of pieces of output that are queued for a viewer. Viewers that are too slow lose
// output, because the step does not wait for them.
const viewerQueue = 1024

// viewer is an sattach command that is watching a step.
type viewer struct {
	queue chan protocol.Frame
	lost  bool // output was dropped since the last frame was queued
}

// queueFrame queues a frame, or drops it if the viewer is too slow.
func (v *viewer) queueFrame(f protocol.Frame) {
	if v.lost {
		select {
		case v.queue <- protocol.Frame{Kind: protocol.NoticeFrame, Data: []byte("warning: output was lost because it arrived faster than it could be shown")}:
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
	// mirrors is true if srun was requested to send a copy of the tasks' output. recent holds the most recent output.
	mirrors bool
	recent  protocol.Backlog
	over    chan struct{} // closed when the step ends
	result  launchconfig.Step
}

// sendToViewer sends the queued frames to a viewer, and finally the record of the step.
func sendToViewer(conn *protocol.Conn, v *viewer, from *view) error {
	gone := conn.AwaitClose()
	defer func() {
		conn.CloseWrite()
		<-gone
	}()
	for {
		select {
		case f := <-v.queue:
			if err := conn.SendFrame(f.Kind, f.Task, f.Data); err != nil {
				return nil
			}
			continue
		case <-gone:
			return nil
		case <-from.over:
		}
		for len(v.queue) > 0 { // no more frames are added
			f := <-v.queue
			if err := conn.SendFrame(f.Kind, f.Task, f.Data); err != nil {
				return nil
			}
		}
		return conn.SendJSON(protocol.AnswerFrame, 0, from.result)
	}
}
