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

// reportDelay returns the delay before a failed write is reported. After a conflict or a missing object, a new
// decision is needed soon. After any other error, a new decision would only fail again.
func reportDelay(err error) time.Duration {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return 20 * time.Millisecond
	}
	return time.Second
}

// isCancelled reports whether this process has cancelled the call.
func isCancelled(ctx context.Context) bool { return ctx.Err() != nil }
