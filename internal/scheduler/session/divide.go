package session

import "github.com/vc-batch/vc/internal/model"

// DivideAgain divides the cluster among queues again, because a simulation changed what queues request or may have.
// Pods of the additional shapes count as waiting in queues. The caller changes the queues before it calls
// DivideAgain, and must restore these changes itself.
func (s *Session) DivideAgain(more []*model.Shape) (undo func()) {
	restore := s.Ledger.SaveShares()
	s.Ledger.ClearShares()
	for _, d := range s.Rules.Divisions {
		d.Divide(more)
	}
	return restore
}
