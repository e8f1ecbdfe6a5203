// Package backoff defines how long controllers wait before they retry after an error. All controllers use the same
// delays, which are short enough for the controllers to recover soon after the cause is gone.
package backoff

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// first is the delay before the first retry. It doubles with each failure.
	first = 5 * time.Millisecond
	// Longest is the maximum delay if the API server could not be reached or had an internal problem. It is short
	// because the server may have recovered in the meantime.
	Longest = 8 * time.Second
	// LongestRefused is the maximum delay if the API server rejected the request, for example because of a quota.
	// More frequent retries would only increase its load.
	LongestRefused = 30 * time.Second
)

// LongestAfter returns the maximum delay after an error.
func LongestAfter(err error) time.Duration {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return LongestRefused
	}
	return Longest
}

// ControllerOptions returns the options for a controller with the given number of parallel reconciles (0 means 1), and
// a wrapped reconciler that passes its errors to the rate limiter in these options.
func ControllerOptions(reconcilers int, r reconcile.Reconciler) (controller.Options, reconcile.Reconciler) {
	l := newLimiter()
	return controller.Options{MaxConcurrentReconciles: reconcilers, RateLimiter: l}, observed{Reconciler: r, limiter: l}
}

// limiter doubles the delay with each consecutive failure, up to the maximum for the last error.
type limiter struct {
	workqueue.TypedRateLimiter[reconcile.Request]
	mu      sync.Mutex
	longest map[reconcile.Request]time.Duration // maximum delay for each request that failed
}

func newLimiter() *limiter {
	return &limiter{TypedRateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](first, LongestRefused),
		longest: map[reconcile.Request]time.Duration{}}
}

// recordFailure stores the maximum delay for an error. If it differs from the maximum delay for the previous error, the
// delay starts again at the minimum, because the length of an outage has no relation to the length of a rejection.
func (l *limiter) recordFailure(r reconcile.Request, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	longest := LongestAfter(err)
	if was, before := l.longest[r]; before && was != longest {
		l.TypedRateLimiter.Forget(r)
	}
	l.longest[r] = longest
}

func (l *limiter) When(r reconcile.Request) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	longest, failed := l.longest[r]
	if !failed {
		longest = Longest
	}
	return min(l.TypedRateLimiter.When(r), longest)
}

func (l *limiter) Forget(r reconcile.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.longest, r)
	l.TypedRateLimiter.Forget(r)
}

// observed is a reconciler that passes its errors to the limiter.
type observed struct {
	reconcile.Reconciler
	limiter *limiter
}

func (o observed) Reconcile(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	result, err := o.Reconciler.Reconcile(ctx, r)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		log.FromContext(ctx).V(1).Info("The namespace is being deleted, so no objects are created in it", "reason", err.Error())
		return reconcile.Result{RequeueAfter: Longest}, nil
	}
	if err != nil {
		o.limiter.recordFailure(r, err)
	}
	return result, err
}
