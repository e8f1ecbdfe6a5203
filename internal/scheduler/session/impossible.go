package session

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// addImpossible adds to a verdict about a queue's capability, or about the cluster's, every resource of which the gang
// requests more than the whole capacity. Waiting does not help with any of them.
func (s *Session) addImpossible(j *Job, v *explain.Verdict) {
	capacity := s.capacityOf(v)
	if capacity == nil {
		return
	}
	var impossible []explain.Limit
	for i, sum := range s.minimumOf(j) {
		if i == model.Pods || float64(sum) <= capacity[i]+queue.Epsilon || s.View.Left(i) {
			continue
		}
		limit := explain.Limit{
			Queue: v.Limit.Queue, Cluster: v.Limit.Cluster, Resource: s.Cluster.Resources.Name(i),
			Asked: float64(sum), Least: s.leastRequest(j, i), Limit: capacity[i],
		}
		switch {
		case limit.Resource == v.Limit.Resource: // its verdict knows more about it
			limit = *v.Limit
		case limit.Least > 0 && limit.Least <= limit.Limit+queue.Epsilon: // smaller pods of the gang suffice
			continue
		}
		impossible = append(impossible, limit)
	}
	if len(impossible) == 0 {
		return
	}
	slices.SortFunc(impossible, func(a, b explain.Limit) int { return strings.Compare(a.Resource, b.Resource) })
	v.Limit, v.More = &impossible[0], impossible[1:]
}

// capacityOf returns the whole capacity that a verdict is about, by resource: of a queue or of the cluster; nil if the
// verdict is about something else.
func (s *Session) capacityOf(v *explain.Verdict) []float64 {
	if v.Limit == nil || v.Limit.Quota != "" || v.Limit.Node || v.Limit.Resource == "" {
		return nil
	}
	q := s.queueNamed(v.Limit.Queue)
	switch v.Code {
	case reason.OverCapability:
		if q != nil {
			return q.Capability
		}
	case reason.GangDoesNotFit, reason.NotEnqueued:
		if v.Limit.Cluster && v.Limit.Kept == 0 {
			return s.Ledger.Total
		}
	}
	return nil
}

// queueNamed returns a queue by name, or nil if it does not exist.
func (s *Session) queueNamed(name string) *queue.Queue {
	at, found := slices.BinarySearchFunc(s.Ledger.Queues, name, func(q *queue.Queue, name string) int { return strings.Compare(q.Name, name) })
	if !found {
		return nil
	}
	return s.Ledger.Queues[at]
}

// minimumOf returns the total request of the pods that must start together: of its first pods, or what the gang declares
// if its pods do not exist yet.
func (s *Session) minimumOf(j *Job) model.Vec {
	if len(j.Pending)+len(j.AtGate) >= max(j.Need(), 1) {
		return s.firstAsked(j)
	}
	var declared model.Vec
	declared.Add(j.MinResources)
	return declared
}

// leastRequest returns what the smallest pods that bring the gang to its minimum request of a resource; 0 if the pods
// do not exist yet.
func (s *Session) leastRequest(j *Job, index int) float64 {
	waiting := slices.Concat(j.Pending, j.AtGate)
	if len(waiting) < max(j.Need(), 1) {
		return 0
	}
	return least(waiting, nil, j.Need(), index)
}
