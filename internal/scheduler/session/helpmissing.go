package session

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
)

// maxClaims is the greatest number of claims that a hint may list.
const maxClaims = 3

// ownQueue tries the gang in its own queue as if the queue existed and were open.
func (h *helper) ownQueue(kind string) {
	q := h.j.In
	if q.Fault != "" || !h.first(q) {
		return
	}
	known, open := q.Known, q.Open
	q.Known, q.Open = true, true
	restore := h.s.redivide(nil)
	ok := h.starts()
	restore()
	q.Known, q.Open = known, open
	if ok {
		h.addGate(kind, q.Name, "", "")
	}
}

// createClaims tries the gang as if its missing volume claims existed and every node could reach their volumes.
func (h *helper) createClaims() {
	if !h.placeable() || !slices.ContainsFunc(h.v.Tally.Counts, func(c explain.Count) bool { return c.Reason == reason.VolumeUnavailable }) {
		return
	}
	claims := &h.s.Cluster.Attachable.VolumeClaims
	var missing []string
	without := func(shape *model.Shape) *model.Shape {
		var gone []string
		for _, key := range shape.VolumeClaims() {
			if _, exists := claims.Get(key); !exists {
				gone = append(gone, key)
			}
		}
		missing = append(missing, gone...)
		return shape.WithoutVolumeClaims(gone)
	}
	ok := h.as(without)
	slices.Sort(missing)
	names := slices.Compact(missing)
	if !ok || len(names) == 0 || len(names) > maxClaims {
		return
	}
	for i, key := range names {
		names[i] = key[strings.IndexByte(key, '/')+1:]
	}
	h.add(schedulingv1beta1.HelpCreateClaim, strings.Join(names, ","), "", "")
}
