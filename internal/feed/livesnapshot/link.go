package livesnapshot

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/snapshot"
)

// recordOutcome records the outcome of a request for a kind. err is a connection error, or nil if the server responded.
func (l *Live) recordOutcome(kind string, err error) {
	l.mu.Lock()
	before := l.link
	delete(l.missing, kind)
	if err == nil {
		delete(l.broken, kind)
		l.heard = time.Now()
	} else {
		l.broken[kind] = err
	}
	l.updateLink()
	changed := l.link != before
	l.mu.Unlock()
	if changed {
		l.signalChange()
	}
}

// updateLink updates the state of the connection.
func (l *Live) updateLink() {
	link := snapshot.LinkLive
	switch {
	case len(l.broken) > 0:
		link = snapshot.LinkDisconnected
	case len(l.loading) > 0:
		link = snapshot.LinkLoading
	}
	if link != l.link {
		l.link, l.since = link, l.options.Now()
	}
}

func (l *Live) connectionState() snapshot.Connection {
	c := snapshot.Connection{Link: l.link, Since: l.since, Server: l.options.Config.Host}
	if l.link == snapshot.LinkDisconnected {
		kind := slices.Min(slices.Collect(maps.Keys(l.broken)))
		c.Problem = shortError(l.broken[kind])
	}
	return c
}

// shortError returns the text of a connection error without the request's URL.
func shortError(err error) string {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	return err.Error()
}
