package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// reportLingering reports the pods that should have ended by now. From the next cycle on, promised resources must come
// from elsewhere, because the resources of these pods no longer count as about to be freed.
func (e *Engine) reportLingering(s *cycle.Cycle) {
	var found []*model.Task
	s.Cluster.VisitLeaving(func(t *model.Task) {
		if at := t.LingeringStart(); s.Now.Before(at) {
			s.WakeAt(at)
			return
		}
		found = append(found, t)
	})
	slices.SortFunc(found, func(a, b *model.Task) int { return strings.Compare(a.Key(), b.Key()) })
	for _, t := range found {
		s.Out.Lingering = append(s.Out.Lingering, podObject(t))
		reportUnkeptPromises(s, t)
	}
}

// reportUnkeptPromises records an event for each gang that was promised resources on the node of a pod that has not
// terminated in time.
func reportUnkeptPromises(s *cycle.Cycle, t *model.Task) {
	var gangs []*model.Gang
	for _, waiting := range s.View.Nodes.Tasks[t.Node] {
		g := waiting.Gang
		if waiting.Status != model.Pipelined || g == nil || !g.Known {
			continue
		}
		if !slices.Contains(gangs, g) {
			gangs = append(gangs, g)
		}
	}
	slices.SortFunc(gangs, func(a, b *model.Gang) int { return strings.Compare(a.Key(), b.Key()) })
	for _, g := range gangs {
		s.Out.Events = append(s.Out.Events, decision.Event{
			Gang: gangObject(g), Type: corev1.EventTypeWarning, Reason: string(reason.PodsLinger),
			Message: fmt.Sprintf("pod %s on node %s should have terminated by %s but has not, so the scheduler looks for other resources for the gang; %s",
				t.Key(), s.View.Nodes.Name[t.Node], t.LeavesBy.UTC().Format(time.RFC3339), reason.Get(reason.PodsLinger).Hint),
		})
	}
}
