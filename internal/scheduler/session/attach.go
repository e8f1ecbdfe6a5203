package session

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Attacher checks the volumes and devices that pods attach, with kube-scheduler's own rules. Package kube
// implements it. In programs that do not link that package, such pods are placed without these checks.
type Attacher interface {
	// Open starts a cycle. The returned rule is valid until the next cycle.
	Open(s *Session, conf framework.Attaching) framework.NodeRule
	// Decided returns what must be written before a task that was placed in this cycle is bound; nil for nothing.
	Decided(t *model.Task, id model.NodeID) *decision.Attach
	// Stamp returns a value that changes when a change of volumes or devices could help pods of a shape.
	Stamp(s *model.Shape) uint64
}

// AttachStamp returns the sum of the stamps of the shapes that a parked job needs nodes for.
func (s *Session) AttachStamp(j *framework.Job) uint64 {
	var sum uint64
	for _, shape := range j.ParkedShapes {
		if shape.Attached != nil && s.Attacher != nil {
			sum += s.Attacher.Stamp(shape)
		}
	}
	return sum
}
