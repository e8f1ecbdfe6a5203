package livesnapshot

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/snapshot"
)

// answered records the outcome of a request for a kind: a connection error, or nil if the server responded.
func (l *Live) answered(kind string, err error) {
	l.mu.Lock()
	before := l.link
	delete(l.missing, kind)
	if err == nil {
		delete(l.broken, kind)
		l.heard = time.Now()
	} else {
		l.broken[kind] = err
	}
	l.relink()
	changed := l.link != before
	l.mu.Unlock()
	if changed {
		l.mark()
	}
}

// relink updates the state of the connection.
func (l *Live) relink() {
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

func (l *Live) connection() snapshot.Connection {
	c := snapshot.Connection{Link: l.link, Since: l.since, Server: l.options.Config.Host}
	if l.link == snapshot.LinkDisconnected {
		kind := slices.Min(slices.Collect(maps.Keys(l.broken)))
		c.Problem = short(l.broken[kind])
	}
	return c
}

// short returns the text of a connection error without the request's URL.
func short(err error) string {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	return err.Error()
}
