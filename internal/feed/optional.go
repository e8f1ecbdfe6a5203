package feed

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// optionalPause is the time between two checks whether the API server serves a missing kind.
const optionalPause = 5 * time.Second

// optionalSource wraps the source of a kind that some clusters do not serve. While the API server does not serve the
// kind, its list is empty, so that other kinds do not wait for it.
func optionalSource(log logr.Logger, source cache.ListerWatcher, empty runtime.Object) cache.ListerWatcher {
	return &optionalKind{ListerWatcherWithContext: cache.ToListerWatcherWithContext(source), log: log, empty: empty}
}

// optionalKind is the source of a kind that the API server may not serve.
type optionalKind struct {
	cache.ListerWatcherWithContext
	log     logr.Logger
	empty   runtime.Object
	missing atomic.Bool // whether the API server did not serve the kind when it was last listed
}

var (
	_ cache.ListerWatcher            = (*optionalKind)(nil)
	_ cache.ListerWatcherWithContext = (*optionalKind)(nil)
)

// List implements cache.ListerWatcher.
func (o *optionalKind) List(options metav1.ListOptions) (runtime.Object, error) {
	return o.ListWithContext(context.Background(), options)
}

// Watch implements cache.ListerWatcher.
func (o *optionalKind) Watch(options metav1.ListOptions) (apiwatch.Interface, error) {
	return o.WatchWithContext(context.Background(), options)
}

// ListWithContext returns the objects, or an empty list if the API server does not serve the kind.
func (o *optionalKind) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := o.ListerWatcherWithContext.ListWithContext(ctx, options)
	switch {
	case err == nil:
		o.recordServed()
	case apierrors.IsNotFound(err):
		if !o.missing.Swap(true) {
			o.log.Info("The API server does not serve this kind; the scheduler works without it until the kind is served", "reason", err.Error())
		}
		return o.empty.DeepCopyObject(), nil
	}
	return list, err
}

// WatchWithContext watches the objects. While the API server does not serve the kind, the returned watch waits for the
// kind, and then ends with an error that makes the reflector list the objects.
func (o *optionalKind) WatchWithContext(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
	lists := options.SendInitialEvents != nil && *options.SendInitialEvents
	if !o.missing.Load() || lists {
		w, err := o.ListerWatcherWithContext.WatchWithContext(ctx, options)
		if err == nil {
			o.recordServed()
		}
		return w, err
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &missingKindWatch{events: make(chan apiwatch.Event), cancel: cancel}
	go o.waitUntilServed(ctx, w.events)
	return w, nil
}

func (o *optionalKind) recordServed() {
	if o.missing.Swap(false) {
		o.log.Info("The API server serves this kind now")
	}
}

// waitUntilServed waits until the API server serves the kind, ends the watch with an error, and closes it. Errors other
// than a missing kind end the watch, too: the reflector reports them.
func (o *optionalKind) waitUntilServed(ctx context.Context, events chan<- apiwatch.Event) {
	defer close(events)
	tick := time.NewTicker(optionalPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := o.ListerWatcherWithContext.ListWithContext(ctx, metav1.ListOptions{Limit: 1}); !apierrors.IsNotFound(err) {
			break
		}
	}
	expired := apierrors.NewResourceExpired("the kind must be listed again").Status()
	select {
	case events <- apiwatch.Event{Type: apiwatch.Error, Object: &expired}:
	case <-ctx.Done():
	}
}

// missingKindWatch is the watch of a kind that the API server does not serve.
type missingKindWatch struct {
	events chan apiwatch.Event
	cancel context.CancelFunc
}

// ResultChan implements apiwatch.Interface.
func (w *missingKindWatch) ResultChan() <-chan apiwatch.Event { return w.events }

// Stop implements apiwatch.Interface.
func (w *missingKindWatch) Stop() { w.cancel() }
