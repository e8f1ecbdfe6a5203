package scheduler

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// looseEvery is the minimum time between checks of pods without a PodGroup. There may be thousands of such pods, and
// many cycles may run while they are being created. The sum of looseEvery and patience is below a second.
const looseEvery = 40 * time.Millisecond

// reportLoosePods writes conditions on pods that cannot be placed because their PodGroup does not exist, or because
// they name a queue that does not exist. It first waits for patience to give the controller time to create the
// PodGroup.
func (e *Engine) reportLoosePods(s *cycle.Cycle) {
	c := &e.gangs
	if !s.Cluster.MayHaveLooseTasks() {
		clear(c.loose)
		return
	}
	if next := c.looseAt.Add(looseEvery); s.Now.Before(next) && !s.Now.Before(c.looseAt) {
		s.WakeAt(next)
		return
	}
	c.looseAt = s.Now
	loose := s.Cluster.LooseTasks()
	if c.loose == nil {
		c.loose = map[*model.Task]time.Time{}
	}
	var unreported []*model.Task
	waiting := 0
	for _, t := range loose {
		if t.Condition == looseCondition(s, t) {
			continue
		}
		waiting++
		since, known := c.loose[t]
		if !known {
			since = s.Now
			c.loose[t] = since
		}
		if deadline := since.Add(patience); s.Now.Before(deadline) {
			s.WakeAt(deadline)
		} else {
			unreported = append(unreported, t)
		}
	}
	if len(c.loose) > waiting {
		c.pruneLoose(s, loose)
	}
	slices.SortFunc(unreported, comparePodNames)
	for _, t := range unreported {
		condition := looseCondition(s, t)
		s.Out.PodConditions = append(s.Out.PodConditions, decision.PodCondition{Pod: podObject(t), Reason: condition.Reason, Message: condition.Message})
	}
}

// looseCondition returns the condition to write for a pod without a PodGroup.
func looseCondition(s *cycle.Cycle, t *model.Task) model.PodCondition {
	if q := s.Cluster.Queues[t.NamedQueue]; t.NamedQueue != "" && (q == nil || !q.Known) {
		return model.PodCondition{Reason: string(reason.QueueMissing), Message: reason.Get(reason.QueueMissing).Sentence + ": " + t.NamedQueue}
	}
	return model.PodCondition{Reason: corev1.PodReasonUnschedulable, Message: reason.Get(reason.PodGroupMissing).Sentence}
}

// pruneLoose drops the times of pods that now have a PodGroup or whose condition has been written.
func (c *gangCache) pruneLoose(s *cycle.Cycle, loose []*model.Task) {
	still := make(map[*model.Task]time.Time, len(loose))
	for _, t := range loose {
		if since, known := c.loose[t]; known && t.Condition != looseCondition(s, t) {
			still[t] = since
		}
	}
	c.loose = still
}

func comparePodNames(a, b *model.Task) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
