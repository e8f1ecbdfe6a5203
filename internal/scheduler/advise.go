package scheduler

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/remedy"
)

const (
	// maxAdvised is the maximum number of gangs per cycle that get new advice. Once more than maxTrials tasks were
	// placed in the simulations for advice, no further gang gets any in the same cycle.
	maxAdvised = 8
	maxTrials  = 20_000
	// adviseAgain is the delay after which advice is computed for a gang that was skipped because of these maximums.
	adviseAgain = 500 * time.Millisecond
	// adviceAge is how long advice is valid while the reason stays the same.
	adviceAge = numbersEvery
)

// advice holds the remedies that would help a gang, as simulated at a certain time.
type advice struct {
	helps []explain.Help
	why   string // the meaning of the explanation at that time
	full  bool   // the resources reserved for other gangs were also in use
	whole bool   // the gang had as many pods as it needs
	at    time.Time
}

// isStillValid reports whether the advice is recent and the gang is still in the situation for which it was computed.
func (a *advice) isStillValid(j *framework.Job, e *schedulingv1beta1.Explanation, now time.Time) bool {
	if now.Sub(a.at) >= adviceAge || a.full != j.Verdict.Full {
		return false
	}
	return a.why == explain.MeaningKey(e) && a.whole == hasAllPods(j)
}

// addAdvice adds the remedies that would help a gang to its explanation. It simulates remedies for gangs at the front
// of their queue when the reason is new or the advice is old. If it skipped the gang, it returns when to try again.
func (e *Engine) addAdvice(s *cycle.Cycle, j *framework.Job, to *schedulingv1beta1.Explanation, position int) time.Time {
	c := &e.gangs
	known, isKnown := c.advices[j]
	if !isKnown || !known.isStillValid(j, to, s.Now) {
		if position == 0 || position > front {
			delete(c.advices, j)
			return time.Time{}
		}
		if e.advised >= maxAdvised || s.Looked-e.looked > maxTrials {
			if old := j.Status.Explanation; old != nil && old.Reason == to.Reason {
				to.Helps = withoutWait(old.Helps)
			}
			return s.Now.Add(adviseAgain)
		}
		e.advised++
		known = advice{helps: remedy.Find(s, j), why: explain.MeaningKey(to), full: j.Verdict.Full, whole: hasAllPods(j), at: s.Now}
		c.advices[j] = known
	}
	for _, h := range known.helps {
		to.Helps = append(to.Helps, h.API())
		if h.Kind == schedulingv1beta1.HelpFewerMembers && to.Reason == string(reason.GangDoesNotFit) {
			to.Hint = hintFewerMembers(&h, to.Hint)
		}
	}
	return time.Time{}
}

// hintFewerMembers returns the hint for a gang that would fit with fewer members. hint is the current hint.
func hintFewerMembers(h *explain.Help, hint string) string {
	then := "the job would start now"
	if h.Gate {
		then = "the job would be admitted now"
	}
	rest, of := "lower the requests, or add nodes", ""
	if hint != reason.Get(reason.GangDoesNotFit).Hint { // a more specific hint
		rest = hint
	}
	if h.Subject != "" {
		of = " of task " + h.Subject
	}
	return "with minAvailable " + h.To + of + ", " + then + "; or " + rest
}

func withoutWait(helps []schedulingv1beta1.Help) []schedulingv1beta1.Help {
	return slices.DeleteFunc(slices.Clone(helps), func(h schedulingv1beta1.Help) bool { return h.Kind == schedulingv1beta1.HelpWait })
}

// addWaitHelp adds waiting to the remedies if the start time is certain. It adds nothing if the start time is only an
// estimate, because then other gangs may take the resources first.
func (e *Engine) addWaitHelp(j *framework.Job, to *schedulingv1beta1.Explanation) {
	if at := to.EstimatedStart; at != nil && e.gangs.forecasts[j].Certain {
		to.Helps = append(to.Helps, explain.AdviseWaiting(at.Time).API())
	}
}

// hasAllPods reports whether the gang has as many pods as it needs. Until then, it is not known where they fit.
func hasAllPods(j *framework.Job) bool { return j.Verdict.Members.Exist >= j.Verdict.Members.Min }
