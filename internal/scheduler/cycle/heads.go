package cycle

import (
	"slices"

	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/reservation"
)

// UntriedHeads returns the first gangs of each queue that are not tried in this cycle and could get a reservation,
// because later gangs must respect that reservation. It returns as many as MakeReservation would try, because
// MakeReservation may find no start time for the first ones. Gangs that may not be tried at all do not block others.
func (s *Cycle) UntriedHeads() []*framework.Job {
	if !s.UsesReservations() {
		return nil
	}
	first := map[*queue.Queue][]*framework.Job{}
	var order []*queue.Queue
	for _, j := range s.AllWaiting {
		isUntried := j.Parked && !j.IsBehindOthers() && !j.IsAccountBound()
		if !isUntried || !needsNodes(j) || !j.In.AcceptsGangs() {
			continue
		}
		heads, begun := first[j.In]
		at, _ := slices.BinarySearchFunc(heads, j, s.Rules.CompareJobs)
		if at == reservation.MaxHeads || !s.IsPredictable(j) || !s.IsTryable(j) {
			continue
		}
		if s.CouldNeverStart(j) {
			continue
		}
		if !begun {
			order = append(order, j.In)
		}
		heads = slices.Insert(heads, at, j)
		first[j.In] = heads[:min(len(heads), reservation.MaxHeads)]
	}
	var heads []*framework.Job
	for _, q := range order {
		heads = append(heads, first[q]...)
	}
	return heads
}
