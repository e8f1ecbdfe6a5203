package daemon

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func newObjectMeta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

const (
	restShort = time.Second
	restLong  = 30 * time.Second
	// goodTerm is the duration after which the end of a term is not counted as a failure.
	goodTerm = time.Minute
)

// runTermsUntilDone runs one term after another until ctx is done. After a failed term, it pauses. Each term starts
// without state.
func runTermsUntilDone(ctx context.Context, o *Options, lease string, log logr.Logger, run term) error {
	lead := func(ctx context.Context, run term) error { return run(ctx, func() error { return ctx.Err() }) }
	if o.LeaderElect {
		e, err := newElection(o, lease, log)
		if err != nil {
			return err
		}
		lead = e.leadOneTerm
	}
	rest := restShort
	for ctx.Err() == nil {
		began := time.Now()
		err := lead(ctx, func(ctx context.Context, fence func() error) error { return runGuarded(ctx, fence, run) })
		if ctx.Err() != nil {
			break
		}
		if err == nil || time.Since(began) > goodTerm {
			rest = restShort
		}
		if err != nil {
			log.Error(err, "Term ended early; the next term starts after a pause", "rest", rest)
		}
		select {
		case <-ctx.Done():
		case <-time.After(rest):
		}
		rest = min(2*rest, restLong)
	}
	return nil //nolint:nilerr // the program is stopping, and errors of terms were logged
}

// runGuarded runs a term and turns a panic into an error.
func runGuarded(ctx context.Context, fence func() error, run term) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return run(ctx, fence)
}
