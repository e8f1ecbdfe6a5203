package protocol

import "testing"

func TestTheBacklogIsBounded(t *testing.T) {
	t.Parallel()
	var b Backlog
	for range 100 {
		b.AppendFrame(Frame{Data: make([]byte, backlogBytes/10)})
	}
	if len(b.Frames) != 10 || b.bytes > backlogBytes {
		t.Errorf("%d frames with %d bytes", len(b.Frames), b.bytes)
	}
}
