package session

import (
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
)

// known looks whether a gang like this one failed in this cycle already.
func (s *Session) known(j *Job) (explain.Verdict, bool) {
	if j.Structured() || s.scope != nil || len(j.Reserved) > 0 || len(j.Pending) == 0 || len(j.MinTaskMember) > 0 {
		return explain.Verdict{}, false
	}
	m, ok := s.memo[j.Pending[0].Shape]
	if !ok || m.extra && !s.extra(j) || s.needsRules(j.Pending[0]) || s.ruledByPolicy(j, j.Pending[0]) || s.freeOf(j, true)&^m.free != 0 || max(j.Need(), 1) < m.need || len(j.Pending) > 1 && j.Pending[len(j.Pending)-1].Shape != j.Pending[0].Shape || len(j.Shapes()) != 1 {
		return explain.Verdict{}, false
	}
	v := m.verdict
	v.Members = s.members(j, v.Members.Fit-v.Members.Held)
	return s.reservedVerdict(j, v), true
}

func (s *Session) remember(j *Job, r *round, v explain.Verdict) {
	if j.Structured() || s.scope != nil || r.queueVerdict.Code != "" || r.filter != nil || len(j.Reserved) > 0 || len(j.MinTaskMember) > 0 || len(r.failed) != 1 || len(j.Shapes()) != 1 || s.ruledByPolicy(j, j.Pending[0]) {
		return
	}
	if v.Full { // others like it were not told that it is kept
		v.Code, v.Full, v.Until, v.Blocker = reason.GangDoesNotFit, false, time.Time{}, nil
	}
	need := max(j.Need(), 1)
	if m, ok := s.memo[r.failed[0]]; !ok || need < m.need || m.extra && !r.extra {
		s.memo[r.failed[0]] = failed{need: need, verdict: v, free: s.freeOf(j, false), extra: r.extra}
	}
}

// extra says whether a job has its minimum: then it does not wait for room that
// is being released, as those below it do.
func (s *Session) extra(j *Job) bool { return !s.Rules.Gang || j.Need() == 0 }

// Forget drops what was learned about failing gangs: room has been made.
func (s *Session) Forget() { clear(s.memo) }
