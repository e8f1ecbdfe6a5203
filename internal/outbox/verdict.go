package outbox

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// verdict is what an answer of the API server means for a write.
type verdict int

const (
	done      verdict = iota // carried out
	refused                  // will never succeed as it stands
	overload                 // the server asked for less; try again later
	transient                // no answer or an inner error; try again later
)

// judge reads an error of a client call.
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
	return transient // connection refused, reset, cut, or a deadline of ours
}

const (
	firstPause  = 50 * time.Millisecond
	longPause   = 5 * time.Second
	maxAttempts = 14 // 50 ms doubling to 5 s: about 40 s, longer than a restart of the API server
)

// pauseAfter is how long a write rests after its n-th failed attempt, n from 1.
// A Retry-After of the server is obeyed when it is longer.
func pauseAfter(attempt int, err error) time.Duration {
	pause := firstPause << min(attempt-1, 10)
	pause = min(pause, longPause)
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		pause = max(pause, time.Duration(seconds)*time.Second)
	}
	return pause
}

// reportAfter is how long the report of a write that was given up is held back:
// a conflict or a missing object calls for a new decision soon, a refusal for
// another reason would only be repeated.
func reportAfter(err error) time.Duration {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return 20 * time.Millisecond
	}
	return time.Second
}

// stopped reports whether err only says that we ourselves are being stopped.
func stopped(ctx context.Context) bool { return ctx.Err() != nil }
