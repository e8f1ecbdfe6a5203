package outbox

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// verdict is the meaning of an API server's response for a write.
type verdict int

const (
	done      verdict = iota // carried out
	refused                  // will never succeed without a change
	overload                 // the server is overloaded; try again later
	transient                // no response or an internal error; try again later
)

// judge returns the verdict for the error of a client call.
func judge(err error) verdict {
	switch {
	case err == nil:
		return done
	case apierrors.IsTooManyRequests(err):
		return overload
	case apierrors.IsServerTimeout(err), apierrors.IsTimeout(err), apierrors.IsServiceUnavailable(err),
		apierrors.IsInternalError(err), apierrors.IsUnexpectedServerError(err):
		return transient
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return refused
	}
	return transient // connection refused, reset or cut, or our own deadline
}

const (
	firstPause  = 50 * time.Millisecond
	longPause   = 5 * time.Second
	maxAttempts = 14 // 50 ms doubling to 5 s: about 40 s, longer than a restart of the API server
)

// pauseAfter returns the pause after the n-th failed attempt of a write, n starting at 1. A longer Retry-After from the
// server takes precedence.
func pauseAfter(attempt int, err error) time.Duration {
	pause := firstPause << min(attempt-1, 10)
	pause = min(pause, longPause)
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		pause = max(pause, time.Duration(seconds)*time.Second)
	}
	return pause
}

// reportAfter returns the delay before a failed write is reported. After a conflict or a missing object, a new decision
// is needed soon; after any other error, it would only fail again.
func reportAfter(err error) time.Duration {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return 20 * time.Millisecond
	}
	return time.Second
}

// stopped reports whether this process itself is stopping the call.
func stopped(ctx context.Context) bool { return ctx.Err() != nil }
