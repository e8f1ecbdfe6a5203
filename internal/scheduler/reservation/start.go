package reservation

import "time"

// Texts of forecasts.
const (
	byLimits        = "from the time limits of the running jobs and the jobs ahead of this job"
	noLimits        = "unknown: the jobs that must end first have no time limit"
	someLimits      = "unknown: not all jobs that must end first have a time limit"
	aboveShare      = "unknown: the job requests more than the current share of its queue"
	notComputed     = "unknown: not computed yet"
	switchedOff     = "unknown: forecasts require action backfill with the argument easy"
	tooFar          = "unknown: too many jobs are ahead of this job"
	neverStarts     = "never: the job cannot start with its current request"
	besidePods      = "from the time limits of the running jobs and the jobs ahead of this job; no resources are reserved for this job, because its placement depends on other pods"
	attaches        = "unknown: the job's volumes or devices are allocated only when the job starts"
	notPlaceable    = "unknown: "
	byAccountLimits = "from the limits of the job's account, user or QOS, and the time limits of the running jobs and the jobs ahead of this job"
	// limitStays and budgetStays are appended to the reason of a gang if no forecast finds a time at which the limits of
	// its account permit it.
	limitStays  = ", and not all jobs that must end first have a time limit"
	budgetStays = ", and no later period of the budget is known"
	// noFit is for a gang without pods: the limits of its account permit it, but no known end of a job frees enough resources.
	noFit = "unknown: even after all known ends of jobs, the job's pods do not fit on the nodes"
	// behindUnknown is for gangs of a strict queue that are behind a gang without a forecast.
	behindUnknown = "unknown: the job's queue is strict, and the start of a job ahead of this job is unknown"
)

// Hopeless is the forecast of a gang that can never start.
var Hopeless = Forecast{Why: neverStarts}

// Unforeseen is the forecast of a gang without known run times.
var Unforeseen = Forecast{Why: noLimits}

// Unlooked is the forecast of every gang if limits are known but the configuration disables forecasts.
var Unlooked = Forecast{Why: switchedOff}

// Forecast is the estimated start of a gang.
type Forecast struct {
	At    time.Time
	Known bool
	// Certain is true if the gang starts by then, provided that running tasks end at their limits and no new gangs
	// arrive.
	Certain bool
	// Why describes the basis of the estimate, or why it is unknown.
	Why string
}
