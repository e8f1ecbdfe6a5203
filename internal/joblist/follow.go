package joblist

import (
	"context"
	"strconv"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// settled is the time without changes after which the number of jobs in the cache counts as final. While changes are
// still arriving, the number may be equal to the expected one by chance.
const settled = 50 * time.Millisecond

// follower tracks the progress of a cache of jobs.
type follower struct {
	mu      sync.Mutex
	jobs    map[string]int // number of jobs by namespace; "" is the total
	version uint64         // highest resource version in the cache
	changes int            // number of changes received
	last    time.Time      // when the last change was received
	news    chan struct{}  // closed at the next change
}

func newFollower() *follower {
	return &follower{jobs: map[string]int{}, news: make(chan struct{})}
}

func (f *follower) eventHandler() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { f.recordChange(o, 1) },
		UpdateFunc: func(_, o any) { f.recordChange(o, 0) },
		DeleteFunc: func(o any) {
			if last, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = last.Obj
			}
			f.recordChange(o, -1)
		},
	}
}

// recordChange records a job that was added, updated or deleted.
func (f *follower) recordChange(o any, more int) {
	job, ok := o.(client.Object)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if more != 0 {
		f.jobs[""] += more
		if f.jobs[job.GetNamespace()] += more; f.jobs[job.GetNamespace()] == 0 {
			delete(f.jobs, job.GetNamespace())
		}
	}
	f.version = max(f.version, resourceVersionNumber(job.GetResourceVersion()))
	f.changes++
	f.last = time.Now()
	close(f.news)
	f.news = make(chan struct{})
}

// changeCount returns a number that differs after each change.
func (f *follower) changeCount() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes
}

// waitUntilCurrent waits until the cache is current. This is the case when it has received a write with at least this
// resource version, and therefore all earlier writes. It is also the case when the cache has had no changes for a while
// and holds the given number of jobs in the namespace.
func (f *follower) waitUntilCurrent(ctx context.Context, namespace string, jobs int, version uint64) error {
	for {
		f.mu.Lock()
		reached, right, news := f.version >= version, f.jobs[namespace] == jobs, f.news
		rest := settled - time.Since(f.last)
		f.mu.Unlock()
		var rested <-chan time.Time
		switch {
		case reached, right && rest <= 0:
			return nil
		case right:
			rested = time.After(rest)
		}
		select {
		case <-news:
		case <-rested:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// resourceVersionNumber returns a resource version as a number, or 0 if it is not a number.
func resourceVersionNumber(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
