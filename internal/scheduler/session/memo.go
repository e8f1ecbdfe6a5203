package session

import (
	"github.com/vc-batch/vc/internal/explain"
)

// known looks whether a gang like this one failed in this cycle already.
func (s *Session) known(j *Job) (explain.Verdict, bool) {
	if j.Structured() || s.scope != nil || len(j.Reserved) > 0 || len(j.Pending) == 0 || len(j.MinTaskMember) > 0 {
		return explain.Verdict{}, false
	}
	m, ok := s.memo[j.Pending[0].Shape]
	if !ok || s.needsRules(j.Pending[0]) || s.ruledByPolicy(j, j.Pending[0]) || s.freeOf(j, true)&^m.free != 0 || max(j.Need(), 1) < m.need || len(j.Pending) > 1 && j.Pending[len(j.Pending)-1].Shape != j.Pending[0].Shape || len(j.Shapes()) != 1 {
		return explain.Verdict{}, false
	}
	v := m.verdict
	v.Members = s.members(j, v.Members.Fit-v.Members.Held)
	return v, true
}

func (s *Session) remember(j *Job, r *round, v explain.Verdict) {
	if j.Structured() || s.scope != nil || r.queueVerdict.Code != "" || r.filter != nil || len(j.Reserved) > 0 || len(j.MinTaskMember) > 0 || len(r.failed) != 1 || len(j.Shapes()) != 1 || s.ruledByPolicy(j, j.Pending[0]) {
		return
	}
	need := max(j.Need(), 1)
	if m, ok := s.memo[r.failed[0]]; !ok || need < m.need {
		s.memo[r.failed[0]] = failed{need: need, verdict: v, free: s.freeOf(j, false)}
	}
}

// Forget drops what was learned about failing gangs: room has been made.
func (s *Session) Forget() { clear(s.memo) }
