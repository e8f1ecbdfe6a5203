package session

import (
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
)

// known returns the cached verdict if an equivalent gang already failed in this cycle.
func (s *Session) known(j *Job) (explain.Verdict, bool) {
	if j.Structured() || s.scope != nil || len(j.Reserved) > 0 || len(j.Pending) == 0 || len(j.MinTaskMember) > 0 {
		return explain.Verdict{}, false
	}
	m, ok := s.memo[j.Pending[0].Shape]
	if !ok || m.extra && !s.extra(j) || s.needsRules(j.Pending[0]) || s.ruledByPolicy(j, j.Pending[0]) || s.freeOf(j, true)&^m.free != 0 || max(j.Need(), 1) < m.need || len(j.Pending) > 1 && j.Pending[len(j.Pending)-1].Shape != j.Pending[0].Shape || len(j.Shapes()) != 1 {
		return explain.Verdict{}, false
	}
	if s.isBlockedByQueue(j) { // its queue may be the reason before the nodes are
		return explain.Verdict{}, false
	}
	v := m.verdict
	v.Members = s.members(j, v.Members.Fit-v.Members.Held)
	v = s.reservedVerdict(j, v)
	if !s.extra(j) {
		s.beyond(j, &v)
	}
	return v, true
}

// isBlockedByQueue reports whether a limit of its queue, and not only the size of the cluster, permits no more pods of a
// gang, or not its minimum.
func (s *Session) isBlockedByQueue(j *Job) bool {
	asked := j.Pending[0].Shape.Request
	if !s.extra(j) {
		asked = j.MinimumRequest()
	}
	v := s.mayAllocate(j, asked)
	return v.Code != "" && (v.Limit == nil || !v.Limit.Cluster)
}

func (s *Session) remember(j *Job, r *round, v explain.Verdict) {
	if j.Structured() || s.scope != nil || r.queueVerdict.Code != "" || r.filter != nil || len(j.Reserved) > 0 || len(j.MinTaskMember) > 0 || len(r.failed) != 1 || len(j.Shapes()) != 1 || s.ruledByPolicy(j, j.Pending[0]) {
		return
	}
	if v.Full { // the reservation does not concern other gangs
		v.Code, v.Full, v.Until, v.Blocker = reason.GangDoesNotFit, false, time.Time{}, nil
	}
	switch v.Code {
	case reason.OverCapability, reason.GangDoesNotFit: // a limit is that of this gang's queue or of the cluster, for what it needs
		v.Code, v.Limit, v.More = reason.GangDoesNotFit, nil, nil
	}
	need := max(j.Need(), 1)
	if m, ok := s.memo[r.failed[0]]; !ok || need < m.need || m.extra && !r.extra {
		s.memo[r.failed[0]] = failed{need: need, verdict: v, free: s.freeOf(j, false), extra: r.extra}
	}
}

// extra reports whether a job has its minimum. Unlike a job below its minimum, it then does not wait for resources
// that are being released.
func (s *Session) extra(j *Job) bool { return !s.Rules.Gang || j.Need() == 0 }

// Forget drops the cached failures, because resources were freed.
func (s *Session) Forget() { clear(s.memo) }
