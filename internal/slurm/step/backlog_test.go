package step

import "testing"

func TestTheBacklogIsBounded(t *testing.T) {
	t.Parallel()
	var b backlog
	for range 100 {
		b.appendFrame(frame{data: make([]byte, backlogBytes/10)})
	}
	if len(b.frames) != 10 || b.bytes > backlogBytes {
		t.Errorf("%d frames with %d bytes", len(b.frames), b.bytes)
	}
}
