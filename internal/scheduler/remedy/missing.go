package remedy

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

// tryOwnQueue tries the gang in its own queue as if the queue existed and were open.
func (f *finder) tryOwnQueue(kind string) {
	q := f.j.In
	if q.Fault != "" || !f.isFirstToUse(q) {
		return
	}
	known, open := q.Known, q.Open
	q.Known, q.Open = true, true
	restore := f.s.DivideAgain(nil)
	ok := f.wouldStart()
	restore()
	q.Known, q.Open = known, open
	if ok {
		f.addAdmissionHint(kind, q.Name, "", "")
	}
}

// tryMissingClaims tries the gang as if its missing volume claims existed and every node had access to their volumes.
func (f *finder) tryMissingClaims() {
	if !f.hasPodsToTry() || !slices.ContainsFunc(f.v.Tally.Counts, func(c explain.Count) bool { return c.Reason == reason.VolumeUnavailable }) {
		return
	}
	claims := &f.s.Cluster.Attachable.VolumeClaims
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
	ok := f.startsWithShapes(without)
	slices.Sort(missing)
	names := slices.Compact(missing)
	if !ok || len(names) == 0 || len(names) > maxClaims {
		return
	}
	for i, key := range names {
		names[i] = key[strings.IndexByte(key, '/')+1:]
	}
	f.addHint(schedulingv1beta1.HelpCreateClaim, strings.Join(names, ","), "", "")
}
