package queue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model/resource"
)

// contradictionCache caches the contradictions in a queue's spec, for one generation of the queue.
type contradictionCache struct {
	gen      uint64
	warnings []string
}

// Problem describes what is invalid about a queue, which is either its position in the tree or parts of its spec that
// contradict each other or have no effect. It returns "" if the queue is valid.
func (q *Queue) Problem() (code reason.Code, text string) {
	switch {
	case q.Fault != "":
		return reason.QueueInvalid, q.Fault
	case len(q.Warnings) > 0:
		return reason.QueueContradiction, strings.Join(q.Warnings, "; ")
	}
	return "", ""
}

// cachedWarnings returns the contradictions in a queue's spec. Contradictory limits are not errors, because the
// narrower limit applies.
func (q *Queue) cachedWarnings(resources *resource.Names) []string {
	if !q.Known {
		return nil
	}
	if q.contradictions.gen != q.Gen {
		q.contradictions = contradictionCache{q.Gen, q.findContradictions(resources)}
	}
	return slices.Clip(q.contradictions.warnings)
}

func (q *Queue) findContradictions(resources *resource.Names) []string {
	var found []string
	if q.SaidWeight < 0 { // zero means that the weight is not set
		found = append(found, fmt.Sprintf("weight %d counts as 1", q.SaidWeight))
	}
	limited := slices.Clone(q.HasCapability)
	slices.SortFunc(limited, func(a, b int32) int { return strings.Compare(resources.Name(int(a)), resources.Name(int(b))) })
	for _, index := range slices.Compact(limited) {
		name, limit := resources.Name(int(index)), q.Queue.Capability.Get(int(index))
		for _, own := range []struct {
			what   string
			amount int64
		}{{"guarantee", q.Guarantee.Get(int(index))}, {"deserved", q.Queue.Deserved.Get(int(index))}} {
			if own.amount > limit {
				found = append(found, fmt.Sprintf("%s %s %s exceeds the capability %s; the capability applies",
					own.what, name, formatQuantity(name, own.amount), formatQuantity(name, limit)))
			}
		}
	}
	return append(found, q.findUnenforced(resources)...)
}

// ofDeviceClass is a part of the names of quotas that limit the devices of a device class.
const ofDeviceClass = "deviceclass/"

// findUnenforced returns warnings about quotas that no policy enforces.
func (q *Queue) findUnenforced(resources *resource.Names) []string {
	var found []string
	for _, list := range []struct {
		what    string
		amounts resource.Request
	}{{"capability", q.Queue.Capability}, {"deserved", q.Queue.Deserved}, {"guarantee", q.Guarantee}} {
		indices := make([]int32, 0, len(list.amounts))
		for _, t := range list.amounts {
			indices = append(indices, t.Index)
		}
		if list.what == "capability" { // this includes resources with a capability of zero
			indices = append(indices, q.HasCapability...)
		}
		slices.Sort(indices)
		for _, index := range slices.Compact(indices) {
			if name := resources.Name(int(index)); strings.Contains(name, ofDeviceClass) {
				found = append(found, fmt.Sprintf("%s %s: device class quotas are not enforced", list.what, name))
			}
		}
	}
	return found
}

func formatQuantity(name string, value int64) string {
	q := resource.Quantity(name, value)
	return q.String()
}
