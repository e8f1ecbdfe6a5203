package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// GivesUpAfter is how long a command that waits puts up with an API server that does not answer.
	GivesUpAfter = 5 * time.Minute
	// firstRetry and lastRetry are the pauses between two tries.
	firstRetry = 500 * time.Millisecond
	lastRetry  = 5 * time.Second
	// comingBack is how long a server that answers again may still refuse: it starts with no rights and without our kinds.
	comingBack = 30 * time.Second
)

// Patient returns a client for commands that wait: its reads and watches go on after an API server was away. The user is
// told once, and the command gives up with ExitUnreachable after GivesUpAfter. The caller has reached the server before.
func (f *Factory) Patient(c client.WithWatch) client.WithWatch {
	if _, is := c.(*patient); is {
		return c
	}
	return &patient{WithWatch: c, f: f}
}

// patient is a client that retries reads while the API server is away.
type patient struct {
	client.WithWatch
	f *Factory
}

// outage is what all patient clients of a command know of the API server's absence.
type outage struct {
	mu sync.Mutex // guards what follows
	// since is when the server was first missed, lost when it last was; zero while it answers.
	since, lost time.Time
	// answered is when the server was last found to answer again.
	answered time.Time
}

// Get reads an object, however long the server is away.
func (p *patient) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	return p.rideOut(ctx, func() error { return p.WithWatch.Get(ctx, key, into, options...) })
}

// List reads objects, however long the server is away.
func (p *patient) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	return p.rideOut(ctx, func() error { return p.WithWatch.List(ctx, into, options...) })
}

// Watch watches objects, however long the server is away.
func (p *patient) Watch(ctx context.Context, list client.ObjectList, options ...client.ListOption) (watcher watch.Interface, err error) {
	err = p.rideOut(ctx, func() error {
		watcher, err = p.WithWatch.Watch(ctx, list, options...)
		return err
	})
	return watcher, err
}

// rideOut tries again until the server answers, ctx ends, or the server was away for too long.
func (p *patient) rideOut(ctx context.Context, try func() error) error {
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		began := time.Now()
		err := try()
		if ctx.Err() != nil {
			return err
		}
		isAway, givenUp := p.judge(began, err)
		switch {
		case !isAway:
			return err
		case givenUp:
			return p.unreachable(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// judge takes in how a request ended that began at a time. It reports whether the server is away, and whether it was for too long.
func (p *patient) judge(began time.Time, err error) (isAway, givenUp bool) {
	o := &p.f.outage
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	isStarting := !o.since.IsZero() && now.Sub(o.lost) < comingBack && isRefusedWhileStarting(err)
	switch {
	case IsOutage(err) && began.Before(o.answered): // another request was answered meanwhile
		return true, false
	case IsOutage(err):
		o.lost = now
		if o.since.IsZero() {
			o.since = now
			p.f.Notef("the API server does not answer (%s); waiting for it, for at most %s", rootCause(err), GivesUpAfter)
		}
	case isStarting:
	default:
		if !o.since.IsZero() && err == nil {
			o.since, o.answered = time.Time{}, now
			p.f.Notef("the API server answers again")
		}
		return false, false
	}
	return true, now.Sub(o.since) >= GivesUpAfter
}

func (p *patient) unreachable(err error) *Error {
	where := p.f.Where()
	return &Error{What: fmt.Sprintf("gave up waiting: the API server %s has not answered for %s: %s", where.Server, GivesUpAfter, rootCause(err)),
		Hint: "what was waited for may go on; run the command again when the server is back", Code: ExitUnreachable, Err: err}
}

// IsOutage reports whether err says that the API server could not be reached or could not answer now.
func IsOutage(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err)
	}
	return isCutOff(err)
}

// isCutOff reports whether a connection could not be made, or ended in the middle.
func isCutOff(err error) bool {
	for _, cause := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, syscall.ENETUNREACH, syscall.EHOSTUNREACH, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return utilnet.IsTimeout(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err)
}

// isRefusedWhileStarting reports whether err may be the answer of a server that has just started: its access rights and the
// kinds of custom resources come a moment after it.
func isRefusedWhileStarting(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || IsUnknownKind(err)
}

// watchEnded reports whether the error event of a watch only says that its connection broke: then the watch is made again.
func watchEnded(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseType("ClientWatchDecoding") {
			return true
		}
	}
	return false
}

// Notef writes one line about the progress of a command to the error stream; several goroutines may.
func (f *Factory) Notef(format string, args ...any) {
	f.notes.Lock()
	defer f.notes.Unlock()
	f.note("", format, args...)
}
