package model

import "time"

// A late request, for example one of a former leader, may replace a status that was decided here. Therefore, a status is
// written again if the watch still shows another one some time after it was decided. A rewrite that changes nothing in the
// API server, because its CRD does not know a field, causes no event and thus no further rewrite.
const (
	// firstRewriteDelay is how long the watch has to show a new status.
	firstRewriteDelay = 10 * time.Second
	// mostDoublings limits the delay between rewrites to 5 min 20 s, in case another program always writes its own status.
	mostDoublings = 5
)

// rewriteDelay returns how long after a decision the status is written again if the watch shows another one. rewrites is the
// number of earlier rewrites of the same status.
func rewriteDelay(rewrites int) time.Duration {
	return firstRewriteDelay << min(rewrites, mostDoublings)
}
