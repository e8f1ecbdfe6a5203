package reservation

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// maxRenewal is how far in the future a forecast considers renewals of budgets. It is longer than any period.
const maxRenewal = 366 * 24 * time.Hour

// whyNoLimitForecast returns why a gang that a limit of its account holds back has no forecast; "" if it can have one.
func (s *Planner) whyNoLimitForecast(j *framework.Job) string {
	switch {
	case !s.Easy:
		return switchedOff
	case !s.UsesReservations():
		return whyLimitStays(j)
	case !j.In.AcceptsGangs():
		return notPlaceable + reason.Get(j.Verdict.Code).Sentence
	case hasOnlyTemplates(j):
		return ""
	case !s.IsTryable(j), j.Need() == 0, len(j.Pending) == 0:
		return notPlaceable + reason.Get(j.Verdict.Code).Sentence
	case len(j.Promised)+len(j.Reserved)+len(j.Placed) > 0: // some of its pods start now
		return notPlaceable + reason.Get(j.Verdict.Code).Sentence
	case !s.canForecast(j):
		return attaches
	}
	return ""
}

// hasOnlyTemplates reports whether a gang has no pods yet, but templates for the pods of its minimum.
func hasOnlyTemplates(j *framework.Job) bool {
	return len(j.Tasks) == 0 && !j.IsAdmitted() && j.HasMinResources
}

// whyLimitStays returns why no time is known at which the limits of a gang's account permit it.
func whyLimitStays(j *framework.Job) string {
	sentence := notPlaceable + reason.Get(j.Verdict.Code).Sentence
	if j.Verdict.Code == reason.AccountBudget {
		return sentence + budgetStays
	}
	return sentence + limitStays
}

// truncateJobs keeps only the first maxForecast gangs that a limit of their account holds back, and the first maxForecast
// others. It counts them separately, because gangs that such a limit holds back may be many, and do not block others.
func (f *forecaster) truncateJobs() {
	counts := map[bool]int{} // by IsAccountBound
	f.jobs = slices.DeleteFunc(f.jobs, func(j *framework.Job) bool {
		isAccountBound := j.IsAccountBound()
		if counts[isAccountBound]++; counts[isAccountBound] <= maxForecast {
			return false
		}
		f.out[j] = Forecast{Why: tooFar}
		return true
	})
}

// startLimits starts the forecast of the limits of accounts if they hold back a gang.
func (f *forecaster) startLimits() {
	if !slices.ContainsFunc(f.jobs, (*framework.Job).IsAccountBound) {
		return
	}
	for _, start := range f.s.Rules.Forecasts {
		f.limits = append(f.limits, start(f.s.Bound))
	}
	f.advanceLimits(0)
}

// limitsPermit reports whether the limits of its account permit a gang at the current time of the forecast.
func (f *forecaster) limitsPermit(j *framework.Job) bool {
	var request resource.Request // the request of its pods; the minimum of a gang without pods is checked as a whole
	if len(j.Pending) > 0 {
		request = j.MinimumRequest()
	}
	f.s.Walked += len(f.limits)
	return !slices.ContainsFunc(f.limits, func(limits framework.LimitForecast) bool { return !limits.Permits(j, request) })
}

// nextTime returns the next time at which a gang may start: the time of the next ending or, if limits hold back a gang,
// of the next renewal.
func (f *forecaster) nextTime() (next time.Time, ok bool) {
	if f.look.next < len(f.look.endings) {
		next, ok = f.look.endings[f.look.next].At, true
	}
	if !f.waitsForLimit {
		return next, ok
	}
	for _, limits := range f.limits {
		at := limits.NextRenewal()
		if at.IsZero() || at.After(f.s.Now.Add(maxRenewal)) {
			continue
		}
		if !ok || at.Before(next) {
			next, ok = at, true
		}
	}
	return next, ok
}

// advanceLimits counts the tasks that have ended, from the given ending on, and renews the limits up to the current time of
// the forecast. The limits count tasks to which resources are promised, but not the resources that are held for a gang.
func (f *forecaster) advanceLimits(first int) {
	for _, limits := range f.limits {
		for i := first; i < f.look.next; i++ {
			e := &f.look.endings[i]
			if isHeld := e.Promised && e.Task.Status != model.Pipelined; isHeld {
				continue
			}
			limits.Renew(e.At)
			limits.CountEnded(e.Task, e.At, !e.Leaving)
		}
		limits.Renew(f.s.later)
	}
}

// tryStartTemplates starts a gang that has no pods yet at the current time, if the pods of its templates fit.
func (f *forecaster) tryStartTemplates(j *framework.Job) bool {
	s := f.s
	templates := f.templates[j]
	if slices.ContainsFunc(templates, (*templateSlots).areTooFew) {
		return false
	}
	if s.Rules.CheckOverused(j.In).Code != "" || s.Rules.MayAllocate(j.In, j.MinResources).Code != "" {
		return false
	}
	mark := s.View.Mark()
	var placed []framework.Placed
	for _, slots := range templates {
		more, ok := f.placeTemplate(j, slots)
		if !ok {
			s.View.Rollback(mark)
			return false
		}
		placed = append(placed, more...)
	}
	for _, p := range placed {
		j.In.AddAllocated(p.Task.Shape.Request, 1)
		j.In.AddOccupied(p.Task.Shape.Request, 1)
		f.look.placedTemplates = append(f.look.placedTemplates, held{j, p})
	}
	f.recordStart(j, placed)
	return true
}

// placeTemplate places the pods of a template on the first nodes where they fit without delaying a reservation.
func (f *forecaster) placeTemplate(j *framework.Job, slots *templateSlots) (placed []framework.Placed, ok bool) {
	s, d := f.s, slots.template
	shape := &model.Shape{Request: d.Request}
	s.Walked += len(s.View.Order)
	for rank, id := range s.View.Order {
		if len(placed) == d.Count {
			break
		}
		if slots.at[rank] == 0 {
			continue
		}
		for len(placed) < d.Count && s.View.FitsNow(id, d.Request) {
			task := &model.Task{Namespace: j.Namespace, Name: j.Name, Gang: j.Gang, Shape: shape, Node: model.NoNode, Expected: model.RunTime{Limit: j.TimeLimit}}
			if s.delaysReservation(task, id) {
				break
			}
			s.View.AssignIdle(id, task)
			placed = append(placed, framework.Placed{Task: task, Node: id})
		}
	}
	s.Looked += len(placed) + 1
	return placed, len(placed) == d.Count
}

// delaysReservation reports whether a task that starts on a node now may delay a reservation.
func (s *Planner) delaysReservation(task *model.Task, id model.NodeID) bool {
	return slices.ContainsFunc(s.Reservations, func(r *Reservation) bool {
		_, isReserved := r.Room[id]
		return isReserved && !s.endsBy(task, r.At)
	})
}
