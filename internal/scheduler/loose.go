package scheduler

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// tellLoose tells pods why nobody places them: their PodGroup does not exist. It
// gives those who make it a moment.
func (e *Engine) tellLoose(s *session.Session) {
	b := &e.book
	loose := s.Cluster.Loose()
	if len(loose) == 0 {
		clear(b.loose)
		return
	}
	seen := make(map[*model.Task]time.Time, len(loose))
	condition := model.PodCondition{Reason: corev1.PodReasonUnschedulable, Message: reason.Get(reason.PodGroupMissing).Sentence}
	for _, t := range loose {
		since, known := b.loose[t]
		if !known {
			since = s.Now
		}
		seen[t] = since
		switch ripe := since.Add(patience); {
		case s.Now.Before(ripe):
			s.WakeAt(ripe)
		case t.Condition != condition:
			s.Out.PodConditions = append(s.Out.PodConditions, decision.PodCondition{Pod: pod(t), Reason: condition.Reason, Message: condition.Message})
		}
	}
	b.loose = seen
}
