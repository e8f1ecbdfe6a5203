package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Spared counts the pods that are not evicted for a gang for one reason.
type Spared struct {
	Code reason.Code
	// Detail names what protects the pods, such as a disruption budget or a queue.
	Detail string
	Pods   int
	// Between is true if the pods are not in the gang's own queue.
	Between bool
}

// maxSpared is the maximum number of such reasons in an explanation.
const maxSpared = 8

// AddSpared adds pods to the count for a reason and returns the list.
func AddSpared(list []Spared, code reason.Code, detail string, pods int) []Spared {
	for i := range list {
		if list[i].Code == code && list[i].Detail == detail {
			list[i].Pods += pods
			return list
		}
	}
	return append(list, Spared{Code: code, Detail: detail, Pods: pods})
}

// SortSpared sorts the reasons by number of pods, in descending order, and then by name.
func SortSpared(list []Spared) {
	slices.SortFunc(list, func(a, b Spared) int {
		return cmp.Or(-cmp.Compare(a.Pods, b.Pods), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Detail, b.Detail))
	})
}

// ReplaceSpared returns the list in which the reasons found by an action replace the reasons that an earlier action
// found for the same pods. between selects whether these pods are in other queues or in the gang's own queue. As a
// result, each pod is counted only once.
func ReplaceSpared(list, found []Spared, between bool) []Spared {
	kept := slices.DeleteFunc(slices.Clone(list), func(s Spared) bool { return s.Between == between })
	for _, s := range found {
		s.Between = between
		kept = append(kept, s)
	}
	SortSpared(kept)
	return kept
}

// sparedToAPI converts the most frequent reasons to the API type. It adds up the pods of all queues.
func sparedToAPI(list []Spared) []schedulingv1beta1.ExplainedSpared {
	var sums []Spared
	for _, s := range list {
		sums = AddSpared(sums, s.Code, s.Detail, s.Pods)
	}
	SortSpared(sums)
	var out []schedulingv1beta1.ExplainedSpared
	for i, s := range sums {
		if i == maxSpared {
			break
		}
		out = append(out, schedulingv1beta1.ExplainedSpared{Reason: string(s.Code), Detail: s.Detail, Pods: int32(s.Pods)})
	}
	return out
}

// sparedReasons returns the reasons that are part of an explanation's meaning, because they name what protects pods.
// It ignores reasons such as equal priority.
func sparedReasons(list []schedulingv1beta1.ExplainedSpared) string {
	var parts []string
	for _, s := range list {
		if !reason.Get(reason.Code(s.Reason)).Has(reason.Routine) {
			parts = append(parts, s.Reason+" "+s.Detail)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
