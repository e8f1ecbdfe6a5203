package cli

import "github.com/vc-batch/vc/internal/jobstatus"

// Functions with which all commands format pods and events.
var (
	PodReady    = jobstatus.PodReady
	PodStatus   = jobstatus.PodStatus
	PodRestarts = jobstatus.PodRestarts
	EventTime   = jobstatus.EventTime
	EventCount  = jobstatus.EventCount
)
