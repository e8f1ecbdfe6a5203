package scheduler

import (
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// recordStarts records the gangs that reached their minimum. It compares each start time with the first forecast or,
// after a restart, with the last one.
func (e *Engine) recordStarts(s *cycle.Cycle) {
	for _, j := range s.Bound {
		if len(j.Placed) == 0 || j.Gang.CountReady() >= j.MinMember {
			continue
		}
		reported := j.Status.Explanation
		start := decision.Start{Gang: gangObject(j.Gang), Queue: j.In.Name, Created: j.Created, Waited: reported != nil}
		at, known := e.gangs.firstStarts[j]
		if !known && reported != nil && reported.EstimatedStart != nil {
			at, known = reported.EstimatedStart.Time, true
		}
		if known {
			start.Foretold, start.Late = true, s.Now.Sub(at)
		}
		s.Out.Stats.Starts = append(s.Out.Stats.Starts, start)
		delete(e.gangs.firstStarts, j)
	}
}

// rememberForecast stores the first start time that is reported for a gang.
func (e *Engine) rememberForecast(j *framework.Job, reported *schedulingv1beta1.Explanation) {
	if _, known := e.gangs.firstStarts[j]; !known && reported != nil && reported.EstimatedStart != nil {
		e.gangs.firstStarts[j] = reported.EstimatedStart.Time
	}
}
