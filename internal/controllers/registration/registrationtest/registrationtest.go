// Package registrationtest delivers events to controllers in tests that run them without a manager.
package registrationtest

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/internal/controllers/registration"
)

// Queue is the work queue to which handlers add requests. If it also implements priorityqueue.PriorityQueue, handlers
// add the requests of a new process and of unchanged objects with a low priority, as they do in the daemon.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Watches returns all watches of a controller. The watch of the reconciled kind comes first.
func Watches(c *registration.Controller) []registration.Watch {
	var all []registration.Watch
	if c.Kind != nil {
		all = append(all, registration.Watch{Kind: c.Kind, Handler: &handler.EnqueueRequestForObject{}, Predicates: c.Predicates})
	}
	return append(all, c.Watches...)
}

// Deliver passes a change of an object to a watch, if its predicates accept the event. before is nil for a new object,
// and after is nil for a deleted object. Handlers must not change the objects.
func Deliver(ctx context.Context, w *registration.Watch, before, after client.Object, q Queue) {
	switch {
	case before == nil:
		deliverCreate(ctx, w, event.CreateEvent{Object: after}, q)
	case after == nil:
		deliverDelete(ctx, w, event.DeleteEvent{Object: before}, q)
	default:
		deliverUpdate(ctx, w, event.UpdateEvent{ObjectOld: before, ObjectNew: after}, q)
	}
}

// DeliverInitial passes an object to a watch that a new process finds in its first list.
func DeliverInitial(ctx context.Context, w *registration.Watch, object client.Object, q Queue) {
	deliverCreate(ctx, w, event.CreateEvent{Object: object, IsInInitialList: true}, q)
}

func deliverCreate(ctx context.Context, w *registration.Watch, e event.CreateEvent, q Queue) {
	if isAccepted(w, func(p predicate.Predicate) bool { return p.Create(e) }) {
		w.Handler.Create(ctx, e, q)
	}
}

func deliverUpdate(ctx context.Context, w *registration.Watch, e event.UpdateEvent, q Queue) {
	if isAccepted(w, func(p predicate.Predicate) bool { return p.Update(e) }) {
		w.Handler.Update(ctx, e, q)
	}
}

func deliverDelete(ctx context.Context, w *registration.Watch, e event.DeleteEvent, q Queue) {
	if isAccepted(w, func(p predicate.Predicate) bool { return p.Delete(e) }) {
		w.Handler.Delete(ctx, e, q)
	}
}

// isAccepted reports whether all predicates of a watch accept an event.
func isAccepted(w *registration.Watch, accepts func(predicate.Predicate) bool) bool {
	for _, p := range w.Predicates {
		if !accepts(p) {
			return false
		}
	}
	return true
}
