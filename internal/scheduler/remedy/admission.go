package remedy

import (
	"slices"
	"strconv"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/reservation"
)

// waitsForAdmission reports whether the gang is waiting for admission with a request that can be divided evenly among
// the pods of its minimum. Only then is it known what fewer or smaller pods would request.
func (f *finder) waitsForAdmission() bool {
	j := f.j
	switch {
	case len(j.AtGate) > 0: // the requests of these pods are known, and may differ
		return false
	case j.IsAdmitted(), j.AllocatedTasks() > 0:
		return false
	case !j.HasMinResources, j.MinMember < 1:
		return false
	case j.IsStructured(), len(j.MinTaskMember) > 1, len(j.PendingShapes()) > 1: // the pods are not equal
		return false
	}
	for _, t := range j.MinResources {
		if t.Value%int64(j.MinMember) != 0 {
			return false
		}
	}
	return j.In.AcceptsGangs()
}

// These constants are the stages of the search for nodes for a gang whose pods do not exist yet. They exist because
// admission does not help a gang that then finds no node. Until its pods exist, the scheduler can only assume that
// each of them requests an equal part of the minimum request. This many pods must fit on the nodes in their current
// state or, if no change achieves that, on empty nodes.
const (
	nowhere = iota // do not check the nodes
	onNodes
	onEmptyNodes
)

// equalPartsFit reports whether members pods that request equal parts of a request would fit on the nodes. It ignores
// selectors and tolerations, which are not known yet.
func (f *finder) equalPartsFit(request resource.Request, members int) bool {
	if f.house == nowhere {
		return true
	}
	each := append(slices.Clone(request), resource.Term{Index: resource.Pods, Value: int64(members)})
	for i := range each {
		each[i].Value /= int64(members)
	}
	each = slices.DeleteFunc(each, func(a resource.Term) bool { return f.s.View.IsExcluded(int(a.Index)) })
	nodes, left := &f.s.Cluster.Nodes, members
	f.s.Looked++ // one division per node is cheaper than a simulated placement
	for _, id := range f.s.View.Order {
		idle, future := f.s.View.Nodes.Row(f.s.View.Idle, id), f.s.View.Nodes.Row(f.s.View.Future, id)
		if f.house == onEmptyNodes {
			idle, future = nodes.Row(nodes.Alloc, id), nodes.Row(nodes.Alloc, id)
		}
		if nodes.Info[id].Unschedulable {
			continue
		}
		if left -= int(reservation.SlotsIn(each, idle, future)); left <= 0 {
			return true
		}
	}
	return false
}

// findGreatestPlaced returns the result of find, which searches for the greatest value that admits the gang. For a gang
// without pods, it calls find with the requirement that the pods fit on the nodes in their current state, and if that
// finds nothing, on empty nodes. For a gang with pods, find places the pods itself.
func (f *finder) findGreatestPlaced(find func() int64) int64 {
	defer func() { f.house = nowhere }()
	if len(f.j.Pending) > 0 {
		return find()
	}
	for _, f.house = range []int{onNodes, onEmptyNodes} {
		if most := find(); most > 0 {
			return most
		}
	}
	return 0
}

// startsWithMinimum reports whether the gang would be admitted with another minimum and, if its pods exist, would
// start. members is the number of pods, and each returns the request of one pod for a resource, given its current
// request.
func (f *finder) startsWithMinimum(members int, each func(index int, value int64) int64) bool {
	j := f.j
	minimum, request := j.MinMember, j.MinResources
	changed := slices.Clone(request)
	for i := range changed {
		changed[i].Value = each(int(changed[i].Index), request[i].Value/int64(minimum)) * int64(members)
	}
	j.MinMember, j.MinResources = members, changed
	j.ForgetMinimum()
	ok := f.wouldStart() && f.equalPartsFit(changed, members)
	j.MinMember, j.MinResources = minimum, request
	j.ForgetMinimum()
	return ok
}

func unchangedAmount(_ int, value int64) int64 { return value }

// tryFewerBeforeAdmission finds the greatest minimum with which the gang would be admitted.
func (f *finder) tryFewerBeforeAdmission() {
	if !f.waitsForAdmission() {
		return
	}
	low := f.findGreatestPlaced(func() int64 {
		return int64(bisectGreatest(0, f.j.MinMember, func(n int) bool { return f.startsWithMinimum(n, unchangedAmount) }))
	})
	if low > 0 {
		f.addAdmissionHint(schedulingv1beta1.HelpFewerMembers, "", strconv.Itoa(f.j.MinMember), strconv.FormatInt(low, 10))
		f.out[len(f.out)-1].WithMinResources = f.j.Gang.Job == ""
	}
}

// trySmallerBeforeAdmission finds the greatest request per pod for the resource of the blocking limit with which the
// gang would be admitted.
func (f *finder) trySmallerBeforeAdmission() {
	if !f.waitsForAdmission() || f.v.Limit == nil || len(f.j.Pending) > 0 {
		return
	}
	resources := f.s.Cluster.Resources
	index, ok := resources.Find(f.v.Limit.Resource)
	asked := f.j.MinResources.Get(index) / int64(f.j.MinMember)
	if !ok || index == resource.Pods || asked < 2 {
		return
	}
	with := func(to int64) bool {
		return f.startsWithMinimum(f.j.MinMember, func(i int, value int64) int64 {
			if i == index {
				return to
			}
			return value
		})
	}
	to := f.findGreatestPlaced(func() int64 {
		low, high := int64(0), asked
		for low+1 < high {
			if middle := low + (high-low)/2; with(middle) {
				low = middle
			} else {
				high = middle
			}
		}
		if to := explain.RoundForUser(index, low); to > 0 && with(to) {
			return to
		}
		return 0
	})
	if to > 0 {
		name := resources.Name(index)
		f.addAdmissionHint(schedulingv1beta1.HelpSmallerPods, name, explain.FormatAmount(name, asked), explain.FormatAmount(name, to))
	}
}

// addAdmissionHint adds a hint about a change with which the gang would be admitted. If the gang has no pods, it is
// not known whether it would also start.
func (f *finder) addAdmissionHint(kind, subject, from, to string) {
	f.out = append(f.out, explain.Help{Kind: kind, Subject: subject, From: from, To: to, Gate: len(f.j.Pending) == 0})
}
