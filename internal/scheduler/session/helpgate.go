package session

import (
	"slices"
	"strconv"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
)

// outside says whether the gang waits outside its queue, and asks for the same for
// each of its minimum: then what fewer or smaller pods would ask for is known.
func (h *helper) outside() bool {
	j := h.j
	if len(j.AtGate) > 0 { // what they ask for is known, and is not its part of the minimum
		return false
	}
	if j.LetIn() || !j.HasMinResources || j.MinMember < 1 || j.AllocatedTasks() > 0 || j.Structured() || len(j.MinTaskMember) > 1 || len(j.Shapes()) > 1 {
		return false
	}
	for _, t := range j.MinResources {
		if t.Value%int64(j.MinMember) != 0 {
			return false
		}
	}
	return j.In.Known && j.In.Open
}

// A gang that is let in and then finds no node is no better off than before. Its pods
// do not exist yet, so that all one knows is that each asks for its part of the minimum;
// as many of those must find room, first on the nodes as they are, and if no change does
// that, on nodes that are empty.
const (
	nowhere = iota // whether there is room is not asked
	onNodes
	onEmptyNodes
)

// housed says whether the nodes have room for members parts of a request, whatever the
// pods' selectors and tolerations will be.
func (h *helper) housed(request model.Request, members int) bool {
	if h.house == nowhere {
		return true
	}
	each := append(slices.Clone(request), model.Term{Index: model.Pods, Value: int64(members)})
	for i := range each {
		each[i].Value /= int64(members)
	}
	each = slices.DeleteFunc(each, func(a model.Term) bool { return h.s.View.Left(int(a.Index)) })
	nodes, left := &h.s.Cluster.Nodes, members
	h.s.Looked++ // a division a node, not a trial
	for _, id := range h.s.View.Order {
		idle, future := h.s.View.Nodes.Row(h.s.View.Idle, id), h.s.View.Nodes.Row(h.s.View.Future, id)
		if h.house == onEmptyNodes {
			idle, future = nodes.Row(nodes.Alloc, id), nodes.Row(nodes.Alloc, id)
		}
		if nodes.Info[id].Unschedulable {
			continue
		}
		if left -= int(slotsIn(each, idle, future)); left <= 0 {
			return true
		}
	}
	return false
}

// mostHoused is what find finds with room for the pods on the nodes as they are, or else on empty ones. Of a gang that
// has pods, whether they find a node is known.
func (h *helper) mostHoused(find func() int64) int64 {
	defer func() { h.house = nowhere }()
	if len(h.j.Pending) > 0 {
		return find()
	}
	for _, h.house = range []int{onNodes, onEmptyNodes} {
		if most := find(); most > 0 {
			return most
		}
	}
	return 0
}

// asking says whether the gang would be let in, and would start if its pods exist,
// with another minimum.
func (h *helper) asking(members int, each func(index int, value int64) int64) bool {
	j := h.j
	minimum, request := j.Gang.MinMember, j.Gang.MinResources
	changed := slices.Clone(request)
	for i := range changed {
		changed[i].Value = each(int(changed[i].Index), request[i].Value/int64(minimum)) * int64(members)
	}
	j.Gang.MinMember, j.Gang.MinResources, j.minimumGen = members, changed, 0
	ok := h.starts() && h.housed(changed, members)
	j.Gang.MinMember, j.Gang.MinResources, j.minimumGen = minimum, request, 0
	return ok
}

func same(_ int, value int64) int64 { return value }

// fewerOutside finds the greatest minimum with which the gang would be let in.
func (h *helper) fewerOutside() {
	if !h.outside() {
		return
	}
	low := h.mostHoused(func() int64 {
		return int64(greatest(0, h.j.MinMember, func(n int) bool { return h.asking(n, same) }))
	})
	if low > 0 {
		h.addGate(schedulingv1beta1.HelpFewerMembers, "", strconv.Itoa(h.j.MinMember), strconv.FormatInt(low, 10))
		h.out[len(h.out)-1].WithMinResources = h.j.Gang.Job == ""
	}
}

// smallerOutside finds the most of what is short that each pod may ask for.
func (h *helper) smallerOutside() {
	if !h.outside() || h.v.Limit == nil || len(h.j.Pending) > 0 {
		return
	}
	resources := h.s.Cluster.Resources
	index, ok := resources.Find(h.v.Limit.Resource)
	asked := h.j.MinResources.Get(index) / int64(h.j.MinMember)
	if !ok || index == model.Pods || asked < 2 {
		return
	}
	with := func(to int64) bool {
		return h.asking(h.j.MinMember, func(i int, value int64) int64 {
			if i == index {
				return to
			}
			return value
		})
	}
	to := h.mostHoused(func() int64 {
		low, high := int64(0), asked
		for low+1 < high {
			if middle := low + (high-low)/2; with(middle) {
				low = middle
			} else {
				high = middle
			}
		}
		if to := explain.Round(index, low); to > 0 && with(to) {
			return to
		}
		return 0
	})
	if to > 0 {
		name := resources.Name(index)
		h.addGate(schedulingv1beta1.HelpSmallerPods, name, explain.Amount(name, asked), explain.Amount(name, to))
	}
}

// addGate adds a help with which a gang is let in; without pods nobody knows more.
func (h *helper) addGate(kind, subject, from, to string) {
	h.out = append(h.out, explain.Help{Kind: kind, Subject: subject, From: from, To: to, Gate: len(h.j.Pending) == 0})
}
