package reservation

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
)

// A running gang that loses pods is broken until new pods replace them. Until the new pods exist, but only for a
// limited time, the resources of the lost pods are held for recovery.

// isBroken reports whether a gang is running with fewer pods than its minimum. It returns false if the gang is
// complete again or is no longer running.
func isBroken(j *framework.Job) bool {
	return j.IsAdmitted() && !j.IsSatisfied() && j.AllocatedTasks() > 0
}

// HoldForRecovery holds the resources of lost pods. Call it before anything is placed.
func (s *Planner) HoldForRecovery() {
	if !s.Rules.Gang || s.Rules.KeepLost <= 0 {
		return
	}
	for _, g := range s.Cluster.GangsWithLosses() {
		j := s.Job(g)
		if j == nil || !isBroken(j) {
			continue
		}
		if s.isStranded(j) {
			continue // the resources do not help the gang
		}
		k := &keeping{job: j, in: s.Ledger.Of(g.Queue)}
		s.addLostRoom(k, g)
		if len(k.room) > 0 {
			s.keeps = append(s.keeps, k)
			s.holdLost(k)
		}
	}
}

// addLostRoom adds the resources of a gang's lost pods, if their nodes still exist and their holding time is not
// over.
func (s *Planner) addLostRoom(k *keeping, g *model.Gang) {
	for _, lost := range g.Lost {
		since := lost.Since
		if since.IsZero() {
			since = s.Now
		}
		until := since.Add(s.Rules.KeepLost)
		node, known := s.View.Nodes.Find(lost.Node)
		if !known || s.View.Rank[node] < 0 || !s.Now.Before(until) {
			continue
		}
		s.WakeAt(until)
		k.room = append(k.room, framework.Placed{Task: lost.Task, Node: node})
		if k.until.IsZero() || until.Before(k.until) {
			k.until = until
		}
	}
}

// isStranded reports whether the HyperNodes around the remaining pods of a gang, or of a sub-group that lacks pods,
// have changed so that these pods are spread wider than allowed. No pod can then join them.
func (s *Planner) isStranded(j *framework.Job) bool {
	if _, v := s.PermittedTiers(j.Topology, s.NodesOf(j, nil), nil); v.Code != "" {
		return true
	}
	return slices.ContainsFunc(j.Groups(), func(g *framework.Group) bool {
		if len(g.Tasks) <= g.Held {
			return false
		}
		_, v := s.PermittedTiers(g.Policy.Topology, s.NodesOf(j, g), nil)
		return v.Code != ""
	})
}

// holdLost holds as much as the gang lacks, as long as the resources are still free.
func (s *Planner) holdLost(k *keeping) {
	lacks := k.job.Need() - len(k.job.Promised)
	for _, p := range k.room {
		if len(k.held) >= lacks {
			return
		}
		if !s.View.FitsLater(p.Node, p.Task.Shape.Request) { // in use by another pod
			continue
		}
		s.View.PromiseReleasing(p.Node, p.Task)
		k.in.AddReserved(p.Task.Shape.Request, 1)
		k.held = append(k.held, p)
	}
}

func (s *Planner) releaseLost(k *keeping) {
	for _, p := range k.held {
		s.View.WithdrawPromise(p.Node, p.Task)
		k.in.AddReserved(p.Task.Shape.Request, -1)
	}
	k.held = k.held[:0]
}

// UseHeldResources releases the resources that are held for a gang, so that the gang can use them, until the returned
// function is called.
func (s *Planner) UseHeldResources(j *framework.Job) (done func()) {
	i := slices.IndexFunc(s.keeps, func(k *keeping) bool { return k.job == j && len(k.held) > 0 })
	if i < 0 {
		return func() {}
	}
	k := s.keeps[i]
	held := len(k.held)
	s.releaseLost(k)
	return func() {
		if s.holdLost(k); len(k.held) < held {
			s.MarkEased(k.in)
		}
	}
}

// MayUseHeld reports whether resources are held for a job with pods to place. To the job, these resources do not
// appear free.
func (s *Planner) MayUseHeld(j *framework.Job) bool {
	if len(s.keeps) == 0 || len(j.Pending) == 0 {
		return false
	}
	return slices.ContainsFunc(s.keeps, func(k *keeping) bool { return len(k.held) > 0 && k.job == j })
}

// MayFreeHeld reports whether a gang for which resources are held is tried in this cycle. The resources that the gang
// does not need then become free for others.
func (s *Planner) MayFreeHeld() bool {
	return slices.ContainsFunc(s.keeps, func(k *keeping) bool { return len(k.held) > 0 && !k.job.Parked })
}

// AppendHeldEndings appends the times when held resources become free for all gangs.
func (s *Planner) AppendHeldEndings(list []Ending) []Ending {
	for _, k := range s.keeps {
		for _, p := range k.held {
			list = append(list, Ending{At: k.until, Task: p.Task, Node: p.Node, Queue: k.in, Promised: true})
		}
	}
	return list
}

// explainLost changes the verdict of a gang that would fit with resources held for other gangs. It names these gangs.
func (s *Planner) explainLost(j *framework.Job, v explain.Verdict, limits placement.Limits) explain.Verdict {
	if v.Code != reason.GangDoesNotFit && v.Code != reason.OverDeserved && v.Code != reason.OverCapability {
		return v
	}
	var opened []*keeping
	for _, k := range s.keeps {
		if len(k.held) > 0 && k.job != j {
			opened = append(opened, k)
		}
	}
	if len(opened) == 0 {
		return v
	}
	for _, k := range opened {
		s.releaseLost(k)
	}
	mark := s.View.Mark()
	placed, _, fits := s.TryMinimum(j, limits, nil)
	if fits {
		s.UndoPlacements(j, placed, mark)
	}
	for _, k := range opened {
		s.holdLost(k)
		if fits {
			v.Code, v.Limit = reason.KeptForLost, nil
			v.Blocker = append(v.Blocker, k.job.Title())
			if v.Until.IsZero() || k.until.After(v.Until) {
				v.Until = k.until
			}
		}
	}
	return v
}
