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
		told := j.Status.Explanation
		start := decision.Start{Gang: gangObject(j.Gang), Queue: j.In.Name, Created: j.Created, Waited: told != nil}
		at, known := e.gangs.foretold[j]
		if !known && told != nil && told.EstimatedStart != nil {
			at, known = told.EstimatedStart.Time, true
		}
		if known {
			start.Foretold, start.Late = true, s.Now.Sub(at)
		}
		s.Out.Stats.Starts = append(s.Out.Stats.Starts, start)
		delete(e.gangs.foretold, j)
	}
}

// rememberForecast stores the first start time that is reported for a gang.
func (e *Engine) rememberForecast(j *framework.Job, told *schedulingv1beta1.Explanation) {
	if _, known := e.gangs.foretold[j]; !known && told != nil && told.EstimatedStart != nil {
		e.gangs.foretold[j] = told.EstimatedStart.Time
	}
}
