package plan

import (
	"slices"
	"time"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// answer is the response of a policy to an event. It consists of an action and its delay.
type answer struct {
	action bus.Action
	delay  time.Duration
}

// resolveResponse finds the response to an event in the first matching policy of the task or, if none exists, of the
// job.
func resolveResponse(job *batch.Job, e *event) (answer, bool) {
	if e.task >= 0 {
		if a, ok := firstMatchingPolicy(job.Spec.Tasks[e.task].Policies, e); ok {
			return a, true
		}
	}
	return firstMatchingPolicy(job.Spec.Policies, e)
}

func firstMatchingPolicy(policies []batch.LifecyclePolicy, e *event) (answer, bool) {
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

func matchesPolicy(p *batch.LifecyclePolicy, e *event) bool {
	if p.ExitCode != nil {
		return *p.ExitCode != 0 && slices.Contains(e.codes, *p.ExitCode)
	}
	if e.kind == bus.PodPendingEvent && p.Timeout == nil {
		return false // every pod is pending at first, so only a long wait is an event
	}
	named := func(event bus.Event) bool { return event == e.kind || event == bus.AnyEvent }
	return named(p.Event) || slices.ContainsFunc(p.Events, named)
}
