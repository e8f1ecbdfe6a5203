package plan

import (
	"slices"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// answer is the response of a policy to an event. It consists of an action and its delay.
type answer struct {
	action busv1alpha1.Action
	delay  time.Duration
}

// resolveResponse finds the response to an event in the first matching policy of the task or, if none exists, of the
// job.
func resolveResponse(job *batchv1alpha1.Job, e *event) (answer, bool) {
	if e.task >= 0 {
		if a, ok := firstMatchingPolicy(job.Spec.Tasks[e.task].Policies, e); ok {
			return a, true
		}
	}
	return firstMatchingPolicy(job.Spec.Policies, e)
}

func firstMatchingPolicy(policies []batchv1alpha1.LifecyclePolicy, e *event) (answer, bool) {
	for i := range policies {
		p := &policies[i]
		if !matchesPolicy(p, e) {
			continue
		}
		a := answer{action: p.Action}
		if p.Timeout != nil {
			a.delay = p.Timeout.Duration
		}
		return a, true
	}
	return answer{}, false
}

func matchesPolicy(p *batchv1alpha1.LifecyclePolicy, e *event) bool {
	if p.ExitCode != nil {
		return *p.ExitCode != 0 && slices.Contains(e.codes, *p.ExitCode)
	}
	if e.kind == busv1alpha1.PodPendingEvent && p.Timeout == nil {
		return false // every pod is pending at first, so only a long wait is an event
	}
	named := func(event busv1alpha1.Event) bool { return event == e.kind || event == busv1alpha1.AnyEvent }
	return named(p.Event) || slices.ContainsFunc(p.Events, named)
}
