package model

import (
	"slices"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// isSameGangStatus reports whether two statuses of a PodGroup say the same. It ignores times, because the API server keeps
// only their seconds.
func isSameGangStatus(x, y *schedulingv1beta1.PodGroupStatus) bool {
	if x.Phase != y.Phase || x.Running != y.Running || x.Succeeded != y.Succeeded || x.Failed != y.Failed {
		return false
	}
	return slices.EqualFunc(x.Conditions, y.Conditions, isSameGangCondition) && isSameExplanation(x.Explanation, y.Explanation)
}

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
