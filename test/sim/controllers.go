package sim

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/controllers"
	"github.com/vc-batch/vc/internal/controllers/job"
	"github.com/vc-batch/vc/internal/controllers/registration"
	"github.com/vc-batch/vc/test/apiserver"
)

// controllersTimeout is how long the controllers' HTTP/2 connections stay without a response until they are closed.
const controllersTimeout = 45 * time.Second

// mostReconciles limits the number of parallel reconciles of each controller.
const mostReconciles = 4

// mostPodWrites is the maximum number of parallel pod writes of all jobs. It is more than mostReconciles plans can contain. A
// fiber that waited for a place in the code of the controllers would block the simulation.
const mostPodWrites = 100_000

// controllersTerm is one term of leadership of the controllers: the cache and all controllers.
type controllersTerm struct {
	process *process
	cache   *apiserver.Cache
	queues  []*workQueue
	watches map[schema.GroupVersionKind][]delivery
	missing int // kinds that have not been listed yet
}

// delivery is one watch of one controller.
type delivery struct {
	watch registration.Watch
	queue *workQueue
}

// startControllersTerm starts all controllers without any state. end ends the term after a write that the fence rejects.
func startControllersTerm(p *process, user string, fence func() error) {
	w := p.world
	t := &controllersTerm{process: p, cache: apiserver.NewCache(), watches: map[schema.GroupVersionKind][]delivery{}}
	l := w.newLink(p, user, controllersTimeout, fence)
	api := apiserver.NewClient(w.scheme, l.send)
	all := controllers.All(t.cache, api, recorder{}, controllers.Options{
		SchedulerNames: []string{keys.DefaultSchedulerName}, Writers: mostPodWrites, Now: p.wallTime,
		NewWriteGroup: func() job.Group { return &fiberGroup{process: p} },
	})
	for i := range all {
		t.addController(&all[i])
	}
	kinds := slices.SortedFunc(mapsKeys(t.watches), compareKinds)
	for _, kind := range cachedKinds {
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind) // read by reconciles, but not watched by a controller
		}
	}
	t.missing = len(kinds)
	for _, kind := range kinds {
		w.watchKind(p, user, kind, &cacheReceiver{term: t, kind: kind}, func() {
			if t.missing--; t.missing == 0 {
				w.trace("%s: has read the state of the cluster", p.name)
				for _, q := range t.queues {
					q.open = true
					q.startReconciles()
				}
			}
		})
	}
}

func (t *controllersTerm) addController(c *registration.Controller) {
	q := &workQueue{term: t, controller: c, pending: nil, running: map[reconcile.Request]bool{}, again: map[reconcile.Request]bool{}, delayed: map[reconcile.Request]time.Time{}}
	t.queues = append(t.queues, q)
	if c.OnRegister != nil {
		c.OnRegister(func(registration.Watch) error { return nil }) // no configuration of the simulation needs it
	}
	all := c.Watches
	if c.Kind != nil {
		all = append([]registration.Watch{{Kind: c.Kind, Handler: &handler.EnqueueRequestForObject{}, Predicates: c.Predicates}}, all...)
	}
	for _, watch := range all {
		kind := t.process.world.kindOf(watch.Kind)
		t.watches[kind] = append(t.watches[kind], delivery{watch, q})
	}
}

// cacheReceiver updates the cache with the objects of one kind, and then notifies the controllers.
type cacheReceiver struct {
	term *controllersTerm
	kind schema.GroupVersionKind
}

func (r *cacheReceiver) replace(objects []client.Object) {
	for _, c := range r.term.cache.Replace(r.kind, objects) {
		r.notify(c)
	}
}

func (r *cacheReceiver) apply(c apiserver.Change) {
	r.term.cache.Apply(c)
	r.notify(c)
}

func (r *cacheReceiver) notify(c apiserver.Change) {
	for _, d := range r.term.watches[r.kind] {
		d.watch.Deliver(context.Background(), c.Old, c.Object, d.queue)
	}
}

// recorder drops events, because no component of the simulation reads them.
type recorder struct{}

func (recorder) Event(runtime.Object, string, string, string)                                      {}
func (recorder) Eventf(runtime.Object, string, string, string, ...any)                             {}
func (recorder) AnnotatedEventf(runtime.Object, map[string]string, string, string, string, ...any) {}

