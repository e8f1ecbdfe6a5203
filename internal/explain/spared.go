package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Spared counts pods that are not evicted for a gang, by why.
type Spared struct {
	Code reason.Code
	// Detail says who protects them: a budget, a queue.
	Detail string
	Pods   int
}

// maxSpared bounds the reasons that are told.
const maxSpared = 8

// AddSpared counts pods under a reason.
func AddSpared(list []Spared, code reason.Code, detail string, pods int) []Spared {
	for i := range list {
		if list[i].Code == code && list[i].Detail == detail {
			list[i].Pods += pods
			return list
		}
	}
	return append(list, Spared{code, detail, pods})
}

// SortSpared orders the reasons: most pods first, then by name.
func SortSpared(list []Spared) {
	slices.SortFunc(list, func(a, b Spared) int {
		return cmp.Or(-cmp.Compare(a.Pods, b.Pods), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Detail, b.Detail))
	})
}

// spared lists the reasons for the API, the first ones.
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

// sparedWhy is what of the reasons is worth telling anew: who protects pods. That
// others have the same rank is no news.
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
