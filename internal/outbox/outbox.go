package outbox

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/vc-batch/vc/internal/backpressure"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// Options configures an Outbox. API, SchedulerName and Report are required.
type Options struct {
	API API
	// Attach writes the volumes and devices of pods before the pods are bound. If it is nil, binds of such pods fail.
	Attach AttachAPI
	// SchedulerName is the name of the scheduler, used as the source of events and as the first word of eviction
	// messages.
	SchedulerName string
	// Report receives the deltas of writes that failed. It must not block.
	Report func(model.Delta)
	// Fence returns an error if this process may no longer write. A nil Fence permits all writes.
	Fence func() error
	// Observe is called for every attempt to perform a write, for metrics. It may be nil.
	Observe func(Attempt)
	// Pressure throttles purely informational writes (infoLane). If it is nil, they are never throttled.
	Pressure *backpressure.Throttle
	// Log receives log entries. The zero value discards them.
	Log logr.Logger
	// Clock supplies the time and delays retries and reports. If it is nil, the clock of the system is used.
	Clock clock.WithDelayedExecution
}

// Attempt describes one attempt to perform a write.
type Attempt struct {
	Lane    string        // evict, bind, status, info, idle
	Outcome string        // ok, retried, superseded, refused, dropped
	Took    time.Duration // duration of the call alone
	Waited  time.Duration // from Put to the end of the call
}

// Outbox carries out decisions. A new Outbox must be created with New for each term of leadership.
type Outbox struct {
	o      Options
	engine *engine
	events *eventLog
	// attaching counts the binds that are waiting for volumes, devices or a check of their PodGroup.
	attaching atomic.Int32
	pauses    failurePauses
}

// New creates an outbox. The outbox writes nothing until Run is called.
func New(o Options) *Outbox {
	if o.Fence == nil {
		o.Fence = func() error { return nil }
	}
	if o.Observe == nil {
		o.Observe = func(Attempt) {}
	}
	if o.Log.GetSink() == nil {
		o.Log = logr.Discard()
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	observe := func(w *write, took time.Duration, outcome string) {
		o.Observe(Attempt{Lane: w.lane.String(), Outcome: outcome, Took: took, Waited: o.Clock.Since(w.queued)})
	}
	out := &Outbox{o: o, engine: newEngine(&o, observe), events: newEventLog()}
	if o.Attach != nil {
		out.o.Attach = &fencedAttachAPI{AttachAPI: o.Attach, checkFence: out.checkFence}
	}
	return out
}

// Run carries out writes until ctx is done, and returns after the last call has ended. It drops queued writes,
// because the next leader makes its own decisions.
func (o *Outbox) Run(ctx context.Context) { o.engine.runUntilStopped(ctx) }

// TakeWrite returns a function that carries out the write to send now, or nil if no write may be sent. Run calls it
// from many goroutines. A simulation calls it instead of Run, together with OpenIdleLane.
func (o *Outbox) TakeWrite() (perform func(context.Context)) {
	w := o.engine.takeWrite()
	if w == nil {
		return nil
	}
	return func(ctx context.Context) { o.engine.performWrite(ctx, w) }
}

// OpenIdleLane decides whether pod events and pod conditions may be sent until the next call. It must be called every
// IdleTick.
func (o *Outbox) OpenIdleLane() { o.engine.openIdleLane() }

// HasQueuedWrites reports whether any write is queued, including pod events. Writes in flight do not count.
func (o *Outbox) HasQueuedWrites() bool { return o.engine.hasQueuedWrites() }

// HasSettledAll reports whether all writes except pod events are settled.
func (o *Outbox) HasSettledAll() bool { return o.attaching.Load() == 0 && o.engine.hasNothingLeft() }

// Put queues the writes for the decisions of a cycle. It does not block.
func (o *Outbox) Put(d *decision.Decisions) {
	now := o.o.Clock.Now()
	writes := make([]*write, 0, len(d.Binds)+2*len(d.Evicts)+len(d.Gangs)+len(d.Queues)+len(d.PodConditions)+len(d.Events))
	for i := range d.Evicts {
		writes = append(writes, o.newEvictWrites(&d.Evicts[i], now)...)
	}
	for i := range d.Binds {
		if d.Binds[i].Check == nil {
			writes = append(writes, o.firstBindWrite(&d.Binds[i], now))
		}
	}
	writes = append(writes, o.verifyWrites(d.Binds)...)
	for i := range d.Ungates {
		writes = append(writes, o.newUngateWrite(d.Ungates[i]))
	}
	for i := range d.Gangs {
		writes = append(writes, o.gangStatusWrite(&d.Gangs[i]))
	}
	for i := range d.HyperNodes {
		writes = append(writes, o.hyperNodeStatusWrite(&d.HyperNodes[i]))
	}
	for i := range d.Queues {
		writes = append(writes, o.queueStatusWrite(&d.Queues[i]))
	}
	for i := range d.Nominations {
		if d.Nominations[i].Publish {
			writes = append(writes, o.newNominationWrite(&d.Nominations[i]))
		}
	}
	for i := range d.PodConditions {
		writes = append(writes, o.podConditionWrite(&d.PodConditions[i], now))
	}
	for i := range d.Events {
		e := &d.Events[i]
		when := statusLane
		if e.Type == corev1.EventTypeNormal {
			when = idleLane // the status already contains this information
		}
		about := podGroupReference(e.Gang)
		if e.Queue.Name != "" {
			about = queueReference(e.Queue)
		}
		writes = append(writes, o.newEventWrite(when, about, e.Type, e.Reason, e.Message, now))
	}
	o.engine.queueWrites(writes...)
}

// reportAfterPause reports a failed write after a delay, which keeps the scheduler from repeating a failing decision in a
// tight loop.
func (o *Outbox) reportAfterPause(err error, delta model.Delta) {
	o.o.Clock.AfterFunc(o.reportDelay(err, delta), func() { o.o.Report(delta) })
}

// reportDelay returns the delay before a failed write is reported.
func (o *Outbox) reportDelay(err error, delta model.Delta) time.Duration {
	first := firstFailurePause
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		first = firstConflictPause
	}
	return o.pauses.nextPause(withoutError(delta), first, o.o.Clock.Now())
}
