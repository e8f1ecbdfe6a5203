package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// This file gives the tests of package scheduler_test access to the state of an engine. They are in a package of their
// own because they use packages that import this one.

// DescribeGangs describes the engine's state of a cluster's gangs for a failure message.
func (e *Engine) DescribeGangs(c *model.Cluster, now time.Time) string {
	out := ""
	for _, name := range slices.Sorted(maps.Keys(c.Gangs)) {
		j := e.gangs.jobs[c.Gangs[name]]
		if j == nil {
			continue
		}
		out += fmt.Sprintf("%s parked=%v phase=%s pending=%d need=%d shapes=%d queue=%s: %s %v %+v\n", name, j.Parked, j.Phase, len(j.Pending), j.Need(), len(j.ParkedShapes), j.In.Name, j.Verdict.Code, j.Verdict.Blocker, j.Verdict.Limit)
		if told := j.Status.Explanation; told != nil {
			out += fmt.Sprintf("  told %s since %v, now %v\n", told.Reason, told.Since, now)
		}
	}
	return out
}

// WaitingJobs returns the gangs that need more than they have.
func (e *Engine) WaitingJobs() []*framework.Job { return e.gangs.waiting }

// AppendPolicy adds a policy in a tier of its own after all others.
func (e *Engine) AppendPolicy(p session.Policy) {
	e.policies = append(e.policies, tiered{p, len(e.policies)})
}
