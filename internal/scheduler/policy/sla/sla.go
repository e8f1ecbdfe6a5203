// Package sla ensures that no gang waits forever. After a maximum waiting time, a gang is admitted regardless of
// other rules, and resources are reserved for it until it can start.
//
//	In:   the creation time of each gang and its maximum waiting time
//	Out:  rules JobOrder, Enqueueable, Deadlines
package sla

import (
	"fmt"
	"time"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	waitingTime = "sla-waiting-time"
	// annotation takes precedence over waitingTime if a PodGroup has both.
	annotation = "volcano.sh/sla-waiting-time"
	// longest is the maximum accepted waiting time; longer ones are reduced to it.
	longest = 100 * 365 * 24 * time.Hour
)

// Policy implements the sla policy.
type Policy struct {
	conf config.Plugin
	// usual is the maximum waiting time of gangs that do not set their own; 0 means no limit.
	usual time.Duration
}

// New returns the policy.
func New(conf config.Plugin, warn func(string)) *Policy {
	p := &Policy{conf: conf}
	if text := conf.Arguments.String(waitingTime, "", warn); text != "" {
		wait, err := parseWaitingTime(text)
		if err != nil {
			warn(fmt.Sprintf("argument %s: %v; the argument is ignored", waitingTime, err))
		}
		p.usual = wait
	}
	return p
}

// parseWaitingTime parses a positive duration.
func parseWaitingTime(text string) (time.Duration, error) {
	wait, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("must be a duration such as 1h30m, not %q", text)
	case wait <= 0:
		return 0, fmt.Errorf("must be a duration greater than zero, not %q", text)
	}
	return min(wait, longest), nil
}

// Name returns "sla".
func (*Policy) Name() string { return "sla" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rules.
func (p *Policy) Open(s *session.Session) {
	if p.conf.Enabled("enableJobOrder") {
		s.Rules.JobOrder = append(s.Rules.JobOrder, p.compareDeadlines)
	}
	if p.conf.Enabled("enableJobEnqueued") {
		s.Rules.Vote(func(j *framework.Job) (framework.Vote, explain.Verdict) {
			if s.ReachedOrRetryAt(j, p.deadlineOf(j)) {
				return framework.Permit, explain.Verdict{}
			}
			return framework.Abstain, explain.Verdict{}
		})
	}
	s.Rules.Remarks = append(s.Rules.Remarks, waitingTimeWarnings)
	if p.conf.Enabled("enableJobPipelined") {
		s.Rules.Deadlines = append(s.Rules.Deadlines, p.deadlineOf)
	}
}

// waitingTimeWarnings returns warnings about invalid waiting times in annotations.
func waitingTimeWarnings(j *framework.Job) (texts []string) {
	for _, key := range [2]string{annotation, waitingTime} {
		if text, given := j.Annotations[key]; given {
			if _, err := parseWaitingTime(text); err != nil {
				texts = append(texts, fmt.Sprintf("%s: %v; the annotation is ignored", key, err))
			}
		}
	}
	return texts
}

// deadlineOf returns the time at which the gang has waited too long, or the zero time if there is no limit.
func (p *Policy) deadlineOf(j *framework.Job) time.Time {
	wait := p.usual
	for _, key := range [2]string{annotation, waitingTime} {
		text, given := j.Annotations[key]
		if !given {
			continue
		}
		if own, err := parseWaitingTime(text); err == nil { // an invalid value has no effect
			wait = own
			break
		}
	}
	if wait == 0 {
		return time.Time{}
	}
	return j.Created.Add(wait)
}

// compareDeadlines sorts gangs with a deadline before others, and earlier deadlines before later ones.
func (p *Policy) compareDeadlines(a, b *framework.Job) int {
	x, y := p.deadlineOf(a), p.deadlineOf(b)
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
