package session

import (
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// desertion is how long room is reserved in a queue for a gang that was let in and of which no pod exists: longer than
// any controller takes to make them, unless it was stopped.
const desertion = 5 * time.Minute

// Deserted says whether a gang that was let in has had no pod for so long that nobody waits for it any more. It stays
// let in: pods that come later take what room there is.
func (s *Session) Deserted(j *Job) bool {
	told := j.Status.Explanation
	if told == nil || told.Reason != string(reason.NotEnoughPods) || told.Since == nil {
		return false
	}
	for status, n := range j.Count {
		if status := model.Status(status); n > 0 && !status.Ended() && !status.Leaving() {
			return false
		}
	}
	at := told.Since.Add(desertion)
	if s.Now.Before(at) {
		s.WakeAt(at)
		return false
	}
	return true
}
