package cli

import "github.com/vc-batch/vc/internal/account"

// All commands format pods with PodReady, PodStatus and PodRestarts, and events with EventTime and EventCount.
var (
	PodReady    = account.PodReady
	PodStatus   = account.PodStatus
	PodRestarts = account.PodRestarts
	EventTime   = account.EventTime
	EventCount  = account.EventCount
)
