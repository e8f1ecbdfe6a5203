package controllers

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/apiclient"
)

// The pauses between the cache's attempts to reach an API server that is unavailable. client-go's reflectors increase
// their pauses to 30 to 60 s, so the cache would remain outdated for that long after the server has recovered.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 4 * time.Second
)

// maxServerPause limits the pause that an API server can request.
const maxServerPause = 30 * time.Second

// retrier is shared by the sources of a cache. It counts the sources that are waiting, so that an outage is logged
// only once.
type retrier struct {
	mu      sync.Mutex
	waiting int
	since   time.Time
}

// beginWaiting logs that the API server cannot be reached, unless another source is already waiting.
func (r *retrier) beginWaiting(ctx context.Context, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting++; r.waiting == 1 {
		r.since = time.Now()
		klog.FromContext(ctx).Info("The API server is unreachable; cached data may be outdated", "reason", err.Error())
	}
}

// endWaiting logs that the API server can be reached again, once no source is waiting.
func (r *retrier) endWaiting(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting--; r.waiting == 0 && ctx.Err() == nil {
		klog.FromContext(ctx).Info("The API server is reachable again", "after", time.Since(r.since).Round(time.Millisecond).String())
	}
}

// wrapSource wraps a source of objects. While the API server cannot be reached, the wrapper retries by itself. It
// passes on all other results unchanged.
func (r *retrier) wrapSource(of toolscache.ListerWatcher) *toolscache.ListWatch {
	s := toolscache.ToListerWatcherWithContext(of)
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return retryUntilReached(ctx, r, func() (runtime.Object, error) { return s.ListWithContext(ctx, o) })
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return retryUntilReached(ctx, r, func() (watch.Interface, error) { return s.WatchWithContext(ctx, o) })
		},
	}
}

// retryUntilReached calls ask until the API server responds or ctx is done.
func retryUntilReached[T any](ctx context.Context, r *retrier, ask func() (T, error)) (T, error) {
	answer, err := ask()
	if err == nil || !apiclient.IsUnavailable(err) {
		return answer, err
	}
	r.beginWaiting(ctx, err)
	defer r.endWaiting(ctx)
	pauses := wait.Backoff{Duration: firstPause, Factor: 2, Jitter: 0.25, Steps: 6, Cap: longestPause}
	for {
		pause := pauses.Step()
		if seconds, asked := apierrors.SuggestsClientDelay(err); asked {
			pause = max(pause, min(time.Duration(seconds)*time.Second, maxServerPause))
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return answer, err
		case <-timer.C:
		}
		if answer, err = ask(); err == nil || !apiclient.IsUnavailable(err) {
			return answer, err
		}
	}
}
