package live

import (
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// proven is how long a watch on which nothing comes must stand to be one.
const proven = time.Second

// stalled is how long a watch may say nothing: the server sends a bookmark a minute. One that is silent for longer may be dead while all others live,
// as what lies between lets go of single connections; it is set up again from where it was, which costs next to nothing when it was not.
const stalled = 150 * time.Second

// errHungUp is the end of a watch that never stood: client-go hands out an empty one when the server hangs up before it answers.
var errHungUp = errors.New("the server hangs up")

// listen passes a watch of a kind on, and tells once whether it is one: nil when something came or it stood for a while. One that stood and ends
// without a word is missed.
func (l *Live) listen(w watch.Interface, kind string, tell func(error)) watch.Interface {
	one := &listener{live: l, kind: kind, inner: w, out: make(chan watch.Event), done: make(chan struct{})}
	l.mu.Lock()
	l.watches[one] = true
	l.mu.Unlock()
	go one.pass(tell)
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

// ResultChan is where the events come.
func (l *listener) ResultChan() <-chan watch.Event { return l.out }

func (l *listener) pass(tell func(error)) {
	defer close(l.out)
	defer l.live.ended(l)
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
			l.live.missed(l.kind)
			return
		case event, open := <-l.inner.ResultChan():
			if !open {
				if told {
					l.live.missed(l.kind)
				}
				say(errHungUp)
				return
			}
			l.live.lifeSign()
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
