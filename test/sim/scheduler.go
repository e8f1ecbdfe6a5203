package sim

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/daemon/cycleloop"
	"github.com/vc-batch/vc/internal/feed"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/outbox"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/test/apiserver"
)

// schedulerTimeout is how long the outbox waits for a response.
const schedulerTimeout = 15 * time.Second

// schedulerPeriod is the maximum time between two cycles.
const schedulerPeriod = time.Second

// shortestCycle and longestCycle limit the duration of a cycle.
const (
	shortestCycle = 300 * time.Microsecond
	longestCycle  = 5 * time.Millisecond
)

// schedulerTerm is one term of leadership of a scheduler: feed, loop and outbox.
type schedulerTerm struct {
	process *process
	feed    *feed.Feed
	outbox  *outbox.Outbox
	loop    *cycleloop.Loop

	waiting         bool   // the loop waits for a signal
	due             uint64 // number of the last scheduled cycle, so that earlier ones are dropped
	isIdleScheduled bool   // a call that sends the writes of the idle lane is scheduled
}

// startSchedulerTerm builds all state from scratch and starts to watch.
func startSchedulerTerm(p *process, user string, fence func() error) {
	w := p.world
	t := &schedulerTerm{process: p}
	l := w.newLink(p, user, schedulerTimeout, nil) // the outbox checks the fence itself
	api := apiserver.OutboxAPI{Send: l.send}
	t.feed = feed.NewWithoutWatches(feed.Options{SchedulerNames: []string{keys.DefaultSchedulerName}})
	t.outbox = outbox.New(outbox.Options{
		API: api, Attach: api, SchedulerName: keys.DefaultSchedulerName, Fence: fence,
		Report: func(d model.Delta) { t.feed.Put(d) },
		Clock:  &processClock{process: p, afterwards: t.continueWork},
	})
	engine, err := scheduler.New(w.schedulerConfig)
	if err != nil {
		panic(err) // the configurations are constants
	}
	cluster := model.New()
	cluster.DefaultQueue = keys.DefaultQueue
	t.loop = &cycleloop.Loop{Source: t.feed, Effects: t.outbox, Engine: engine, Cluster: cluster, Period: schedulerPeriod}
	for _, store := range t.feed.Stores() {
		kind, err := apiutil.GVKForObject(store.Sample.(runtime.Object), w.scheme)
		if err != nil {
			panic(err)
		}
		w.watchKind(p, user, kind, &feedReceiver{store: store, term: t}, t.startIfSynced)
	}
}

// startIfSynced runs the first cycle when every kind has been listed.
func (t *schedulerTerm) startIfSynced() {
	select {
	case <-t.feed.Synced():
		t.process.world.trace("%s: has read the state of the cluster", t.process.name)
		t.scheduleCycle(0)
	default:
	}
}

// scheduleCycle runs a cycle after a pause instead of at the time that was scheduled before.
func (t *schedulerTerm) scheduleCycle(pause time.Duration) {
	t.due++
	number := t.due
	t.process.after(pause, func() {
		if number == t.due {
			t.runCycle()
		}
	})
}

func (t *schedulerTerm) runCycle() {
	w, now := t.process.world, t.process.wallTime()
	d, _ := t.loop.RunCycle(now)
	w.checkDecisions(&d, t.loop.Cluster)
	took := between(w.schedulerRandom, shortestCycle, longestCycle)
	if d.Again {
		t.waiting = false
		t.scheduleCycle(took)
	} else {
		t.waiting = true
		t.scheduleCycle(took + t.loop.LongestPause(now))
	}
	t.continueWork()
}

// continueWork sends the writes that may be sent now, and schedules the next cycle if there are changes.
func (t *schedulerTerm) continueWork() {
	for perform := t.outbox.TakeWrite(); perform != nil; perform = t.outbox.TakeWrite() {
		t.process.spawn(func() { perform(context.Background()) }, t.continueWork)
	}
	if t.outbox.HasQueuedWrites() && !t.isIdleScheduled {
		t.isIdleScheduled = true
		t.process.after(outbox.IdleTick, func() {
			t.isIdleScheduled = false
			t.outbox.OpenIdleLane()
			t.continueWork()
		})
	}
	if t.waiting && len(t.feed.Signal()) > 0 {
		t.waiting = false
		t.scheduleCycle(t.loop.CoalescingWindow(shortestCycle))
	}
}

// feedReceiver delivers the objects of a reflector to a store of the feed, as client-go's reflector does.
type feedReceiver struct {
	store feed.Store
	term  *schedulerTerm
}

func (r *feedReceiver) replace(objects []client.Object) {
	r.check(r.store.Replace(r.transform(objects), ""))
}

// transform converts listed objects, as client-go's reflector does while a list streams in.
func (r *feedReceiver) transform(objects []client.Object) []any {
	transform := func(o any) (any, error) { return o, nil }
	if store, ok := r.store.ReflectorStore.(cache.TransformingStore); ok {
		transform = store.Transformer()
	}
	list := make([]any, len(objects))
	for i, o := range objects {
		transformed, err := transform(o.DeepCopyObject()) // the stores may modify their objects
		r.check(err)
		list[i] = transformed
	}
	return list
}

// receivePart converts the objects of a part of a list.
func (r *feedReceiver) receivePart(objects []client.Object) { r.transform(objects) }

func (r *feedReceiver) apply(c apiserver.Change) {
	switch {
	case c.Object == nil:
		r.check(r.store.Delete(c.Old))
	case c.Old == nil:
		r.check(r.store.Add(c.Object.DeepCopyObject()))
	default:
		r.check(r.store.Update(c.Object.DeepCopyObject()))
	}
}

// check continues the scheduler's work after a delivery.
func (r *feedReceiver) check(err error) {
	if err != nil {
		panic(err) // the stores of the feed return no errors
	}
	r.term.continueWork()
}

var _ cache.ReflectorStore = feed.Store{}
