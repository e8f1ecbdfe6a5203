package listing

import (
	"context"
	"strconv"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// settled is how long nothing must have come for a number of jobs to be a proof: while more comes, the number may be right only for now.
const settled = 50 * time.Millisecond

// follower knows how far a cache of jobs has come.
type follower struct {
	mu      sync.Mutex
	jobs    map[string]int // by namespace; all of them under ""
	version uint64         // of the last write that the cache knows of
	changes int            // that have come
	last    time.Time      // when the last came
	news    chan struct{}  // closed when something comes
}

func newFollower() *follower {
	return &follower{jobs: map[string]int{}, news: make(chan struct{})}
}

func (f *follower) handler() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { f.take(o, 1) },
		UpdateFunc: func(_, o any) { f.take(o, 0) },
		DeleteFunc: func(o any) {
			if last, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = last.Obj
			}
			f.take(o, -1)
		},
	}
}

// take counts a job that came or went.
func (f *follower) take(o any, more int) {
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
	f.version = max(f.version, versionOf(job.GetResourceVersion()))
	f.changes++
	f.last = time.Now()
	close(f.news)
	f.news = make(chan struct{})
}

// mark is another one after each change.
func (f *follower) mark() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes
}

// wait returns when the cache knows of a write at or after a version, which comes after all before, or has been at rest with as many jobs of a namespace as
// there were then.
func (f *follower) wait(ctx context.Context, namespace string, jobs int, version uint64) error {
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

// versionOf is the count of writes that a resource version is.
func versionOf(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
