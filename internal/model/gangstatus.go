package model

import (
	"slices"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// isSameGangStatus reports whether two statuses have the same phase, counts, conditions and explanation. It ignores times, IDs
// and the conditions of other programs, and compares only the reason and message of conditions and explanations.
func isSameGangStatus(x, y *schedulingv1beta1.PodGroupStatus) bool {
	if x.Phase != y.Phase || !HasSameCounts(x, y) {
		return false
	}
	return slices.EqualFunc(ownConditions(x), ownConditions(y), isSameGangCondition) && isSameExplanation(x.Explanation, y.Explanation)
}

// HasSameCounts reports whether two statuses of a PodGroup have the same numbers of pods.
func HasSameCounts(x, y *schedulingv1beta1.PodGroupStatus) bool {
	return x.Running == y.Running && x.Succeeded == y.Succeeded && x.Failed == y.Failed
}

// ownConditions returns the conditions that the scheduler writes.
func ownConditions(s *schedulingv1beta1.PodGroupStatus) []schedulingv1beta1.PodGroupCondition {
	isOwn := func(c schedulingv1beta1.PodGroupCondition) bool {
		return c.Type == schedulingv1beta1.PodGroupScheduledType || c.Type == schedulingv1beta1.PodGroupUnschedulableType
	}
	if !slices.ContainsFunc(s.Conditions, func(c schedulingv1beta1.PodGroupCondition) bool { return !isOwn(c) }) {
		return s.Conditions // the usual case
	}
	var own []schedulingv1beta1.PodGroupCondition
	for _, c := range s.Conditions {
		if isOwn(c) {
			own = append(own, c)
		}
	}
	return own
}

// isSameGangCondition reports whether two conditions have the same type, status, reason and message.
func isSameGangCondition(x, y schedulingv1beta1.PodGroupCondition) bool {
	return x.Type == y.Type && x.Status == y.Status && x.Reason == y.Reason && x.Message == y.Message
}

// isSameExplanation reports whether two explanations, which may be nil, have the same reason and message.
func isSameExplanation(x, y *schedulingv1beta1.Explanation) bool {
	if x == nil || y == nil {
		return x == y
	}
	return x.Reason == y.Reason && x.Message == y.Message
}
