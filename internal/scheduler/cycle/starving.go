package cycle

import (
	"time"

	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// StarvingJobs returns the jobs that could not be placed and for which evictions may be tried. These are the jobs of
// this cycle, and parked jobs if queues have changed since or the protection of possible victims has ended.
func (s *Cycle) StarvingJobs() []*framework.Job {
	if s.starvingKnown {
		return s.starving
	}
	s.starvingKnown = true
	for _, j := range s.AllWaiting {
		if j.Parked && !s.mayEvictAgain(j) {
			continue
		}
		j.ReclaimStamp, j.AttackAt = s.ReclaimStamp, time.Time{}
		s.starving = append(s.starving, j)
	}
	return s.starving
}

// mayEvictAgain reports whether evictions may be tried again for a parked job.
func (s *Cycle) mayEvictAgain(j *framework.Job) bool {
	if j.Verdict.Code == "" {
		return false
	}
	haveQueuesChanged := j.ReclaimStamp != s.ReclaimStamp
	hasProtectionEnded := !j.AttackAt.IsZero() && !s.Now.Before(j.AttackAt)
	return haveQueuesChanged || hasProtectionEnded
}

// MarkFirstAttack reports whether this is the first attempt in this cycle to evict pods for a job.
func (s *Cycle) MarkFirstAttack(j *framework.Job) bool {
	if s.attacked[j] {
		return false
	}
	if s.attacked == nil {
		s.attacked = map[*framework.Job]bool{}
	}
	s.attacked[j] = true
	return true
}
