package session

import (
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// Attacher judges what pods attach: volumes and devices. The rules are
// kube-scheduler's own; package kube runs them, and who does not link it places
// such pods without regard to what they attach.
type Attacher interface {
	// Open starts a cycle; the rule holds until the next.
	Open(s *Session, conf Attaching) NodeRule
	// Decided is what has to be written before a task that took a node in this
	// cycle is bound; nil: nothing.
	Decided(t *model.Task, id model.NodeID) *decision.Attach
	// Stamp changes when volumes or devices do that could help pods of a shape.
	Stamp(s *model.Shape) uint64
}

// AttachStamp is the sum of the stamps of what a parked job needs nodes for; it
// changes when one of them does.
func (s *Session) AttachStamp(j *Job) uint64 {
	var sum uint64
	for _, shape := range j.ParkedShapes {
		if shape.Attached != nil && s.Attacher != nil {
			sum += s.Attacher.Stamp(shape)
		}
	}
	return sum
}

// Attaching is what policy predicates says of volumes and devices.
type Attaching struct {
	Limits, Zones, Binding, Devices bool
	// Pointless: volumes and devices say where a pod may go, and not where it is better.
	Pointless bool
	// BindTimeout is how long a bind waits for its volumes, DeviceTimeout how long
	// the search for devices on one node may take.
	BindTimeout, DeviceTimeout time.Duration
	// Weight of the points of volumes, by how much of a volume's capacity would be
	// asked for; without a Curve there are none.
	Weight float64
	Curve  [maxCurve]CurvePoint
	Points int // of Curve
}

// maxCurve bounds the points of a curve, so that settings can be compared.
const maxCurve = 16

// CurvePoint is a score, 0 to 10, at a utilization, 0 to 100.
type CurvePoint struct{ Utilization, Score int32 }

// AddPoint adds a point to the curve; false when there are too many.
func (a *Attaching) AddPoint(p CurvePoint) bool {
	if a.Points == maxCurve {
		return false
	}
	a.Curve[a.Points] = p
	a.Points++
	return true
}
