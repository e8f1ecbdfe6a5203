package cli

import "github.com/vc-batch/vc/internal/jobstatus"

// All commands format pods with PodReady, PodStatus and PodRestarts, and events with EventTime and EventCount.
var (
	PodReady    = jobstatus.PodReady
	PodStatus   = jobstatus.PodStatus
	PodRestarts = jobstatus.PodRestarts
	EventTime   = jobstatus.EventTime
	EventCount  = jobstatus.EventCount
)
