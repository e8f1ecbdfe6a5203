// Package backfill places tasks without resource requests. A queue's share does not limit these tasks, because they
// request nothing, but the queue's limit on the number of pods does, and so does the order of a strict queue. If the
// action is configured, gangs that cannot start get reservations: see reservation.Planner.MakeReservation.
package backfill

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
)

// Action implements the backfill action.
type Action struct{ strict bool }

// Name returns "backfill".
func (Action) Name() string { return "backfill" }

// Reads returns the argument easy, which controls whether a gang that cannot start gets a reservation if run times
// are known. The default is true.
func (Action) Reads() []string { return manual.Reads().Arguments }

// Configured returns a copy of the action with the given arguments applied.
func (Action) Configured(arguments config.Arguments, warn func(string)) cycle.Action {
	return Action{strict: !arguments.Bool("easy", true, warn)}
}

// Easy reports whether gangs that cannot start get reservations.
func (a Action) Easy() bool { return !a.strict }

// Run places the remaining best-effort tasks, gang by gang.
func (Action) Run(s *cycle.Cycle) {
	line := s.NewStrictLine()
	turns := s.NewTurns(s.Ready, func(j *framework.Job) bool {
		return wantsBestEffort(s, j) && (s.MayPassHead(j.In) || !line.IsBehind(j))
	})
	for {
		turn, job, ok := turns.Next()
		if !ok {
			return
		}
		for len(job.Pending) > 0 && s.PlaceGang(job, isBestEffort, placement.Capability) == placement.Kept {
			continue
		}
		turns.ReturnTurn(turn, nil)
	}
}

func isBestEffort(t *model.Task) bool { return t.Shape.BestEffort && t.Status == model.Pending }

// wantsBestEffort reports whether the gang could make progress with its best-effort tasks alone.
func wantsBestEffort(s *cycle.Cycle, j *framework.Job) bool {
	if !j.IsAdmitted() || !s.IsTryable(j) || j.Gang.PendingBestEffort == 0 {
		return false
	}
	n := 0
	for _, t := range j.Pending {
		if isBestEffort(t) {
			n++
		}
	}
	return n > 0 && n >= j.Need()
}
