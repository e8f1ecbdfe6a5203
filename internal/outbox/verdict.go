package outbox

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// verdict classifies the API server's response to a write.
type verdict int

const (
	done      verdict = iota // carried out
	refused                  // will never succeed without a change
	overload                 // the server is overloaded; try again later
	transient                // no response or an internal error; try again later
)

// verdictOfError returns the verdict for the error from a client call.
func verdictOfError(err error) verdict {
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
	return transient // the connection was refused or lost, or our own deadline passed
}

const (
	firstPause  = 50 * time.Millisecond
	longPause   = 5 * time.Second
	maxAttempts = 14 // 50 ms doubling to 5 s: about 40 s, longer than a restart of the API server
)

// retryPause returns the pause after the given number of failed attempts of a write. A longer Retry-After from the
// server takes precedence.
func retryPause(attempt int, err error) time.Duration {
	pause := firstPause << min(attempt-1, 10)
	pause = min(pause, longPause)
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		pause = max(pause, time.Duration(seconds)*time.Second)
	}
	return pause
}

// isCancelled reports whether this process has cancelled the call.
func isCancelled(ctx context.Context) bool { return ctx.Err() != nil }
