// Package backoff says how long the controllers wait before they try again what failed: all alike, and never so long that people would think them asleep
// when the cause has gone.
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
	// first is the time before the first new try, which doubles with each that fails.
	first = 5 * time.Millisecond
	// Longest is up to how long, where nobody answered, or not well: the API server may have come back ever since.
	Longest = 8 * time.Second
	// LongestRefused is up to how long where the API server has understood and refused, a quota say: asking more often only keeps it busy.
	LongestRefused = 30 * time.Second
)

// LongestAfter is how long the wait after an error can become.
func LongestAfter(err error) time.Duration {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return LongestRefused
	}
	return Longest
}

// Control gives the options of a controller that looks at so many objects at once, 0 meaning 1, and its reconciler, whose errors they know.
func Control(reconcilers int, r reconcile.Reconciler) (controller.Options, reconcile.Reconciler) {
	l := newLimiter()
	return controller.Options{MaxConcurrentReconciles: reconcilers, RateLimiter: l}, observed{Reconciler: r, limiter: l}
}

// limiter waits ever longer with each failure in a row, as long as the last error lets it.
type limiter struct {
	workqueue.TypedRateLimiter[reconcile.Request]
	mu      sync.Mutex
	longest map[reconcile.Request]time.Duration // of those that have failed
}

func newLimiter() *limiter {
	return &limiter{TypedRateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](first, LongestRefused),
		longest: map[reconcile.Request]time.Duration{}}
}

// failed takes note of an error. Another kind of trouble begins anew: an outage says nothing of how long a refusal will last.
func (l *limiter) failed(r reconcile.Request, err error) {
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

// observed tells the limiter of errors.
type observed struct {
	reconcile.Reconciler
	limiter *limiter
}

func (o observed) Reconcile(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	result, err := o.Reconciler.Reconcile(ctx, r)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		log.FromContext(ctx).V(1).Info("The namespace is being deleted; nothing is created in it", "reason", err.Error())
		return reconcile.Result{RequeueAfter: Longest}, nil
	}
	if err != nil {
		o.limiter.failed(r, err)
	}
	return result, err
}
