package session

import "github.com/vc-batch/vc/internal/scheduler/framework"

// AttachStamp returns the sum of the stamps of the shapes for which a parked job needs nodes.
func (s *Session) AttachStamp(j *framework.Job) uint64 {
	var sum uint64
	for _, shape := range j.ParkedShapes {
		if shape.Attached != nil && s.Attacher != nil {
			sum += s.Attacher.Stamp(shape)
		}
	}
	return sum
}
