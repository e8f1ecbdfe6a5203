package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// QuotaScope is one of the conditions that select the pods to which a ResourceQuota applies.
type QuotaScope struct {
	Name     corev1.ResourceQuotaScope
	Operator corev1.ScopeSelectorOperator
	Values   []string
}

// Answer is yes, no or unknown.
type Answer int8

// The possible answers, in the order that Covers relies on.
const (
	No       Answer = -1
	NotKnown Answer = 0
	Yes      Answer = 1
)

// answerFromBool converts a bool to an answer.
func answerFromBool(yes bool) Answer {
	if yes {
		return Yes
	}
	return No
}

// PodTraits holds the known properties of a pod that quota scopes check.
type PodTraits struct {
	// Class is the pod's priority class; "" if unset. ClassKnown is false if the class is unknown.
	Class      string
	ClassKnown bool
	// Terminating pods have a limit on their run time. Best-effort pods have no requests or limits for cpu and
	// memory. Crossing pods have an affinity to pods in other namespaces.
	Terminating, BestEffort, Crossing Answer
}

// PodTraits returns the traits of an existing pod.
func (t *Task) PodTraits() PodTraits {
	s := t.Shape
	hasRequest := s.Request.Get(CPU) != 0 || s.Request.Get(Memory) != 0
	hasLimit := s.LimitMilliCPU != 0 || s.LimitMemoryBytes != 0
	idle := !hasRequest && !hasLimit
	return PodTraits{Class: t.PriorityClass, ClassKnown: true, Terminating: answerFromBool(t.Expected.Limit > 0), BestEffort: answerFromBool(idle), Crossing: answerFromBool(s.crossesNamespaces())}
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
	near, far := s.PodAffinity, s.PodAntiAffinity
	return near != nil && some(near.RequiredDuringSchedulingIgnoredDuringExecution, near.PreferredDuringSchedulingIgnoredDuringExecution) ||
		far != nil && some(far.RequiredDuringSchedulingIgnoredDuringExecution, far.PreferredDuringSchedulingIgnoredDuringExecution)
}

// ExpectedTraits returns the traits that a gang's pods will have. If the gang already has pods, these are the traits
// that all of them share; otherwise they are derived from the PodGroup.
func (g *Gang) ExpectedTraits() PodTraits {
	var traits PodTraits
	some := false
	for _, t := range g.Tasks {
		if t.Status.HasEnded() {
			continue
		}
		if of := t.PodTraits(); !some {
			traits, some = of, true
		} else {
			traits.mergeTraits(&of)
		}
	}
	if some {
		return traits
	}
	traits = PodTraits{Class: g.PriorityClass, ClassKnown: g.PriorityClass != ""} // without a class on the PodGroup, its tasks may name their own
	if g.HasMinResources {
		asks := g.MinResources.Get(CPU) > 0 || g.MinResources.Get(Memory) > 0
		for _, a := range g.QuotaResources {
			base, _ := quotaResource(a.Name)
			if base == corev1.ResourceCPU || base == corev1.ResourceMemory {
				asks = asks || a.Value > 0
			}
		}
		traits.BestEffort = answerFromBool(!asks)
	}
	return traits
}

// mergeTraits marks the traits that differ between t and o as unknown.
func (t *PodTraits) mergeTraits(o *PodTraits) {
	t.ClassKnown = t.ClassKnown && o.ClassKnown && t.Class == o.Class
	for _, pair := range [][2]*Answer{{&t.Terminating, &o.Terminating}, {&t.BestEffort, &o.BestEffort}, {&t.Crossing, &o.Crossing}} {
		if *pair[0] != *pair[1] {
			*pair[0] = NotKnown
		}
	}
}

// Covers reports whether a quota applies to pods with the given traits: all of its scopes must match.
func (q *Quota) Covers(t *PodTraits) Answer {
	all := Yes
	for i := range q.Scopes {
		all = min(all, q.Scopes[i].coversPodTraits(t))
		if all == No {
			return No
		}
	}
	return all
}

func (s *QuotaScope) coversPodTraits(t *PodTraits) Answer {
	switch s.Name {
	case corev1.ResourceQuotaScopeTerminating:
		return t.Terminating
	case corev1.ResourceQuotaScopeNotTerminating:
		return -t.Terminating
	case corev1.ResourceQuotaScopeBestEffort:
		return t.BestEffort
	case corev1.ResourceQuotaScopeNotBestEffort:
		return -t.BestEffort
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return t.Crossing
	case corev1.ResourceQuotaScopePriorityClass:
		if !t.ClassKnown {
			return NotKnown
		}
		return answerFromBool(s.selectsClass(t.Class))
	}
	return No // other scopes do not match pods
}

// selectsClass reports whether the scope applies to pods of a priority class. NotIn also matches pods without a class.
func (s *QuotaScope) selectsClass(class string) bool {
	switch s.Operator {
	case corev1.ScopeSelectorOpExists:
		return class != ""
	case corev1.ScopeSelectorOpDoesNotExist:
		return class == ""
	case corev1.ScopeSelectorOpIn:
		return class != "" && slices.Contains(s.Values, class)
	case corev1.ScopeSelectorOpNotIn:
		return class == "" || !slices.Contains(s.Values, class)
	}
	return false
}

// quotaScopesFrom returns the scopes of a ResourceQuota.
func quotaScopesFrom(q *corev1.ResourceQuota) []QuotaScope {
	var out []QuotaScope
	for _, name := range q.Spec.Scopes {
		out = append(out, QuotaScope{Name: name, Operator: corev1.ScopeSelectorOpExists})
	}
	if q.Spec.ScopeSelector != nil {
		for _, term := range q.Spec.ScopeSelector.MatchExpressions {
			out = append(out, QuotaScope{Name: term.ScopeName, Operator: term.Operator, Values: term.Values})
		}
	}
	return out
}
