package session

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// addImpossible adds to a verdict every resource for which the gang requests more than a whole capacity, because
// waiting does not help with any of them. It is the capacity that the verdict is about or, if the pods are too
// large for the nodes, the capability of the gang's queues.
func (s *Session) addImpossible(j *framework.Job, v *explain.Verdict) {
	if v.Code == reason.TooLarge && v.Limit != nil && v.Limit.Node {
		// A verdict that is set again already contains the limits of queues.
		ofNodes := slices.DeleteFunc(slices.Clone(v.More), func(l explain.Limit) bool { return !l.Node })
		v.More = append(ofNodes, s.beyondQueues(j)...)
		return
	}
	capacity := s.capacityOf(v)
	if capacity == nil {
		return
	}
	impossible := s.beyondCapacity(j, capacity, explain.Limit{Queue: v.Limit.Queue, Cluster: v.Limit.Cluster})
	if len(impossible) == 0 {
		return
	}
	for i := range impossible {
		if impossible[i].Resource == v.Limit.Resource { // the verdict has more details, but a guarantee may be larger than the cluster
			most := min(impossible[i].Limit, v.Limit.Limit)
			impossible[i] = *v.Limit
			impossible[i].Limit = most
		} else if impossible[i].Cluster {
			impossible[i].Kept = s.reservedForGuarantees(s.queueNamed(v.Limit.Queue), impossible[i].Resource)
		}
	}
	v.Limit, v.More = &impossible[0], impossible[1:]
}

// beyondQueues returns the resources for which a gang requests more than its queue can ever hold. If the queue's
// capability is large enough for all resources, it checks the ancestors, from the nearest on.
func (s *Session) beyondQueues(j *framework.Job) []explain.Limit {
	if len(s.Rules.Allocatable) == 0 { // no policy limits queues
		return nil
	}
	for q := j.In; q != nil; q = q.Parent {
		if limits := s.beyondCapacity(j, q.Capability, explain.Limit{Queue: q.Name}); len(limits) > 0 {
			return limits
		}
	}
	return nil
}

// beyondSmallQueues returns the limits found by beyondQueues that do not exceed the capacity of the cluster.
func (s *Session) beyondSmallQueues(j *framework.Job) []explain.Limit {
	return slices.DeleteFunc(s.beyondQueues(j), func(l explain.Limit) bool {
		index, _ := s.Cluster.Resources.Find(l.Resource)
		return l.Limit > s.Ledger.Total[index]+queue.Epsilon
	})
}

// beyondCapacity returns the resources, by name, for which a gang's minimum requests more than a capacity. Each limit
// is a copy of about, with its resource and amounts. Resources of which the gang's smaller pods request little enough
// come last. They are included only if other resources are beyond the capacity for all pods, because the user must
// then lower both.
func (s *Session) beyondCapacity(j *framework.Job, capacity []float64, about explain.Limit) []explain.Limit {
	var limits, smallerPodsSuffice []explain.Limit
	for i, sum := range s.minimumOf(j) {
		if i == resource.Pods || float64(sum) <= capacity[i]+queue.Epsilon || s.View.IsExcluded(i) {
			continue
		}
		limit := about
		limit.Resource, limit.Asked, limit.Least, limit.Limit = s.Cluster.Resources.Name(i), float64(sum), s.leastRequest(j, i), capacity[i]
		if limit.Least > 0 && limit.Least <= limit.Limit+queue.Epsilon {
			smallerPodsSuffice = append(smallerPodsSuffice, limit)
		} else {
			limits = append(limits, limit)
		}
	}
	if len(limits) == 0 {
		return nil
	}
	byName := func(a, b explain.Limit) int { return strings.Compare(a.Resource, b.Resource) }
	slices.SortFunc(limits, byName)
	slices.SortFunc(smallerPodsSuffice, byName)
	return append(limits, smallerPodsSuffice...)
}

// capacityOf returns, for each resource, the whole capacity of the queue or cluster that a verdict is about; nil if
// the verdict is about something else.
func (s *Session) capacityOf(v *explain.Verdict) []float64 {
	switch {
	case v.Limit == nil, v.Limit.Resource == "":
		return nil
	case v.Limit.Quota != "", v.Limit.Account != "", v.Limit.Node:
		return nil
	}
	q := s.queueNamed(v.Limit.Queue)
	switch v.Code {
	case reason.OverCapability:
		if q != nil {
			return q.Capability
		}
	case reason.GangDoesNotFit, reason.NotEnqueued:
		if v.Limit.Cluster {
			return s.clusterCapacityFor(q)
		}
	}
	return nil
}

// clusterCapacityFor returns, for each resource, how much of the cluster a queue can ever hold, which excludes the
// resources that are guaranteed to other queues. q may be nil.
func (s *Session) clusterCapacityFor(q *queue.Queue) []float64 {
	capacity := slices.Clone(s.Ledger.Total)
	if q == nil || len(s.Rules.Allocatable) == 0 { // no policy limits queues
		return capacity
	}
	for i := range capacity {
		if q.RealCapability[i] < q.Capability[i] {
			capacity[i] = min(capacity[i], q.RealCapability[i])
		}
	}
	return capacity
}

// reservedForGuarantees returns the part of a resource that a queue can never hold because it is guaranteed to other
// queues.
func (s *Session) reservedForGuarantees(q *queue.Queue, resource string) float64 {
	index, known := s.Cluster.Resources.Find(resource)
	if q == nil || !known || len(s.Rules.Allocatable) == 0 {
		return 0
	}
	return max(min(q.Capability[index], s.Ledger.Usable[index])-q.RealCapability[index], 0)
}

// queueNamed returns the queue with the given name; nil if it does not exist.
func (s *Session) queueNamed(name string) *queue.Queue {
	at, found := slices.BinarySearchFunc(s.Ledger.Queues, name, func(q *queue.Queue, name string) int { return strings.Compare(q.Name, name) })
	if !found {
		return nil
	}
	return s.Ledger.Queues[at]
}

// minimumOf returns the total request of the pods that must start together, which are the gang's first pods. If the
// pods do not exist yet, it returns the request that the gang declares.
func (s *Session) minimumOf(j *framework.Job) resource.Vec {
	if len(j.Pending)+len(j.AtGate) >= max(j.Need(), 1) {
		return s.RequestedTogether(j)
	}
	var declared resource.Vec
	declared.Add(j.MinResources)
	return declared
}

// leastRequest returns how much of a resource the gang must request to reach its minimum with its smallest pods; 0 if
// the pods do not exist yet.
func (s *Session) leastRequest(j *framework.Job, index int) float64 {
	waiting := slices.Concat(j.Pending, j.AtGate)
	if len(waiting) < max(j.Need(), 1) {
		return 0
	}
	return LeastRequest(waiting, nil, j.Need(), index)
}
