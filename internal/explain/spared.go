package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
)

// Spared counts pods that are not evicted for a gang, by why.
type Spared struct {
	Code reason.Code
	// Detail says who protects them: a budget, a queue.
	Detail string
	Pods   int
}

// maxSpared bounds the reasons that are told.
const maxSpared = 4

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

// Untouched says why nobody is evicted, "" when nobody was looked at.
func Untouched(list []Spared) string {
	var parts []string
	for i, s := range list {
		if i == maxSpared {
			parts = append(parts, "…")
			break
		}
		part := string(s.Code)
		if s.Pods > 0 {
			part = fmt.Sprintf("%d %s", s.Pods, part)
		}
		if s.Detail != "" {
			part += " (" + s.Detail + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return "nobody is evicted for it: " + strings.Join(parts, ", ")
}

// evictions is what a sentence ends with about evictions: why none is made, and
// that the gang was evicted itself.
func evictions(v *Verdict) string {
	text := ""
	if s := Untouched(v.Spared); s != "" {
		text += "; " + s
	}
	if v.EvictedBy != "" {
		text += "; it was evicted: " + v.EvictedBy
	}
	return text
}
