package scheduler

import (
	"time"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// advise adds what would help, where it was tried.
func (e *Engine) advise(_ *session.Session, _ *session.Job, _ *schedulingv1beta1.Explanation, _ int) time.Time {
	return time.Time{}
}
