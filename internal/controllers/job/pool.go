package job

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// pool limits the number of writes in flight for all jobs together. A nil pool has no common limit: each reconcile
// performs its own writes one after the other, and never waits for the writes of another reconcile.
type pool chan struct{}

// newPool returns a pool with this number of writers, or nil if the number is not positive.
func newPool(writers int) pool {
	if writers <= 0 {
		return nil
	}
	return make(pool, writers)
}

// runParallel calls f for 0 to n-1 in parallel and returns the error with the lowest index, so that the same problem
// always results in the same message. After an error that would also affect all other calls, it starts no further
// calls. If only one call can run at a time, it makes the calls in order and starts no goroutine.
func (p pool) runParallel(ctx context.Context, n int, f func(i int) error) error {
	if min(n, cap(p)) <= 1 {
		return p.runInOrder(ctx, n, f)
	}
	var next atomic.Int64
	var hopeless atomic.Bool
	first := lowestError{index: n}
	var wg sync.WaitGroup
	for range min(n, cap(p)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !hopeless.Load() && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				err := p.runOne(i, f)
				first.record(i, err)
				if affectsAllCalls(err) {
					hopeless.Store(true)
				}
			}
		})
	}
	wg.Wait()
	if first.err == nil {
		return ctx.Err()
	}
	return first.err
}

// runInOrder is like runParallel, but makes all calls in the calling goroutine.
func (p pool) runInOrder(ctx context.Context, n int, f func(i int) error) error {
	var first error
	for i := range n {
		if ctx.Err() != nil {
			return cmp.Or(first, ctx.Err())
		}
		err := p.runOne(i, f)
		first = cmp.Or(first, err)
		if affectsAllCalls(err) {
			break
		}
	}
	return first
}

// runOne calls f(i) while it occupies one of the pool's places.
func (p pool) runOne(i int, f func(i int) error) error {
	if p != nil {
		p <- struct{}{}
		defer func() { <-p }()
	}
	return f(i)
}

// affectsAllCalls reports whether an error would also affect the other calls.
func affectsAllCalls(err error) bool { return apierrors.IsForbidden(err) || isRejected(err) }

// lowestError is the error with the lowest index among those recorded.
type lowestError struct {
	mu    sync.Mutex
	index int
	err   error
}

// record records an error, unless the error is nil or an error with a lower index has been recorded.
func (l *lowestError) record(i int, err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i < l.index {
		l.index, l.err = i, err
	}
}

// isRejected reports whether the API server rejected the object itself.
func isRejected(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}
