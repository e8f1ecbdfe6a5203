package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/model/quota"
	"github.com/vc-batch/vc/internal/model/resource"
)

// PodTraits returns the traits of the task's pod.
func (t *Task) PodTraits() quota.PodTraits {
	s := t.Shape
	hasRequest := s.Request.Get(resource.CPU) != 0 || s.Request.Get(resource.Memory) != 0
	hasLimit := s.LimitMilliCPU != 0 || s.LimitMemoryBytes != 0
	idle := !hasRequest && !hasLimit
	return quota.PodTraits{Class: t.PriorityClass, ClassKnown: true, Terminating: quota.AnswerFrom(t.Expected.Limit > 0), BestEffort: quota.AnswerFrom(idle), Crossing: quota.AnswerFrom(s.crossesNamespaces())}
}

// crossesNamespaces reports whether the shape has an affinity to pods in other namespaces.
func (s *Shape) crossesNamespaces() bool {
	beyond := func(term *corev1.PodAffinityTerm) bool {
		return len(term.Namespaces) > 0 || term.NamespaceSelector != nil
	}
	some := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) bool {
		return slices.ContainsFunc(required, func(t corev1.PodAffinityTerm) bool { return beyond(&t) }) ||
			slices.ContainsFunc(preferred, func(t corev1.WeightedPodAffinityTerm) bool { return beyond(&t.PodAffinityTerm) })
	}
	if near := s.PodAffinity; near != nil && some(near.RequiredDuringSchedulingIgnoredDuringExecution, near.PreferredDuringSchedulingIgnoredDuringExecution) {
		return true
	}
	far := s.PodAntiAffinity
	return far != nil && some(far.RequiredDuringSchedulingIgnoredDuringExecution, far.PreferredDuringSchedulingIgnoredDuringExecution)
}

// ExpectedTraits returns the traits that a gang's pods will have. If the gang already has pods, these are the traits
// that all of the pods have in common; otherwise they are derived from the PodGroup.
func (g *Gang) ExpectedTraits() quota.PodTraits {
	var traits quota.PodTraits
	some := false
	for _, t := range g.Tasks {
		if t.Status.HasEnded() {
			continue
		}
		if of := t.PodTraits(); !some {
			traits, some = of, true
		} else {
			traits.Merge(&of)
		}
	}
	if some {
		return traits
	}
	traits = quota.PodTraits{Class: g.PriorityClass, ClassKnown: g.PriorityClass != ""} // if unset, tasks may name their own
	if g.HasMinResources {
		asks := g.MinResources.Get(resource.CPU) > 0 || g.MinResources.Get(resource.Memory) > 0
		for _, a := range g.QuotaResources {
			base, _ := quota.PodResource(a.Name)
			if base == corev1.ResourceCPU || base == corev1.ResourceMemory {
				asks = asks || a.Value > 0
			}
		}
		traits.BestEffort = quota.AnswerFrom(!asks)
	}
	return traits
}
