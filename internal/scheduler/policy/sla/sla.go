// Package sla sees to it that no gang waits for ever: after a time it is let in
// whatever else holds, and room is kept for it until it can start.
//
//	In:   when a gang was created, how long it may wait
//	Out:  rules JobOrder, Enqueueable, Deadlines
package sla

import (
	"fmt"
	"time"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	waitingTime = "sla-waiting-time"
	// annotation comes before waitingTime, where a PodGroup has both.
	annotation = "volcano.sh/sla-waiting-time"
	// longest that counts: more is no limit.
	longest = 100 * 365 * 24 * time.Hour
)

// Policy is the policy sla.
type Policy struct {
	conf config.Plugin
	// usual is how long gangs may wait that say nothing themselves; 0: as long as it takes.
	usual time.Duration
}

// New returns the policy.
func New(conf config.Plugin, warn func(string)) *Policy {
	p := &Policy{conf: conf}
	if text := conf.Arguments.String(waitingTime, "", warn); text != "" {
		wait, err := parse(text)
		if err != nil {
			warn(fmt.Sprintf("argument %s: %v; it has no effect", waitingTime, err))
		}
		p.usual = wait
	}
	return p
}

// parse reads a duration above zero.
func parse(text string) (time.Duration, error) {
	wait, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("want a duration such as 1h30m, have %q", text)
	case wait <= 0:
		return 0, fmt.Errorf("want a duration above zero, have %q", text)
	}
	return min(wait, longest), nil
}

// Name is sla.
func (*Policy) Name() string { return "sla" }

// Reads says which switches and arguments have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rules.
func (p *Policy) Open(s *session.Session) {
	if p.conf.Enabled("enableJobOrder") {
		s.Rules.JobOrder = append(s.Rules.JobOrder, p.order)
	}
	if p.conf.Enabled("enableJobEnqueued") {
		s.Rules.Vote(func(j *session.Job) (session.Vote, explain.Verdict) {
			if s.Reached(j, p.deadline(j)) {
				return session.Permit, explain.Verdict{}
			}
			return session.Abstain, explain.Verdict{}
		})
	}
	s.Rules.Remarks = append(s.Rules.Remarks, remarks)
	if p.conf.Enabled("enableJobPipelined") {
		s.Rules.Deadlines = append(s.Rules.Deadlines, p.deadline)
	}
}

// remarks names the annotations that are no waiting time.
func remarks(j *session.Job) (texts []string) {
	for _, key := range [2]string{annotation, waitingTime} {
		if text, given := j.Annotations[key]; given {
			if _, err := parse(text); err != nil {
				texts = append(texts, fmt.Sprintf("%s: %v; it has no effect", key, err))
			}
		}
	}
	return texts
}

// deadline is until when the gang may have to wait; zero: for ever.
func (p *Policy) deadline(j *session.Job) time.Time {
	wait := p.usual
	for _, key := range [2]string{annotation, waitingTime} {
		text, given := j.Annotations[key]
		if !given {
			continue
		}
		if own, err := parse(text); err == nil { // what cannot be read has no effect
			wait = own
			break
		}
	}
	if wait == 0 {
		return time.Time{}
	}
	return j.Created.Add(wait)
}

// order: gangs with a deadline first, the earlier one first.
func (p *Policy) order(a, b *session.Job) int {
	x, y := p.deadline(a), p.deadline(b)
	switch {
	case x.IsZero() && y.IsZero():
		return 0
	case x.IsZero():
		return 1
	case y.IsZero():
		return -1
	}
	return x.Compare(y)
}
