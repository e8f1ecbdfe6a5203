// Package interrupt ends programs on SIGINT and SIGTERM. The first signal requests a graceful end, and a later signal
// ends the process at once.
//
//	In:   a context
//	Out:  a context that the first signal cancels
//
// # Concurrency
//
// Each context has one goroutine and one timer.
package interrupt

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// repeatTime is the time within which further signals count as copies of the first one. Shells, and programs such as
// timeout, send a signal to the process and to its group, so that the process receives it twice.
const repeatTime = 500 * time.Millisecond

// ContextWithSignals returns a context that is canceled by the first SIGINT or SIGTERM. A second signal ends the
// process at once, unless it arrives within repeatTime of the first. stop restores the default handling of the signals.
func ContextWithSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(repeatTime, stop) })
	return ctx, stop
}
