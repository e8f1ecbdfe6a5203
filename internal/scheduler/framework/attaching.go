package framework

import (
	"time"
)

// Attaching holds the settings of policy predicates for volumes and devices.
type Attaching struct {
	Limits, Zones, Binding, Devices bool
	// Pointless disables points for volumes and devices; they only restrict where a pod may run.
	Pointless bool
	// BindTimeout is how long a bind waits for its volumes, DeviceTimeout how long the search for devices on one
	// node may take.
	BindTimeout, DeviceTimeout time.Duration
	// Weight is the weight of the points for volumes, which depend on how much of a volume's capacity is requested.
	// Without a Curve there are no points.
	Weight float64
	Curve  [maxCurve]CurvePoint
	Points int // number of points in Curve
}

// maxCurve bounds the points of a curve. A fixed size makes the settings comparable.
const maxCurve = 16

// CurvePoint is a score, 0 to 10, at a utilization, 0 to 100.
type CurvePoint struct{ Utilization, Score int32 }

// AddPoint adds a point to the curve; it returns false if there are too many.
func (a *Attaching) AddPoint(p CurvePoint) bool {
	if a.Points == maxCurve {
		return false
	}
	a.Curve[a.Points] = p
	a.Points++
	return true
}
