package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Spared counts pods that are not evicted for a gang, by reason.
type Spared struct {
	Code reason.Code
	// Detail names what protects the pods: a disruption budget or a queue.
	Detail string
	Pods   int
}

// maxSpared is the maximum number of reasons in an explanation.
const maxSpared = 8

// AddSpared adds pods to the count of a reason.
func AddSpared(list []Spared, code reason.Code, detail string, pods int) []Spared {
	for i := range list {
		if list[i].Code == code && list[i].Detail == detail {
			list[i].Pods += pods
			return list
		}
	}
	return append(list, Spared{code, detail, pods})
}

// SortSpared sorts the reasons by number of pods in descending order, then by name.
func SortSpared(list []Spared) {
	slices.SortFunc(list, func(a, b Spared) int {
		return cmp.Or(-cmp.Compare(a.Pods, b.Pods), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Detail, b.Detail))
	})
}

// spared converts the first reasons to the API type.
func spared(list []Spared) []schedulingv1beta1.ExplainedSpared {
	var out []schedulingv1beta1.ExplainedSpared
	for i, s := range list {
		if i == maxSpared {
			break
		}
		out = append(out, schedulingv1beta1.ExplainedSpared{Reason: string(s.Code), Detail: s.Detail, Pods: int32(s.Pods)})
	}
	return out
}

// sparedWhy returns the reasons that are part of an explanation's meaning: who protects pods. It ignores reasons such
// as equal priority.
func sparedWhy(list []schedulingv1beta1.ExplainedSpared) string {
	var parts []string
	for _, s := range list {
		switch reason.Code(s.Reason) {
		case reason.NotLower, reason.NoLowerShare, reason.WithinShare, reason.NotEnoughVictims, reason.AtMinimum, reason.ByPolicy:
		default:
			parts = append(parts, s.Reason+" "+s.Detail)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
