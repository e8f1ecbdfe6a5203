package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/vc-batch/vc/internal/daemon/cycleloop"
	"github.com/vc-batch/vc/internal/extender"
	"github.com/vc-batch/vc/internal/feed"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/nodemetrics"
	"github.com/vc-batch/vc/internal/outbox"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
)

// schedulerLease is the name of the scheduler's lease. It is the same as in Volcano, so that both schedulers never run
// at the same time by accident.
const schedulerLease = "vc-scheduler"

// runScheduler runs the scheduler, one term of leadership after the other.
func runScheduler(ctx context.Context, o *Options, h *health, log logr.Logger) error {
	if err := extender.RegisterPolicy(); err != nil {
		return err
	}
	registerSchedulerMetrics()
	conf := &confFile{path: o.SchedulerConf, optional: o.SchedulerConfOptional, log: log}
	if err := conf.loadAtStartup(); err != nil {
		return err // at startup an invalid file is fatal; later it is only rejected
	}
	var once sync.Once
	return runTermsUntilDone(ctx, o, schedulerLease, log, func(ctx context.Context, fence func() error) error {
		return runSchedulerTerm(ctx, o, conf, fence, h, log, func() { once.Do(func() { o.Ready(Scheduler) }) })
	})
}

// runSchedulerTerm builds all state from scratch, waits until the feed has synced, and runs the loop.
func runSchedulerTerm(ctx context.Context, o *Options, conf *confFile, fence func() error, h *health, log logr.Logger, ready func()) error {
	engine, err := conf.newEngine()
	if err != nil {
		return err
	}
	if err := ensureQueues(ctx, o, queueTries, log); err != nil {
		return err
	}
	in, err := feed.New(feed.Options{Config: o.Config, SchedulerNames: o.SchedulerNames, NoCSI: o.NoCSI, ObserveLag: observeWatchLag, Log: log})
	if err != nil {
		return err
	}
	if conf.teller, err = newConfTeller(o.Config, o.LeaseNamespace, schedulerLease, log); err != nil {
		return err
	}
	api, err := outbox.NewAPI(o.Config)
	if err != nil {
		return err
	}
	attach, err := outbox.NewAttachAPI(o.Config)
	if err != nil {
		return err
	}
	out := outbox.New(outbox.Options{
		API: measuredAPI{API: api, feed: in}, Attach: attach, SchedulerName: o.SchedulerNames[0], Fence: fence, Pressure: o.pressure, Log: log,
		Report:  func(d model.Delta) { in.Put(d) },
		Observe: observeWrite,
	})

	used, err := newUsageKeeper(o.Config, o.LeaseNamespace, out, fence, log)
	if err != nil {
		return err
	}
	plans, err := newPlanner(o, fence, conf.newWhatIfEngine, log)
	if err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer stop()
	currentOutbox.Store(out)
	defer currentOutbox.CompareAndSwap(out, nil)
	currentFeed.Store(in)
	defer currentFeed.CompareAndSwap(in, nil)
	engines := make(chan *scheduler.Engine)
	parts.Go(func() { in.Run(ctx) })
	parts.Go(func() { out.Run(ctx) })
	parts.Go(func() { conf.followFile(ctx, engines) })

	began := time.Now()
	select {
	case <-ctx.Done():
		return nil
	case <-in.Synced():
	}
	log.Info("The scheduler has read the state of the cluster", "took", time.Since(began))
	cluster := model.New()
	cluster.DefaultQueue = o.DefaultQueue
	usage, budgets, err := used.loadStoredUsage(ctx)
	if err != nil {
		return err
	}
	cluster.Apply(usage, budgets)
	parts.Go(func() { used.writePeriodically(ctx) })
	parts.Go(func() {
		nodemetrics.Run(ctx, func() config.Metrics { return *conf.metrics.Load() }, o.Config, in.Put, log)
	})
	l := &loop{
		Loop:    cycleloop.Loop{Source: in, Effects: used, Engine: engine, Cluster: cluster, Period: o.SchedulePeriod},
		engines: engines, beat: h.recordBeat, log: log,
		copies: copies{requests: plans.copies}, changedSince: in.DrainedSince,
	}
	if o.PerJobMetrics {
		l.observer.gangs = newGangSeries()
	}
	parts.Go(func() { plans.runPlanner(ctx) })
	h.expectCycles(10*o.SchedulePeriod + 30*time.Second)
	defer h.stopExpecting()
	defer deleteAllGangSeries()
	defer deleteAllQueueSeries()
	ready()
	l.runCyclesUntilDone(ctx)
	return nil
}
