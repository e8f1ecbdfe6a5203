package step

// backlogBytes is the amount of earlier output that a new viewer receives.
const backlogBytes = 64 << 10

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
