// Package registration describes controllers as data: what they watch, how events become requests, and what reconciles
// the requests. The daemon registers them with a manager of controller-runtime, and a simulation runs them without one.
package registration

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Watch passes the events about the objects of a kind to a handler, which enqueues requests.
type Watch struct {
	// Kind is an empty object of the watched kind.
	Kind client.Object
	// Handler enqueues the requests that result from an event.
	Handler handler.EventHandler
	// Predicates select the events that the handler receives. Every predicate must accept an event.
	Predicates []predicate.Predicate
}

// Queue is the work queue to which handlers add requests.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Deliver passes a change of an object to the handler if all predicates accept it, like the event source of a manager.
// before is nil for a new object, and after is nil for a deleted object. All new objects count as created just now, and
// none of them as part of the first list of a new process, which matters only to a queue with priorities.
func (w *Watch) Deliver(ctx context.Context, before, after client.Object, q Queue) {
	switch {
	case before == nil:
		e := event.CreateEvent{Object: after}
		if w.isAccepted(func(p predicate.Predicate) bool { return p.Create(e) }) {
			w.Handler.Create(ctx, e, q)
		}
	case after == nil:
		e := event.DeleteEvent{Object: before}
		if w.isAccepted(func(p predicate.Predicate) bool { return p.Delete(e) }) {
			w.Handler.Delete(ctx, e, q)
		}
	default:
		e := event.UpdateEvent{ObjectOld: before, ObjectNew: after}
		if w.isAccepted(func(p predicate.Predicate) bool { return p.Update(e) }) {
			w.Handler.Update(ctx, e, q)
		}
	}
}

// isAccepted reports whether all predicates accept an event.
func (w *Watch) isAccepted(accepts func(predicate.Predicate) bool) bool {
	return !slices.ContainsFunc(w.Predicates, func(p predicate.Predicate) bool { return !accepts(p) })
}

// Controller describes a controller.
type Controller struct {
	// Name identifies the controller in logs and metrics.
	Name string
	// Kind is an empty object of the reconciled kind. An event about an object of this kind enqueues a request for the
	// object. Kind is nil if requests result only from Watches.
	Kind client.Object
	// Predicates select the events about objects of the reconciled kind.
	Predicates []predicate.Predicate
	// Watches lists all other watches. One of them may watch the reconciled kind, too.
	Watches []Watch
	// Reconciler reconciles the requests. It passes its errors to the rate limiter in Options.
	Reconciler reconcile.Reconciler
	// Options holds the number of parallel reconciles (0 means 1) and the rate limiter for failed requests.
	Options controller.Options
	// OnRegister, if not nil, is called once, before the first reconcile. The controller may call startWatch while it
	// runs, to watch a kind that only some configurations need.
	OnRegister func(startWatch func(Watch) error)
}

// AllWatches returns the watch of the reconciled kind, if there is one, followed by the other watches.
func (c *Controller) AllWatches() []Watch {
	var all []Watch
	if c.Kind != nil {
		all = append(all, Watch{Kind: c.Kind, Handler: &handler.EnqueueRequestForObject{}, Predicates: c.Predicates})
	}
	return append(all, c.Watches...)
}

// AddTo registers the controller with a manager.
func (c *Controller) AddTo(mgr manager.Manager) error {
	b := ctrl.NewControllerManagedBy(mgr).Named(c.Name).WithOptions(c.Options)
	if c.Kind != nil {
		b.For(c.Kind, builder.WithPredicates(c.Predicates...))
	}
	for _, w := range c.Watches {
		b.Watches(w.Kind, w.Handler, builder.WithPredicates(w.Predicates...))
	}
	registered, err := b.Build(c.Reconciler)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	if c.OnRegister != nil {
		c.OnRegister(func(w Watch) error {
			return registered.Watch(source.Kind(mgr.GetCache(), w.Kind, w.Handler, w.Predicates...))
		})
	}
	return nil
}
