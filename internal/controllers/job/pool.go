package job

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// pool limits the number of writes in flight for all jobs together.
type pool struct {
	places   chan struct{} // contains an element for each write in flight
	newGroup func() Group
}

// Group runs functions in parallel. A sync.WaitGroup is a Group.
type Group interface {
	// Go starts a function.
	Go(f func())
	// Wait returns after all functions have returned.
	Wait()
}

// newPool returns a pool with the given number of writers, at least one. They run in groups from newGroup or, if it is nil, in
// goroutines.
func newPool(writers int, newGroup func() Group) pool {
	if newGroup == nil {
		newGroup = func() Group { return &sync.WaitGroup{} }
	}
	return pool{places: make(chan struct{}, max(writers, 1)), newGroup: newGroup}
}

// runParallel calls f for 0 to n-1 in parallel and returns the error with the lowest index, so that the same problem
// always results in the same message. After an error that would also affect all other calls, it starts no further
// calls. If only one call can run at a time, it makes the calls in order and starts no goroutine.
func (p pool) runParallel(ctx context.Context, n int, f func(i int) error) error {
	writers := min(n, cap(p.places))
	if writers <= 1 {
		return p.runInOrder(ctx, n, f)
	}
	var next atomic.Int64
	var hopeless atomic.Bool
	first := lowestError{index: n}
	group := p.newGroup()
	for range writers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !hopeless.Load() && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				err := p.runOne(i, f)
				first.record(i, err)
				if affectsAllCalls(err) {
					hopeless.Store(true)
				}
			}
		})
	}
	group.Wait()
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
	p.places <- struct{}{}
	defer func() { <-p.places }()
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
