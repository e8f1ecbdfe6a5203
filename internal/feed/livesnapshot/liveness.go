package livesnapshot

import (
	"context"
	"errors"
	"time"
)

// If no data has arrived from the server for the time quiet, probeServer sends a request, and the server must respond
// within the time patience. The total is less than ten seconds. look is the interval between checks.
const (
	quiet    = 4 * time.Second
	patience = 4 * time.Second
	look     = 500 * time.Millisecond
)

// grace is the time within which an ended watch must be re-established. An ended watch is not yet a sign of a lost
// connection, because the server ends each watch now and then. A new watch without events needs the time proven to
// count as established, plus the time to request it.
const grace = proven + 2*time.Second

// again is the retry interval for a lost server.
const again = time.Second

// pulseKind is the name under which probeServer records its results, alongside the watched kinds.
const pulseKind = "pulse"

var (
	errSilent = errors.New("the server does not respond")
	errEnded  = errors.New("a watch ended and cannot be restarted")
)

// recordLifeSign records that data arrived from the server.
func (l *Live) recordLifeSign() {
	l.mu.Lock()
	l.heard = time.Now()
	l.mu.Unlock()
}

// recordWatchEnd records that the watch of a kind ended. If it is not re-established within grace, the connection
// counts as broken.
func (l *Live) recordWatchEnd(kind string) {
	l.mu.Lock()
	l.misses++
	this := l.misses
	l.missing[kind] = this
	l.mu.Unlock()
	time.AfterFunc(grace, func() {
		l.mu.Lock()
		still := l.missing[kind] == this
		l.mu.Unlock()
		if still {
			l.recordOutcome(kind, errEnded)
		}
	})
}

// removeWatch removes a watch.
func (l *Live) removeWatch(w *listener) {
	l.mu.Lock()
	delete(l.watches, w)
	l.mu.Unlock()
}

// probeServer sends a request whenever the server has been silent for some time. If the server does not respond,
// probeServer records this at once. After the second failure, it restarts all watches, because their connections may be
// dead.
func (l *Live) probeServer(ctx context.Context) {
	lost := 0
	for sleepContext(ctx, look); ctx.Err() == nil; sleepContext(ctx, look) {
		l.memory.adjustLimit()
		l.mu.Lock()
		silence := time.Since(l.heard)
		l.mu.Unlock()
		if silence < quiet && lost == 0 {
			continue
		}
		within, stop := context.WithTimeout(ctx, patience)
		err := l.door.Get().AbsPath("/version").Do(within).Error()
		if within.Err() != nil {
			err = errSilent
		}
		stop()
		if ctx.Err() != nil {
			return
		}
		if isServerAnswer(err) {
			lost = 0
			l.recordOutcome(pulseKind, nil)
			continue
		}
		l.recordOutcome(pulseKind, err)
		if lost++; lost == 2 {
			l.restartWatches()
		}
		sleepContext(ctx, again)
	}
}

// restartWatches ends all watches. The reflectors restart them at the positions where they stopped.
func (l *Live) restartWatches() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.watches {
		w.inner.Stop()
	}
}
