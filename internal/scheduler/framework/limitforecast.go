package framework

import (
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

// LimitForecast simulates the limits of GangLimits as time passes in a forecast. It does not change the state of the cycle,
// so nothing must be rolled back.
type LimitForecast interface {
	// Permits reports whether the limits permit a gang to start pods with the given total request, in addition to the
	// resources that the gang holds.
	Permits(j *Job, request resource.Request) bool
	// CountStarted counts a gang that starts in the forecast, with the tasks that it starts.
	CountStarted(j *Job, tasks []*model.Task, at time.Time)
	// CountEnded counts a task that releases its resources. isDone is true if the task has ended. It is false if the task was
	// evicted: such a task does not count as a finished task of its gang.
	CountEnded(t *model.Task, at time.Time, isDone bool)
	// NextRenewal returns the first time after the last call of Renew at which the limits permit more even if no task ends, for
	// example because a budget starts a new period. It is zero if there is no such time.
	NextRenewal() time.Time
	// Renew starts the new period of each budget whose period begins at or before a given time. The times of calls do not
	// decrease.
	Renew(at time.Time)
}
