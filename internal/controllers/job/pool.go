package job

import (
	"context"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// pool limits the number of writes in flight for all jobs together.
type pool chan struct{}

func newPool(writers int) pool { return make(pool, writers) }

// runParallel calls f for 0 to n-1 in parallel and returns the error with the lowest index, so that the same problem
// always results in the same message. After an error that would also affect all other calls, it starts no further
// calls.
func (p pool) runParallel(ctx context.Context, n int, f func(i int) error) error {
	if n == 1 && ctx.Err() == nil {
		return p.runOne(0, f)
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
				if apierrors.IsForbidden(err) || isRejected(err) {
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

// runOne calls f(i) while it occupies one of the pool's places.
func (p pool) runOne(i int, f func(i int) error) error {
	p <- struct{}{}
	defer func() { <-p }()
	return f(i)
}

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
