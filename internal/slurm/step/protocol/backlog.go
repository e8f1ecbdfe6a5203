package protocol

// backlogBytes is the maximum amount of earlier output that a new viewer receives.
const backlogBytes = 64 << 10

// Backlog holds the most recent output of a step.
type Backlog struct {
	Frames []Frame
	bytes  int
}

// AppendFrame appends a frame. While the backlog exceeds backlogBytes, it drops the oldest frames.
func (b *Backlog) AppendFrame(f Frame) {
	b.Frames, b.bytes = append(b.Frames, f), b.bytes+len(f.Data)
	for b.bytes > backlogBytes && len(b.Frames) > 1 {
		b.bytes -= len(b.Frames[0].Data)
		b.Frames = b.Frames[1:]
	}
}
