package framework

import "time"

// Attaching holds the settings of policy predicates for volumes and devices.
type Attaching struct {
	Limits, Zones, Binding, Devices bool
	// NoScores disables scores for volumes and devices, so that they only restrict where a pod may run.
	NoScores bool
	// BindTimeout is the maximum time that a bind waits for its volumes. DeviceTimeout is the maximum time that the
	// search for devices on a single node may take.
	BindTimeout, DeviceTimeout time.Duration
	// Weight is the weight of the scores for volumes, which depend on how much of a volume's capacity is requested.
	// Without a Curve, volumes are not scored.
	Weight float64
	Curve  [maxCurve]CurvePoint
	Points int // number of points in Curve
}

// maxCurve is the maximum number of points of a curve. The array has a fixed size so that the settings are
// comparable.
const maxCurve = 16

// CurvePoint assigns a score from 0 to 10 to a utilization from 0 to 100.
type CurvePoint struct{ Utilization, Score int32 }

// AddPoint adds a point to the curve. It returns false if there are too many points.
func (a *Attaching) AddPoint(p CurvePoint) bool {
	if a.Points == maxCurve {
		return false
	}
	a.Curve[a.Points] = p
	a.Points++
	return true
}
