package session

import (
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// SetVerdict sets the reason why a job is waiting. A later verdict replaces an earlier one.
func (s *Session) SetVerdict(j *framework.Job, v explain.Verdict) {
	v.EvictedBy = j.EvictedBy
	if v.Members == (explain.Members{}) { // the caller did not set it
		v.Members = s.Members(j, 0)
	}
	v.Extra = j.AllocatedTasks() > 0 && j.IsSatisfied()
	if !v.Extra {
		s.addImpossible(j, &v)
	}
	j.Verdict = v
	s.Touch(j)
}
