package livesnapshot

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/feed"
	"github.com/vc-batch/vc/internal/snapshot"
)

// askAgain is the interval at which a denied request is retried.
const askAgain = 30 * time.Second

// source watches the objects of one kind.
type source struct {
	live     *Live
	kind     string // plural name of the kind
	resource string // resource name in the API; "" means the same as kind
	client   cache.Getter
	selector fields.Selector
	sample   runtime.Object
	store    store
	// in is the only namespace to watch; "" means all namespaces.
	in string
	// own is true if the kind is namespaced. A user who may not see its objects in all namespaces may be able to see
	// them in one.
	own bool
	// optional is true if it is not an error for the kind to be missing in the cluster.
	optional bool
}

// store receives the objects from a reflector.
type store interface {
	cache.TransformingStore
	forget()
}

// watchUntilDone watches the widest scope that the user may see, until ctx is done.
func (s *source) watchUntilDone(ctx context.Context) {
	for ctx.Err() == nil {
		why := s.watchNamespace(ctx, s.in)
		if ctx.Err() != nil {
			return
		}
		hidden := snapshot.Hidden{Kind: s.kind, Why: why.Error()}
		if s.own && s.live.options.Namespace != "" && apierrors.IsForbidden(why) {
			hidden.Namespaces = []string{s.live.options.Namespace}
			s.live.markHidden(hidden, true)
			narrow := s.watchNamespace(ctx, s.live.options.Namespace)
			if ctx.Err() != nil {
				return
			}
			hidden.Namespaces, hidden.Why = nil, narrow.Error()
		}
		if !s.optional {
			s.live.markHidden(hidden, false)
		}
		s.store.forget()
		sleepContext(ctx, askAgain)
	}
}

func sleepContext(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// watchNamespace watches the kind in a namespace ("" means all) until ctx is done, or until the server reports that
// access is forbidden or that the kind does not exist. In the latter cases, it returns the error.
func (s *source) watchNamespace(ctx context.Context, namespace string) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	quiet := logr.Discard()
	ctx = klog.NewContext(ctx, quiet) // the dashboard shows errors itself
	from := cache.NewFilteredListWatchFromClient(s.client, cmp.Or(s.resource, s.kind), namespace, func(o *metav1.ListOptions) {
		if s.selector != nil {
			o.FieldSelector = s.selector.String()
		}
	})
	t := &tap{ListerWatcherWithContext: cache.ToListerWatcherWithContext(from), source: s, stop: stop}
	r := cache.NewReflectorWithOptions(t, s.sample, s.store, cache.ReflectorOptions{Name: "dashboard/" + s.kind, Logger: &quiet, Backoff: feed.RelistBackoff()})
	r.RunWithContext(ctx)
	return context.Cause(ctx)
}

// tap observes the outcome of the requests of a source.
type tap struct {
	cache.ListerWatcherWithContext
	source *source
	stop   context.CancelCauseFunc
	once   sync.Once
}

// List lists the objects.
func (t *tap) List(options metav1.ListOptions) (runtime.Object, error) {
	return t.ListWithContext(context.Background(), options)
}

// Watch watches the objects.
func (t *tap) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return t.WatchWithContext(context.Background(), options)
}

// ListWithContext lists the objects.
func (t *tap) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := t.ListerWatcherWithContext.ListWithContext(ctx, options)
	t.recordResponse(ctx, err)
	return list, err
}

// WatchWithContext watches the objects.
func (t *tap) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	w, err := t.ListerWatcherWithContext.WatchWithContext(ctx, options)
	if err != nil {
		t.recordResponse(ctx, err)
		return w, err
	}
	return t.source.live.wrapWatchEvents(w, t.source.kind, func(err error) { t.recordResponse(ctx, err) }), nil
}

// recordResponse records the outcome of a request. Any response from the server, except "unauthorized", proves that the
// connection works.
func (t *tap) recordResponse(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		t.source.live.recordOutcome(t.source.kind, nil)
		t.once.Do(func() { t.stop(err) })
	case apierrors.IsUnauthorized(err):
		t.source.live.recordOutcome(t.source.kind, err)
	case isServerAnswer(err):
		t.source.live.recordOutcome(t.source.kind, nil)
	default:
		t.source.live.recordOutcome(t.source.kind, err)
	}
}

// isServerAnswer reports whether err is nil or a response from the server with a status below 500, rather than a
// connection error.
func isServerAnswer(err error) bool {
	if err == nil {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code != 0 && code < 500
}
