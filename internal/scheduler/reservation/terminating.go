package reservation

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
)

// explainLingering changes the verdict of a gang that would fit with the resources of lingering pods. It names the pods
// whose nodes the gang would use.
func (s *Planner) explainLingering(j *framework.Job, v explain.Verdict, limits placement.Limits) explain.Verdict {
	if v.Code != reason.GangDoesNotFit {
		return v
	}
	tasks := slices.DeleteFunc(s.Cluster.LingeringTasks(), func(t *model.Task) bool { return s.View.Rank[t.Node] < 0 })
	if len(tasks) == 0 {
		return v
	}
	l := s.startLookahead()
	for _, t := range tasks {
		s.View.AssumeEnded(t.Node, t, false)
		s.NotifyEvicted(t, 1)
	}
	mark := s.View.Mark()
	if placed, ok := l.placeMinimum(j, limits); ok {
		v.Code, v.Blocker = reason.PodsLinger, nil
		for _, t := range tasks {
			if slices.ContainsFunc(placed, func(p framework.Placed) bool { return p.Node == t.Node }) {
				v.Blocker = append(v.Blocker, "pod "+t.Key()+" on node "+s.View.Nodes.Name[t.Node])
			}
		}
		s.UndoPlacements(j, placed, mark)
	}
	for _, t := range tasks {
		s.NotifyEvicted(t, -1)
	}
	l.Close()
	return v
}

// ExplainHeld changes the verdict of a gang that would fit with the resources of lingering pods, or with resources
// held for other gangs. It names these pods or gangs.
func (s *Planner) ExplainHeld(j *framework.Job, v explain.Verdict, limits placement.Limits) explain.Verdict {
	return s.explainLost(j, s.explainLingering(j, v, limits), limits)
}
