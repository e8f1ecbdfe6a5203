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
// always results in the same message. It starts no further calls after an error that would affect all other calls, too.
func (p pool) runParallel(ctx context.Context, n int, f func(i int) error) error {
	if n == 1 && ctx.Err() == nil {
		p <- struct{}{}
		defer func() { <-p }()
		return f(0)
	}
	var next atomic.Int64
	var hopeless atomic.Bool
	var mu sync.Mutex
	var first error
	lowest := n
	var wg sync.WaitGroup
	for range min(n, cap(p)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !hopeless.Load() && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				p <- struct{}{}
				err := f(i)
				<-p
				if err == nil {
					continue
				}
				mu.Lock()
				if i < lowest {
					lowest, first = i, err
				}
				mu.Unlock()
				if apierrors.IsForbidden(err) || isRejected(err) {
					hopeless.Store(true)
				}
			}
		})
	}
	wg.Wait()
	if first == nil {
		return ctx.Err()
	}
	return first
}

// isRejected reports whether the API server rejected the object itself.
func isRejected(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}
