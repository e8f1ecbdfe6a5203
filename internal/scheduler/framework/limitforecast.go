package framework

import (
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

// LimitForecast follows the limits of GangLimits while time passes in a forecast. It changes no state of the cycle, so it
// needs no undo.
type LimitForecast interface {
	// Permits reports whether the limits permit that a gang starts with a request in addition to what it holds.
	Permits(j *Job, request resource.Request) bool
	// CountStarted counts a gang that starts in the forecast, with the tasks that it starts.
	CountStarted(j *Job, tasks []*model.Task, at time.Time)
	// CountEnded counts a task that releases its resources. isDone is true if the task has ended, and false if it was
	// evicted, so that its gang does not get closer to its end.
	CountEnded(t *model.Task, at time.Time, isDone bool)
	// NextRenewal returns the first time after a given one at which limits permit more although no task ends. It is zero
	// if there is no such time.
	NextRenewal(after time.Time) time.Time
	// Renew renews the limits whose renewal is due at a time.
	Renew(at time.Time)
}
