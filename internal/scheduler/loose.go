package scheduler

import (
	"cmp"
	"slices"
	"strings"
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
	if b.loose == nil {
		b.loose = make(map[*model.Task]time.Time, len(loose))
	}
	condition := model.PodCondition{Reason: corev1.PodReasonUnschedulable, Message: reason.Get(reason.PodGroupMissing).Sentence}
	var untold []*model.Task
	for _, t := range loose {
		since, known := b.loose[t]
		if !known {
			since = s.Now
			b.loose[t] = since
		}
		switch ripe := since.Add(patience); {
		case s.Now.Before(ripe):
			s.WakeAt(ripe)
		case t.Condition != condition:
			untold = append(untold, t)
		}
	}
	if len(b.loose) > len(loose) {
		b.forgetLoose(loose)
	}
	slices.SortFunc(untold, byName)
	for _, t := range untold {
		s.Out.PodConditions = append(s.Out.PodConditions, decision.PodCondition{Pod: pod(t), Reason: condition.Reason, Message: condition.Message})
	}
}

// forgetLoose keeps the times of those that are still loose.
func (b *book) forgetLoose(loose []*model.Task) {
	still := make(map[*model.Task]time.Time, len(loose))
	for _, t := range loose {
		still[t] = b.loose[t]
	}
	b.loose = still
}

func byName(a, b *model.Task) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
