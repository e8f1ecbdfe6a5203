package model

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model/podshape"
)

// taskPlacementsFrom parses the constraints on the nodes of each task's pods. It returns nil if the text is empty or
// invalid. Tasks that may run anywhere are omitted.
func taskPlacementsFrom(text string) map[string]podshape.Spec {
	if text == "" {
		return nil
	}
	var specs map[string]corev1.PodSpec
	if json.Unmarshal([]byte(text), &specs) != nil {
		return nil
	}
	out := make(map[string]podshape.Spec, len(specs))
	for task := range specs {
		spec := specs[task]
		placement := podshape.Spec{NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations}
		if spec.Affinity != nil {
			placement.NodeAffinity = spec.Affinity.NodeAffinity
		}
		out[task] = placement
	}
	return out
}

// setPlacements replaces the node constraints of a gang's tasks.
func (c *Cluster) setPlacements(g *Gang, specs map[string]podshape.Spec) {
	c.countPlacements(g, false)
	old := g.placements
	g.placements = nil
	if specs != nil {
		g.placements = map[string]*Shape{"": c.ensureShape(podshape.Spec{})}
		for _, task := range slices.Sorted(maps.Keys(specs)) {
			g.placements[task] = c.ensureShape(specs[task])
		}
	}
	for _, shape := range g.placements {
		shape.tasks++
	}
	for _, shape := range old {
		c.releaseShape(shape)
	}
}

// PlacementShape returns a shape that has the node constraints of a task but no request; nil if the constraints are
// unknown. It is available before the pods exist.
func (g *Gang) PlacementShape(task string) *Shape {
	if shape, constrained := g.placements[task]; constrained {
		return shape
	}
	return g.placements[""]
}

// isAwaitingPods reports whether a gang has no pods yet but will get some.
func (g *Gang) isAwaitingPods() bool {
	switch g.Status.Phase {
	case "", schedulingv1beta1.PodGroupPending, schedulingv1beta1.PodGroupInqueue:
		return g.Known && len(g.Tasks) == 0
	}
	return false
}

// UndescribedGangs returns the number of pending gangs that have no pods yet and whose future pods are not described
// by a job. Such pods may run on any node.
func (c *Cluster) UndescribedGangs() int { return c.undescribed }

// countUndescribed starts or stops counting a gang as undescribed.
func (c *Cluster) countUndescribed(g *Gang) {
	pending := g.Status.Phase == "" || g.Status.Phase == schedulingv1beta1.PodGroupPending
	now := pending && g.isAwaitingPods() && g.placements == nil
	switch {
	case now && !g.undescribed:
		c.undescribed++
	case !now && g.undescribed:
		c.undescribed--
	}
	g.undescribed = now
}

// countPlacements starts or stops counting a gang's placements as shapes of pods in queues.
func (c *Cluster) countPlacements(g *Gang, counts bool) {
	if g.placesCounted == counts {
		return
	}
	g.placesCounted = counts
	sign := 1
	if !counts {
		sign = -1
	}
	for _, shape := range g.placements {
		shape.inQueues += sign
	}
}
