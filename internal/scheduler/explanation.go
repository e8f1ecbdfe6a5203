package scheduler

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/reservation"
)

// front is the number of gangs at the front of a queue whose explanations are updated even if only their numbers
// changed.
const front = 20

// explanationOf returns the explanation for a verdict, or nil if the gang is not waiting. It returns the reported
// explanation as long as that explanation is still correct. again is when to compute the explanation again.
func (e *Engine) explanationOf(s *cycle.Cycle, j *framework.Job, v explain.Verdict) (reported *schedulingv1beta1.Explanation, again time.Time) {
	if v.Code == "" {
		delete(e.gangs.advices, j)
		return nil, time.Time{}
	}
	if e.keepsOldExplanation(s, j, &v) {
		return j.Status.Explanation, time.Time{}
	}
	_, hasForecast := e.gangs.forecasts[j]
	gainsForecast := hasForecast && j.Reported.LacksForecast
	defer func() {
		j.Reported.Explanation, j.Reported.Verdict, j.Reported.In = reported, v, j.In
		j.Reported.LacksForecast = !hasForecast && s.UsesReservations()
	}()
	if label, missing := v.Tally.MissingLabel(); missing {
		v.Near = e.similar.findSimilar(s, label)
	}
	position, waiting := e.positions.positionOf(j)
	fresh := explain.ToAPIExplanation(&v, queueStanding(j, position, waiting), s.Cluster.Resources)
	since := metav1.NewTime(j.Since.Truncate(time.Second))
	old := j.Status.Explanation
	if old != nil && old.Since != nil && old.Reason == fresh.Reason {
		since = *old.Since
	}
	fresh.Since = &since
	e.setEstimatedStart(s, j, fresh)
	again = e.addAdvice(s, j, fresh, position)
	if !explain.HaveSameMeaning(fresh, old) {
		e.addWaitHelp(j, fresh)
		countAttempts(j, fresh, s.Now)
		return fresh, again
	}
	explain.KeepAccurate(fresh, old, s.Now)
	e.addWaitHelp(j, fresh)
	switch old := j.Status.Explanation; {
	case equality.Semantic.DeepEqual(fresh, old):
		return old, again
	case gainsForecast && fresh.Estimate != old.Estimate: // write it now
	case !explain.HaveSamePods(fresh, old):
		if s.Now.Sub(j.StatusAt) < countsEvery {
			return old, earlierTime(again, j.StatusAt.Add(countsEvery))
		}
	case s.Now.Sub(j.StatusAt) < numbersEvery && !explain.HasGainedEstimate(fresh, old):
		if position > 0 && position <= front {
			again = earlierTime(again, j.StatusAt.Add(numbersEvery))
		}
		return old, again
	}
	countAttempts(j, fresh, s.Now)
	return fresh, again
}

// keepsOldExplanation reports whether the explanation of a gang far back in its queue is kept because only its numbers
// differ and it was written recently. This avoids building an explanation that would be dropped: whenever a pod ends,
// most gangs in a long queue get the same verdict with different numbers.
func (e *Engine) keepsOldExplanation(s *cycle.Cycle, j *framework.Job, v *explain.Verdict) bool {
	old := j.Status.Explanation
	if old == nil || s.Now.Sub(j.StatusAt) >= numbersEvery {
		return false
	}
	if old != j.Reported.Explanation || j.In != j.Reported.In {
		return false
	}
	if !explain.HaveSameLimit(v, &j.Reported.Verdict) {
		return false
	}
	if _, advised := e.gangs.advices[j]; advised {
		return false
	}
	f, hasForecast := e.gangs.forecasts[j]
	gainsReason := hasForecast && j.Reported.LacksForecast
	if f.Known || gainsReason { // the explanation may now get an estimate, or the reason why there is none
		return false
	}
	return j.WaitsToStart() && !e.positions.isInFront(j)
}

// countAttempts sets the number of scheduling attempts and the time of the last one. After a restart it continues from
// the reported number.
func countAttempts(j *framework.Job, to *schedulingv1beta1.Explanation, now time.Time) {
	if old := j.Status.Explanation; old != nil && isSameSince(old, to) && j.Attempts < int(old.Attempts) {
		j.Attempts += int(old.Attempts)
	}
	if to.Attempts = int32(j.Attempts); to.Attempts > 0 {
		at := metav1.NewTime(now.Truncate(time.Second))
		to.LastAttempt = &at
	}
}

