package quota

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Scope is one of the conditions that select the pods to which a ResourceQuota applies.
type Scope struct {
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

// AnswerFrom converts a bool to an answer.
func AnswerFrom(yes bool) Answer {
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

// Merge marks the traits that differ between t and o as unknown.
func (t *PodTraits) Merge(o *PodTraits) {
	t.ClassKnown = t.ClassKnown && o.ClassKnown && t.Class == o.Class
	for _, pair := range [][2]*Answer{{&t.Terminating, &o.Terminating}, {&t.BestEffort, &o.BestEffort}, {&t.Crossing, &o.Crossing}} {
		if *pair[0] != *pair[1] {
			*pair[0] = NotKnown
		}
	}
}

// Covers reports whether a quota applies to pods with the given traits. For this, all of its scopes must match.
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

func (s *Scope) coversPodTraits(t *PodTraits) Answer {
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
		return AnswerFrom(s.selectsClass(t.Class))
	}
	return No // other scopes do not match pods
}

// selectsClass reports whether the scope applies to pods of a priority class. NotIn also matches pods without a class.
func (s *Scope) selectsClass(class string) bool {
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
func quotaScopesFrom(q *corev1.ResourceQuota) []Scope {
	var out []Scope
	for _, name := range q.Spec.Scopes {
		out = append(out, Scope{Name: name, Operator: corev1.ScopeSelectorOpExists})
	}
	if q.Spec.ScopeSelector != nil {
		for _, term := range q.Spec.ScopeSelector.MatchExpressions {
			out = append(out, Scope{Name: term.ScopeName, Operator: term.Operator, Values: term.Values})
		}
	}
	return out
}

// DistinguishClasses reports whether a quota covers pods of the PodGroup's class but not pods of another pod's class.
func DistinguishClasses(quotas []Quota, ofGroup, ofPod string) bool {
	for i := range quotas {
		for k := range quotas[i].Scopes {
			s := &quotas[i].Scopes[k]
			if s.Name == corev1.ResourceQuotaScopePriorityClass && s.selectsClass(ofGroup) && !s.selectsClass(ofPod) {
				return true
			}
		}
	}
	return false
}

// HaveClassScope reports whether any of the quotas is scoped by priority class.
func HaveClassScope(quotas []Quota) bool {
	for i := range quotas {
		for _, s := range quotas[i].Scopes {
			if s.Name == corev1.ResourceQuotaScopePriorityClass {
				return true
			}
		}
	}
	return false
}
