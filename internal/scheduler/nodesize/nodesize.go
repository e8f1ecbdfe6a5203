// Package nodesize compares pods with the sizes of the nodes. A pod that is larger than every node that it may use
// can never run, no matter which other pods end.
//
//	In:   the cluster, an overlay, a judge of node rules
//	Out:  whether a shape is too large, and the resources that no node has enough of
//
// # Invariants
//
//   - The results do not depend on running pods, only on the nodes' allocatable resources and rules.
package nodesize

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Sizes caches the results of comparisons for one cycle. Nodes do not change within a cycle.
type Sizes struct {
	cluster *model.Cluster
	view    *overlay.Overlay
	judge   *equivalence.Judge

	byShape     map[*model.Shape]size
	largest     []int64                  // result of LargestAmounts; nil if not computed yet
	byPlacement map[*model.Shape][]int64 // results of LargestPermitted
}

// size is the result for one shape.
type size struct {
	tooLarge bool
	limits   []explain.Limit
}

// New returns an empty cache for a cycle.
func New(cluster *model.Cluster, view *overlay.Overlay, judge *equivalence.Judge) *Sizes {
	return &Sizes{
		cluster: cluster, view: view, judge: judge,
		byShape: map[*model.Shape]size{}, byPlacement: map[*model.Shape][]int64{},
	}
}

// IsTooLarge reports whether a shape is larger than every node that its selector, affinity and tolerations permit, even
// if these were empty. If no node is permitted, the shape is not too large. limits lists the resources, by name, that
// no node has enough of; it is empty if no node has enough of all at once.
func (s *Sizes) IsTooLarge(shape *model.Shape) (tooLarge bool, limits []explain.Limit) {
	known, isCached := s.byShape[shape]
	if !isCached {
		if !s.judge.FitsEmptyNode(shape) {
			known = s.measureShape(shape)
		}
		s.byShape[shape] = known
	}
	return known.tooLarge, known.limits
}

// measureShape compares a shape that fits no empty node with the nodes that it may use.
func (s *Sizes) measureShape(shape *model.Shape) size {
	most, permitted := s.maximumAmounts(func(id model.NodeID) bool { return s.judge.IsAllowed(shape, id) })
	if !permitted {
		return size{}
	}
	return size{tooLarge: true, limits: s.ExceededLimits(shape.Request, 1, most)}
}

// ExceededLimits returns the resources, by name, for which each of several equal pods requests more than the maximum
// in most. request is the sum of the requests of all these pods.
func (s *Sizes) ExceededLimits(request resource.Request, pods int, most []int64) []explain.Limit {
	var limits []explain.Limit
	for _, t := range request {
		if s.view.IsExcluded(int(t.Index)) {
			continue
		}
		name, has := s.cluster.Resources.Name(int(t.Index)), float64(most[t.Index])
		if each := float64(t.Value) / float64(pods); each > has+queue.Epsilon {
			limits = append(limits, explain.Limit{Resource: name, Asked: each, Limit: has, Node: true})
		}
	}
	slices.SortFunc(limits, func(a, b explain.Limit) int { return strings.Compare(a.Resource, b.Resource) })
	return limits
}

// LargestAmounts returns the maximum of each resource over all nodes.
func (s *Sizes) LargestAmounts() []int64 {
	if s.largest == nil {
		s.largest, _ = s.maximumAmounts(func(model.NodeID) bool { return true })
	}
	return s.largest
}

// LargestPermitted returns the maximum of each resource over the nodes that a placement permits. If the placement is
// unknown or permits no node, it covers all nodes, because a pod without permitted nodes is not too large.
func (s *Sizes) LargestPermitted(placement *model.Shape) []int64 {
	if placement == nil {
		return s.LargestAmounts()
	}
	if known, isCached := s.byPlacement[placement]; isCached {
		return known
	}
	most, permitted := s.maximumAmounts(func(id model.NodeID) bool { return s.judge.IsAllowed(placement, id) })
	if !permitted {
		most = s.LargestAmounts()
	}
	s.byPlacement[placement] = most
	return most
}

// maximumAmounts returns the maximum of each resource over the nodes that permits accepts, and whether it accepts any.
func (s *Sizes) maximumAmounts(permits func(model.NodeID) bool) (most []int64, permitted bool) {
	nodes := &s.cluster.Nodes
	most = make([]int64, nodes.Stride)
	for _, id := range s.view.Order {
		if !permits(id) {
			continue
		}
		permitted = true
		for i, v := range nodes.Row(nodes.Alloc, id) {
			most[i] = max(most[i], v)
		}
	}
	return most, permitted
}
