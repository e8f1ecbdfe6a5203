// Package fit decides whether a task of a given shape can run on a node and, if it cannot, why.
//
//	In:   model.Shape, a node of the overlay
//	Out:  "" or the reason.Code of the first filter that rejects the node; a Tally counts the codes over all nodes
//
// # Invariants
//
//   - Filters run in a fixed order: cordon, affinity, taints (static), then pod count, ports, amounts.
//   - Every live node either fits or is counted once in the Tally, under the first filter that rejected it.
package fit

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
)

// Filters holds the switches of the predicates policy. Resource requests are always checked.
type Filters struct {
	Cordon   bool // spec.unschedulable
	Affinity bool // node selector and required node affinity
	Taints   bool
	Ports    bool
	PodRules bool // pod affinity and anti-affinity
	Spread   bool // topology spread
	// Closed and Proportions are rules from other policies. They apply to all tasks.
	Closed      []*Closing
	Proportions []*Proportion
}

const unschedulableTaint = "node.kubernetes.io/unschedulable"

// CheckStatic evaluates the filters that do not depend on the pods on the node. detail explains the rejection to users.
func (f *Filters) CheckStatic(s *model.Shape, info *model.NodeInfo) (code reason.Code, detail string) {
	if s.MalformedAffinity != "" {
		return reason.NodeAffinityMismatch, s.MalformedAffinity
	}
	if f.Cordon && info.Unschedulable && !toleratesTaint(s, &corev1.Taint{Key: unschedulableTaint, Effect: corev1.TaintEffectNoSchedule}) {
		return reason.NodeUnschedulable, ""
	}
	if f.Affinity && s.Required != nil {
		if ok, err := s.Required.Match(info.Node); err != nil || !ok {
			return affinityReason(s, info)
		}
	}
	if f.Taints {
		for i := range info.Taints {
			taint := &info.Taints[i]
			if taint.Effect != corev1.TaintEffectPreferNoSchedule && !toleratesTaint(s, taint) {
				return taintReason(taint)
			}
		}
	}
	return "", ""
}

func affinityReason(s *model.Shape, info *model.NodeInfo) (reason.Code, string) {
	var missing []string
	for k, v := range s.NodeSelector {
		if info.Labels[k] != v {
			missing = append(missing, k+"="+v)
		}
	}
	if len(missing) == 0 {
		return reason.NodeAffinityMismatch, ""
	}
	slices.Sort(missing)
	return reason.NodeSelectorMismatch, strings.Join(missing, ",")
}

func taintReason(taint *corev1.Taint) (reason.Code, string) {
	if taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable {
		return reason.NodeNotReady, ""
	}
	return reason.UntoleratedTaint, taint.ToString()
}

func toleratesTaint(s *model.Shape, taint *corev1.Taint) bool {
	for i := range s.Tolerations {
		if tolerationMatches(&s.Tolerations[i], taint) {
			return true
		}
	}
	return false
}

// ToleratesNode reports whether the shape tolerates all taints of a node that have effect NoSchedule or NoExecute.
func ToleratesNode(s *model.Shape, info *model.NodeInfo) bool {
	for i := range info.Taints {
		if taint := &info.Taints[i]; taint.Effect != corev1.TaintEffectPreferNoSchedule && !toleratesTaint(s, taint) {
			return false
		}
	}
	return true
}

// tolerationMatches is equivalent to Toleration.ToleratesTaint, but needs no logger. Comparison operators are disabled,
// which is the Kubernetes default.
func tolerationMatches(t *corev1.Toleration, taint *corev1.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect {
		return false
	}
	if t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case "", corev1.TolerationOpEqual:
		return t.Value == taint.Value
	case corev1.TolerationOpExists:
		return true
	}
	return false
}

// CountUntolerated returns the number of PreferNoSchedule taints of the node that the shape does not tolerate.
func CountUntolerated(s *model.Shape, info *model.NodeInfo) int {
	n := 0
	for i := range info.Taints {
		if info.Taints[i].Effect == corev1.TaintEffectPreferNoSchedule && !toleratesTaint(s, &info.Taints[i]) {
			n++
		}
	}
	return n
}

// FitsNow reports whether the node currently has enough free resources and the required free ports.
func (f *Filters) FitsNow(o *overlay.Overlay, id model.NodeID, s *model.Shape) bool {
	if len(f.Closed)+len(f.Proportions) > 0 && f.isExcluded(o, id, s, false) {
		return false
	}
	return o.FitsNow(id, s.Request) && f.hasFreePorts(o, id, s, false)
}

// FitsLater is like FitsNow, but counts resources and ports that are being released as free.
func (f *Filters) FitsLater(o *overlay.Overlay, id model.NodeID, s *model.Shape) bool {
	if len(f.Closed)+len(f.Proportions) > 0 && f.isExcluded(o, id, s, true) {
		return false
	}
	return o.FitsLater(id, s.Request) && f.hasFreePorts(o, id, s, true)
}

// hasFreePorts reports whether the shape's ports are free on the node. It returns true if ports are not checked.
func (f *Filters) hasFreePorts(o *overlay.Overlay, id model.NodeID, s *model.Shape, later bool) bool {
	return len(s.Ports) == 0 || !f.Ports || o.HasFreePorts(id, s.Ports, later)
}

// CheckDynamic returns the code of the dynamic filter that rejects a node. If the node lacks a resource, it also
// returns the resource and the missing amount.
func (f *Filters) CheckDynamic(o *overlay.Overlay, id model.NodeID, s *model.Shape) (code reason.Code, index int, short int64) {
	base := int(id) * o.Nodes.Stride
	free := func(i int) int64 { return min(o.Idle[base+i], o.Future[base+i]) }
	if s.Request.Get(resource.Pods) > free(resource.Pods) {
		return reason.TooManyPods, resource.Pods, 0
	}
	if f.Ports && len(s.Ports) > 0 && !o.HasFreePorts(id, s.Ports, false) {
		return reason.PortInUse, 0, 0
	}
	for _, t := range s.Request {
		if missing := t.Value - free(int(t.Index)); missing > 0 {
			if t.Value > o.Nodes.Alloc[base+int(t.Index)] {
				return reason.TooLarge, int(t.Index), missing
			}
			return reason.InsufficientResource, int(t.Index), missing
		}
	}
	return "", 0, 0
}
