package controllers

import (
	"context"
	"errors"
	"net"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// The pauses between tries of a cache to reach an API server that is away. Reflectors of client-go come to pauses of 30 to 60 s, and what the controllers
// know would be as old as that when it is back.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 4 * time.Second
)

// newInformer makes the informers of the controllers' cache.
func newInformer(source toolscache.ListerWatcher, sample runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	return toolscache.NewSharedIndexInformer(patient(source), sample, resync, indexers)
}

// patient is a source that waits by itself while the API server cannot be reached, and tells of everything else as it is.
func patient(source toolscache.ListerWatcher) *toolscache.ListWatch {
	s := toolscache.ToListerWatcherWithContext(source)
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return untilReached(ctx, func() (runtime.Object, error) { return s.ListWithContext(ctx, o) })
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return untilReached(ctx, func() (watch.Interface, error) { return s.WatchWithContext(ctx, o) })
		},
	}
}

// untilReached asks until somebody answers, or ctx ends.
func untilReached[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	pause := wait.Backoff{Duration: firstPause, Factor: 2, Jitter: 0.25, Steps: 6, Cap: longestPause}
	for {
		answer, err := ask()
		if err == nil || !away(err) {
			return answer, err
		}
		timer := time.NewTimer(pause.Step())
		select {
		case <-ctx.Done():
			timer.Stop()
			return answer, err
		case <-timer.C:
		}
	}
}

// away says whether an error means that nobody was there to answer: no connection, or a server that is only starting or has too much to do.
func away(err error) bool {
	var broken net.Error
	return errors.As(err, &broken) || utilnet.IsConnectionReset(err) || utilnet.IsConnectionRefused(err) || utilnet.IsProbableEOF(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err)
}
