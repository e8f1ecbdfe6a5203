package cli

import "github.com/vc-batch/vc/internal/account"

// PodReady, PodStatus and PodRestarts are how pods are told about everywhere; EventTime and EventCount, events.
var (
	PodReady    = account.PodReady
	PodStatus   = account.PodStatus
	PodRestarts = account.PodRestarts
	EventTime   = account.EventTime
	EventCount  = account.EventCount
)