// setEstimatedStart sets the estimated start of the gang. It also sets the basis of the estimate, or the reason why the
// start is unknown.
func (e *Engine) setEstimatedStart(s *cycle.Cycle, j *framework.Job, to *schedulingv1beta1.Explanation) {
	f, known := e.gangs.forecasts[j]
	switch {
	case to.Never:
		f = reservation.Hopeless
	case !known && j.IsAccountBound():
		f = s.ForecastOfNewGang(j)
	case !known && !s.Easy && s.Cluster.HasRunTimes():
		f = reservation.Unlooked
	case !known && s.UsesReservations():
		f = s.ForecastOfNewGang(j)
	case !known:
		f = reservation.Unforeseen
	}
	to.Estimate = f.Why
	if f.Known {
		at := metav1.NewTime(f.At.Add(time.Second - 1).Truncate(time.Second))
		to.EstimatedStart = &at
	}
}

// queueStanding returns the state of a gang's queue, or nil if the gang has no queue.
func queueStanding(j *framework.Job, position, waiting int) *explain.Standing {
	if j.In == nil {
		return nil
	}
	st := queueLevel(j.In)
	st.Position, st.Waiting = position, waiting
	path := j.In.Path()
	for _, q := range path[:len(path)-1] {
		st.Path = append(st.Path, queueLevel(q))
	}
	return &st
}

func queueLevel(q *queue.Queue) explain.Standing {
	st := explain.Standing{Name: q.Name, Allocated: q.Allocated, Deserved: q.Deserved, Capability: q.Capability}
	for _, t := range q.Guarantee {
		for len(st.Guarantee) <= int(t.Index) {
			st.Guarantee = append(st.Guarantee, 0)
		}
		st.Guarantee[t.Index] = float64(t.Value)
	}
	return st
}

// updateForecasts simulates the future to forecast when the waiting gangs will start. The forecast is costly, so the
// pause before the next one grows with its cost. No decision depends on it.
func (e *Engine) updateForecasts(s *cycle.Cycle) {
	c := &e.gangs
	if !s.Easy || !s.Cluster.HasRunTimes() {
		clear(c.forecasts)
		return
	}
	wanted := s.View.Touched || len(s.Reservations) > 0
	for _, j := range s.Touched {
		wanted = wanted || j.Verdict.Code != ""
	}
	switch {
	case !wanted && !c.owesForecast:
		return
	case len(s.Out.Lingering) > 0: // the next cycle follows at once and no longer expects these pods to end
		c.owesForecast = true
		return
	case s.Now.Before(c.forecastAt):
		c.owesForecast = true
		s.WakeAt(c.forecastAt)
		return
	}
	looked, walked := s.Looked, s.Walked
	fresh := s.ForecastStarts()
	for _, j := range s.AllWaiting {
		reported := j.Status.Explanation
		if reported == nil {
			continue
		}
		f, hasForecast := fresh[j]
		gainsReason := hasForecast && j.Reported.LacksForecast && f.Why != reported.Estimate
		if gainsReason || forecastDiffers(f, reported) {
			s.Touch(j)
		}
	}
	c.forecasts, c.owesForecast = fresh, false
	c.forecastAt = s.Now.Add(pauseAfterForecast(s.Looked-looked, s.Walked-walked, len(s.AllWaiting)))
}

// pauseAfterForecast returns the pause after a forecast: ten times as long as the forecast takes on a slow machine. The
// duration is estimated from the work that the forecast did, because the engine cannot measure time. A forecast
// therefore uses at most a tenth of one core (TestForecastFloor).
func pauseAfterForecast(looked, walked, waiting int) time.Duration {
	return time.Duration(looked)*200*time.Microsecond + time.Duration(walked)*walkRest + time.Duration(waiting)*50*time.Microsecond
}

// walkRest is the part of the pause for each pod ending or node that the forecast processed.
const walkRest = 10 * time.Microsecond

// forecastDiffers reports whether a forecast differs from the reported one.
func forecastDiffers(f reservation.Forecast, reported *schedulingv1beta1.Explanation) bool {
	if !f.Known || reported.EstimatedStart == nil {
		return f.Known != (reported.EstimatedStart != nil)
	}
	waits := slices.ContainsFunc(reported.Helps, func(h schedulingv1beta1.Help) bool { return h.Kind == schedulingv1beta1.HelpWait })
	if f.Certain != waits {
		return true
	}
	return f.At.Sub(reported.EstimatedStart.Time).Abs() > time.Second
}

// isSameSince reports whether the reasons of two explanations have applied since the same time. It returns false if
// either time is missing.
func isSameSince(a, b *schedulingv1beta1.Explanation) bool {
	return a.Since != nil && b.Since != nil && a.Since.Equal(b.Since)
}
