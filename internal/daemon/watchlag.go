package daemon

import (
	"context"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/feed"
	"github.com/vc-batch/vc/internal/outbox"
)

var watchLag = schedulerMetrics.NewHistogram("vc_watch_lag_seconds",
	"Time from the API server's answer to a bind until the scheduler's watch of pods shows it, which is how far the scheduler's view is behind; 0 if the watch was faster than the answer.", requestBuckets)

// currentFeed is the feed of the current term of leadership, or nil.
var currentFeed atomic.Pointer[feed.Feed]

func init() {
	schedulerMetrics.NewGaugeFunc("vc_watch_last_event_timestamp_seconds",
		"Time when the scheduler's watch of a kind last received an event or a bookmark, in seconds since 1970. The API server sends a bookmark about once a minute. It has no series in a process that does not lead.", "kind",
		readLastEvents)
}

// readLastEvents returns the time of the last event of each watch of the current feed.
func readLastEvents() map[string]float64 {
	in := currentFeed.Load()
	if in == nil {
		return nil
	}
	times := map[string]float64{}
	for kind, at := range in.LastEvents() {
		times[kind] = unixSeconds(at)
	}
	return times
}

func observeWatchLag(lag time.Duration) { watchLag.Observe(lag.Seconds()) }

// measuredAPI is the API of the outbox. It reports binds to the feed, which measures when they
// arrive.
type measuredAPI struct {
	outbox.API
	feed *feed.Feed
}

// Bind implements outbox.API.
func (m measuredAPI) Bind(ctx context.Context, b *corev1.Binding) error {
	m.feed.BeginBind(b.UID)
	err := m.API.Bind(ctx, b)
	m.feed.EndBind(b.UID, err == nil)
	return err
}
