package cycle

import (
	"github.com/vc-batch/vc/internal/scheduler/placement"
	"github.com/vc-batch/vc/internal/scheduler/reservation"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// New starts a cycle in a session.
func New(s *session.Session) *Cycle {
	c := &Cycle{Planner: &reservation.Planner{Placer: placement.New(s)}}
	c.Constraints, c.Waiting = c, c
	s.Lapsed = c.lapsedIn
	return c
}
