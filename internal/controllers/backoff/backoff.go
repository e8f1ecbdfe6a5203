// Package backoff says how long the controllers wait before they try again what failed: all alike, and never so long that people would think them asleep
// when the cause has gone.
package backoff

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The time before the first new try, which doubles with each that fails, up to Longest: the API server may have come back ever since.
const (
	first   = 5 * time.Millisecond
	Longest = 8 * time.Second
)

// Options are those of a controller that looks at so many objects at once; 0 means 1. Each controller needs its own: they count failures.
func Options(reconcilers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: reconcilers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](first, Longest),
	}
}
