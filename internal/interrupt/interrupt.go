// Package interrupt ends programs on SIGINT and SIGTERM: the first signal asks, a later one ends the process at once.
//
// In: a context. Out: a context that the first signal cancels. Concurrency: one goroutine and one timer for each context.
package interrupt

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// repeatTime is how long further signals are taken for copies of the first. Programs such as timeout, and shells, send a signal to the process and to
// its group: the process receives it twice.
const repeatTime = 500 * time.Millisecond

// Context returns a context that ends with the first SIGINT or SIGTERM. A second signal ends the process at once if it does not come immediately after the
// first. stop restores the default behaviour of the signals.
func Context(parent context.Context) (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(repeatTime, stop) })
	return ctx, stop
}
