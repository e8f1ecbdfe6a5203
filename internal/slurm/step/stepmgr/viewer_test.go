package stepmgr

import (
	"testing"

	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// A viewer that is too slow loses output and receives a warning; the step continues.
func TestSlowViewerIsNotifiedOfLostOutput(t *testing.T) {
	t.Parallel()
	v := &viewer{queue: make(chan protocol.Frame, 2)}
	for _, text := range []string{"a", "b", "c"} {
		v.queueFrame(protocol.Frame{Kind: protocol.StdoutFrame, Data: []byte(text)})
	}
	<-v.queue
	<-v.queue
	v.queueFrame(protocol.Frame{Kind: protocol.StdoutFrame, Data: []byte("d")})
	if first, second := <-v.queue, <-v.queue; first.Kind != protocol.NoticeFrame || string(second.Data) != "d" {
		t.Errorf("%+v %+v", first, second)
	}
}
