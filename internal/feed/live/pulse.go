package live

import (
	"context"
	"errors"
	"time"
)

// A server of which nothing was heard for quiet is asked whether it is there, and has patience to answer: together less than ten seconds.
const (
	quiet    = 4 * time.Second
	patience = 4 * time.Second
	look     = 500 * time.Millisecond
)

// grace is how soon a watch that ended must be back: the server ends each of them now and then. The next one on which nothing comes is proven after
// a while only, and has had to be asked for before.
const grace = proven + 2*time.Second

// again is when a server that is lost is asked the next time.
const again = time.Second

// pulseKind stands among the kinds for the question whether the server is there.
const pulseKind = "pulse"

var (
	errSilent = errors.New("the server does not answer")
	errEnded  = errors.New("a watch ended and does not come back")
)

// lifeSign notes that the server was heard.
func (l *Live) lifeSign() {
	l.mu.Lock()
	l.heard = time.Now()
	l.mu.Unlock()
}

// missed notes that the watch of a kind ended; when it is not back soon the connection is broken.
func (l *Live) missed(kind string) {
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
			l.answered(kind, errEnded)
		}
	})
}

// ended forgets a watch.
func (l *Live) ended(w *listener) {
	l.mu.Lock()
	delete(l.watches, w)
	l.mu.Unlock()
}

// pulse asks a silent server whether it is there. One that stays silent is told at once; when it is still so the next time, all watches are set up
// anew: on the way there they may stand and be dead.
func (l *Live) pulse(ctx context.Context) {
	lost := 0
	for wait(ctx, look); ctx.Err() == nil; wait(ctx, look) {
		l.memory.follow()
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
		if answer(err) {
			lost = 0
			l.answered(pulseKind, nil)
			continue
		}
		l.answered(pulseKind, err)
		if lost++; lost == 2 {
			l.hangUp()
		}
		wait(ctx, again)
	}
}

// hangUp ends all watches; the reflectors set them up again from where they were.
func (l *Live) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.watches {
		w.inner.Stop()
	}
}