// workQueue is the work queue of one controller, with controller-runtime's rules: a request is queued once, a request
// that is being reconciled waits until the reconcile has ended, and errors delay the next attempt.
type workQueue struct {
	term       *controllersTerm
	controller *registration.Controller
	open       bool // the caches have been filled
	pending    []reconcile.Request
	running    map[reconcile.Request]bool
	again      map[reconcile.Request]bool      // requests that were added while they were running
	delayed    map[reconcile.Request]time.Time // earliest time of each delayed request
}

// Add queues a request.
func (q *workQueue) Add(r reconcile.Request) {
	switch {
	case q.running[r]:
		q.again[r] = true
	case !slices.Contains(q.pending, r):
		q.pending = append(q.pending, r)
		if q.open {
			q.term.process.after(0, q.startReconciles)
		}
	}
}

// AddAfter queues a request after a pause, or earlier if it was already going to be queued earlier.
func (q *workQueue) AddAfter(r reconcile.Request, pause time.Duration) {
	if pause <= 0 {
		q.Add(r)
		return
	}
	at := q.term.process.world.now.Add(pause)
	if before, ok := q.delayed[r]; ok && !at.Before(before) {
		return
	}
	q.delayed[r] = at
	q.term.process.after(pause, func() {
		if q.delayed[r].Equal(at) {
			delete(q.delayed, r)
			q.Add(r)
		}
	})
}

// AddRateLimited queues a request after the pause of the controller's rate limiter.
func (q *workQueue) AddRateLimited(r reconcile.Request) {
	q.AddAfter(r, q.controller.Options.RateLimiter.When(r))
}

// Forget resets the pause of a request.
func (q *workQueue) Forget(r reconcile.Request) { q.controller.Options.RateLimiter.Forget(r) }

// NumRequeues returns the number of consecutive failures of a request.
func (q *workQueue) NumRequeues(r reconcile.Request) int {
	return q.controller.Options.RateLimiter.NumRequeues(r)
}

// Len returns the number of queued requests.
func (q *workQueue) Len() int { return len(q.pending) }

// The methods below belong to the workers of a real queue, which the simulation does not have.

// Get is not used.
func (q *workQueue) Get() (reconcile.Request, bool) { panic("not used") }

// Done is not used.
func (q *workQueue) Done(reconcile.Request) { panic("not used") }

// ShutDown is not used.
func (q *workQueue) ShutDown() { panic("not used") }

// ShutDownWithDrain is not used.
func (q *workQueue) ShutDownWithDrain() { panic("not used") }

// ShuttingDown is not used.
func (q *workQueue) ShuttingDown() bool { return false }

// startReconciles starts as many reconciles as may run in parallel.
func (q *workQueue) startReconciles() {
	limit := min(max(1, q.controller.Options.MaxConcurrentReconciles), mostReconciles)
	for len(q.pending) > 0 && len(q.running) < limit {
		r := q.pending[0]
		q.pending = q.pending[1:]
		q.running[r] = true
		var result reconcile.Result
		var err error
		q.term.process.spawn(
			func() { result, err = q.controller.Reconciler.Reconcile(context.Background(), r) },
			func() { q.finish(r, result, err) },
		)
	}
}

// finish queues the next reconcile of a request, as controller-runtime does.
func (q *workQueue) finish(r reconcile.Request, result reconcile.Result, err error) {
	if err != nil {
		q.term.process.world.trace("%s: %s: %s: %v", q.term.process.name, q.controller.Name, r, err)
	}
	delete(q.running, r)
	if q.again[r] {
		delete(q.again, r)
		q.Add(r)
	}
	switch {
	case err != nil:
		q.AddRateLimited(r)
	case result.RequeueAfter > 0:
		q.Forget(r)
		q.AddAfter(r, result.RequeueAfter)
	default:
		q.Forget(r)
	}
	q.startReconciles()
}

// cachedKinds are kinds that reconciles read from the cache without watching them.
var cachedKinds = []schema.GroupVersionKind{
	{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"},
	corev1.SchemeGroupVersion.WithKind("ResourceQuota"),
}

// kindOf returns the kind of an object.
func (w *World) kindOf(o client.Object) schema.GroupVersionKind {
	kind, err := apiutil.GVKForObject(o, w.scheme)
	if err != nil {
		panic(err) // a programming error
	}
	return kind
}
