package step

import "testing"

// A viewer that is too slow loses output and receives a warning; the step continues.
func TestASlowViewerIsToldThatOutputWasLost(t *testing.T) {
	t.Parallel()
	v := &viewer{queue: make(chan frame, 2)}
	for _, text := range []string{"a", "b", "c"} {
		v.queueFrame(frame{kind: stdoutFrame, data: []byte(text)})
	}
	<-v.queue
	<-v.queue
	v.queueFrame(frame{kind: stdoutFrame, data: []byte("d")})
	if first, second := <-v.queue, <-v.queue; first.kind != noticeFrame || string(second.data) != "d" {
		t.Errorf("%+v %+v", first, second)
	}
}
