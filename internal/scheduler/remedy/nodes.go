package remedy

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/podshape"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/fit"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// maxJudged limits the number of shapes for which the reasons why nodes cannot take the gang's pods are counted.
const maxJudged = 8

// countRejections counts the reasons why nodes cannot take the gang's pods: first for the pod of the verdict, then for
// one pod of each other shape.
func (f *finder) countRejections() []explain.Count {
	counts := f.v.Tally.Counts
	var judged []*model.Shape
	if f.v.Task != nil && f.v.HyperNode == "" && len(counts) > 0 {
		judged = append(judged, f.v.Task.Shape)
	}
	for _, t := range f.j.Pending {
		if len(judged) == maxJudged {
			break
		}
		if slices.Contains(judged, t.Shape) {
			continue
		}
		judged = append(judged, t.Shape)
		f.s.Looked++
		counts = append(slices.Clip(counts), f.s.JudgeNodes(f.j, t).Tally.Counts...)
	}
	return counts
}

// tryOtherNodes tries to remove one label from the node selector, or to tolerate one taint.
func (f *finder) tryOtherNodes() {
	if !f.hasPodsToTry() || f.othersWaitForGuarantees() {
		return
	}
	var taints, labels []string
	for _, c := range f.countRejections() {
		switch c.Reason {
		case reason.UntoleratedTaint:
			taints = append(taints, c.Detail)
		case reason.NodeSelectorMismatch:
			labels = append(labels, strings.Split(c.Detail, ",")...)
		}
	}
	slices.Sort(labels)
	for _, pair := range slices.Compact(labels) {
		key, value, _ := strings.Cut(pair, "=")
		if f.startsWithoutSelector(key) {
			f.addHint(schedulingv1beta1.HelpDropSelector, key, value, "")
		}
	}
	slices.Sort(taints)
	for _, taint := range slices.Compact(taints) {
		if f.startsTolerating(taint) {
			f.addHint(schedulingv1beta1.HelpAddToleration, taint, "", "")
		}
	}
}

// startsWithoutSelector reports whether the gang would start if its pods' selectors had no term for a label.
func (f *finder) startsWithoutSelector(label string) bool {
	return f.startsWithChange(func(spec *podshape.Spec, r resource.Request) resource.Request {
		spec.NodeSelector = maps.Clone(spec.NodeSelector)
		delete(spec.NodeSelector, label)
		return r
	})
}

// startsTolerating reports whether the gang would start if its pods tolerated a taint. In that case, the nodes with
// the taint are also divided among the queues, so the queues may deserve more.
func (f *finder) startsTolerating(taint string) bool {
	change := addToleration(taint)
	var tolerant []*model.Shape
	for _, shape := range f.j.PendingShapes() {
		if v, ok := shape.ChangedCopy(change); ok {
			tolerant = append(tolerant, v)
		}
	}
	usable := slices.Clone(f.s.Ledger.Usable)
	defer f.s.DivideAgain(tolerant)()
	sharesMayGrow := !slices.Equal(usable, f.s.Ledger.Usable)
	if sharesMayGrow && slices.ContainsFunc(f.s.AllWaiting, f.waitsForLimits) {
		return false
	}
	return f.startsWithChange(change)
}

// waitsForLimits reports whether another gang is waiting because of its queue's limits. If shares grow, such a gang
// may get nodes before this gang does.
func (f *finder) waitsForLimits(o *framework.Job) bool {
	if !f.competesForNodes(o) {
		return false
	}
	queueIsOpen, limit := o.In.AcceptsGangs(), o.Verdict.Limit
	return queueIsOpen && limit != nil && !limit.Node
}

// addToleration returns a change that adds a toleration for a taint, written as key=value:effect, to pods that do not
// tolerate it.
func addToleration(text string) func(*podshape.Spec, resource.Request) resource.Request {
	label, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(label, "=")
	taint := corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
	tainted := &model.NodeInfo{Taints: []corev1.Taint{taint}}
	return func(spec *podshape.Spec, r resource.Request) resource.Request {
		if !fit.ToleratesNode(&model.Shape{Spec: *spec}, tainted) {
			spec.Tolerations = append(slices.Clone(spec.Tolerations), corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: taint.Effect})
		}
		return r
	}
}

// othersWaitForGuarantees reports whether another gang is waiting for resources that are reserved for guarantees. If
// this gang could use other nodes, the amount of these resources and the nodes that provide them would change, so the
// other gang might start first and take the nodes.
func (f *finder) othersWaitForGuarantees() bool {
	return slices.ContainsFunc(f.s.AllWaiting, func(other *framework.Job) bool {
		if other == nil || other == f.j || !other.WaitsToStart() {
			return false
		}
		limit := other.Verdict.Limit
		return limit != nil && limit.Kept > 0
	})
}
