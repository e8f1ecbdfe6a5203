package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/usererror"
)

const (
	// GivesUpAfter is the longest outage of the API server that a waiting command tolerates.
	GivesUpAfter = 5 * time.Minute
	// firstRetry and lastRetry are the shortest and the longest delay between two attempts.
	firstRetry = 500 * time.Millisecond
	lastRetry  = 5 * time.Second
	// recoveryTime is the time after the last failed request during which rejections count as part of the outage,
	// because a server that has just restarted has not yet loaded its access rules and custom resource definitions.
	recoveryTime = 30 * time.Second
)

// RetryingClient returns a client for commands that wait. During an outage of the API server, the client retries reads
// and watches; it prints one message per outage. After GivesUpAfter, it returns an error with the code ExitUnreachable.
// The command must have reached the server before.
func (f *Factory) RetryingClient(c client.WithWatch) client.WithWatch {
	if _, is := c.(*patient); is {
		return c
	}
	return &patient{WithWatch: c, f: f}
}

// patient is a client that retries reads while the API server is unavailable.
type patient struct {
	client.WithWatch
	f *Factory
}

// outage is the state of an outage of the API server, shared by all patient clients of a command.
type outage struct {
	mu sync.Mutex // guards the fields below
	// since is the time of the first failed request of the outage; lost is the time of the latest. Both are zero if
	// there is no outage.
	since, lost time.Time
	// answered is the time when the last outage ended.
	answered time.Time
}

// Get reads an object. It retries during an outage.
func (p *patient) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	return p.retryDuringOutage(ctx, func() error { return p.WithWatch.Get(ctx, key, into, options...) })
}

// List lists objects. It retries during an outage.
func (p *patient) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	return p.retryDuringOutage(ctx, func() error { return p.WithWatch.List(ctx, into, options...) })
}

// Watch watches objects. It retries during an outage.
func (p *patient) Watch(ctx context.Context, list client.ObjectList, options ...client.ListOption) (watcher watch.Interface, err error) {
	err = p.retryDuringOutage(ctx, func() error {
		watcher, err = p.WithWatch.Watch(ctx, list, options...)
		return err
	})
	return watcher, err
}

// retryDuringOutage retries until the server responds, ctx is done, or the outage has lasted too long.
func (p *patient) retryDuringOutage(ctx context.Context, try func() error) error {
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		began := time.Now()
		err := try()
		if ctx.Err() != nil {
			return err
		}
		isAway, givenUp := p.recordResult(began, err)
		switch {
		case !isAway:
			return err
		case givenUp:
			return p.outageError(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// recordResult records the result of a request that started at began. It reports whether the server is unavailable, and
// whether it has been unavailable for longer than GivesUpAfter.
func (p *patient) recordResult(began time.Time, err error) (isAway, givenUp bool) {
	o := &p.f.outage
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	isStarting := !o.since.IsZero() && now.Sub(o.lost) < recoveryTime && isRefusedWhileStarting(err)
	switch {
	case IsOutage(err) && began.Before(o.answered): // another request was answered in the meantime
		return true, false
	case IsOutage(err):
		o.lost = now
		if o.since.IsZero() {
			o.since = now
			p.f.Notef("the API server is not responding (%s); waiting up to %s for a response", rootCause(err), GivesUpAfter)
		}
	case isStarting:
	default:
		if !o.since.IsZero() && err == nil {
			o.since, o.answered = time.Time{}, now
			p.f.Notef("the API server is responding again")
		}
		return false, false
	}
	return true, now.Sub(o.since) >= GivesUpAfter
}

func (p *patient) outageError(err error) *usererror.Error {
	where := p.f.DescribeConnection()
	return &usererror.Error{What: fmt.Sprintf("gave up waiting: the API server %s has not responded for %s: %s", where.Server, GivesUpAfter, rootCause(err)),
		Hint: "the operation may continue in the cluster; run the command again when the server responds", Code: ExitUnreachable, Err: err}
}

// temporaryErrors recognize the responses of an API server that is temporarily unable to answer.
var temporaryErrors = []func(error) bool{
	apierrors.IsServiceUnavailable, apierrors.IsServerTimeout, apierrors.IsTimeout, apierrors.IsTooManyRequests, apierrors.IsInternalError,
}

// IsOutage reports whether err means that the API server is unreachable or temporarily unable to answer.
func IsOutage(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return slices.ContainsFunc(temporaryErrors, func(is func(error) bool) bool { return is(err) })
	}
	return isConnectionBroken(err)
}

// isConnectionBroken reports whether a connection failed or broke.
func isConnectionBroken(err error) bool {
	for _, cause := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, syscall.ENETUNREACH, syscall.EHOSTUNREACH, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, cause) {
			return true
		}
	}
	switch {
	case utilnet.IsTimeout(err), utilnet.IsProbableEOF(err), utilnet.IsHTTP2ConnectionLost(err):
		return true
	}
	return wasClosedWhileIdle(err)
}

// wasClosedWhileIdle reports whether the server closed an idle connection on which a request was about to be sent.
// Package net/http repeats such a request only if it may be sent twice. Because the package does not export the error,
// only the text identifies it.
func wasClosedWhileIdle(err error) bool {
	return strings.HasSuffix(err.Error(), "http: server closed idle connection")
}

// isRefusedWhileStarting reports whether err may come from a server that has just started and has not yet loaded its
// access rules and custom resource definitions.
func isRefusedWhileStarting(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || IsUnknownKind(err)
}

// isWatchBroken reports whether the error event of a watch only means that the connection broke, so that the watch can
// be restarted.
func isWatchBroken(err error) bool {
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

// Notef writes one line about the command's progress to the error stream. It is safe for concurrent use.
func (f *Factory) Notef(format string, args ...any) {
	f.notes.Lock()
	defer f.notes.Unlock()
	f.printNote("", format, args...)
}
