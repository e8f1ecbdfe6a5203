package livesnapshot

import (
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// proven is the time after which a watch without events counts as established.
const proven = time.Second

// stalled is the maximum time without an event on a watch. The server sends a bookmark every minute. A watch that is
// silent for longer may be dead even if others work, because middleboxes may drop single connections. Such a watch is
// restarted at the position where it stopped, which costs almost nothing if it was still alive.
const stalled = 150 * time.Second

// errHungUp is the error of a watch that was never established. If the server closes the connection before it responds,
// client-go returns an empty watch instead of an error.
var errHungUp = errors.New("the server closed the connection")

// wrapWatchEvents forwards the events of a watch. It calls tell once: with nil when the first event arrives or the
// watch has been open for a while, or with an error if the watch ends before that.
func (l *Live) wrapWatchEvents(w watch.Interface, kind string, tell func(error)) watch.Interface {
	one := &listener{live: l, kind: kind, inner: w, out: make(chan watch.Event), done: make(chan struct{})}
	l.mu.Lock()
	l.watches[one] = true
	l.mu.Unlock()
	go one.forwardEvents(tell)
	return one
}

type listener struct {
	live  *Live
	kind  string
	inner watch.Interface
	out   chan watch.Event
	done  chan struct{}
	once  sync.Once
}

// Stop ends the watch.
func (l *listener) Stop() {
	l.once.Do(func() { close(l.done) })
	l.inner.Stop()
}

// ResultChan returns the channel of events.
func (l *listener) ResultChan() <-chan watch.Event { return l.out }

func (l *listener) forwardEvents(tell func(error)) {
	defer close(l.out)
	defer l.live.removeWatch(l)
	timer, silence := time.NewTimer(proven), time.NewTimer(l.live.stalled)
	defer timer.Stop()
	defer silence.Stop()
	told := false
	say := func(err error) {
		if !told {
			told = true
			tell(err)
		}
	}
	for {
		select {
		case <-l.done:
			return
		case <-timer.C:
			say(nil)
		case <-silence.C:
			l.inner.Stop()
			l.live.recordWatchEnd(l.kind)
			return
		case event, open := <-l.inner.ResultChan():
			if !open {
				if told {
					l.live.recordWatchEnd(l.kind)
				}
				say(errHungUp)
				return
			}
			l.live.recordLifeSign()
			silence.Reset(l.live.stalled)
			if event.Type != watch.Error {
				say(nil)
			}
			select {
			case l.out <- event:
			case <-l.done:
				return
			}
		}
	}
}
