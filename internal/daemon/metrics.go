package daemon

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vc-batch/vc/internal/metrics"
	"github.com/vc-batch/vc/internal/outbox"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// schedulerMetrics holds the metrics of the scheduler. Metrics that also exist in Volcano have Volcano's names, units
// and labels. The names of all others start with vc_ and follow the conventions of Prometheus.
var schedulerMetrics metrics.Set

// Buckets of histograms with Volcano's names. They contain the limits of Volcano's own buckets, 5 to 2560, so that
// queries for these limits work.
var (
	microsecondBuckets = prometheus.ExponentialBuckets(5, 2, 21)       // 5 µs to 5.2 s
	millisecondBuckets = prometheus.ExponentialBuckets(5.0/128, 2, 19) // 39 µs to 10.2 s
	podWaitBuckets     = prometheus.ExponentialBuckets(5, 2, 26)       // 5 ms to 47 h
	jobWaitBuckets     = prometheus.ExponentialBuckets(32, 2, 23)      // 32 ms to 37 h
)

// Buckets of histograms that follow the conventions of Prometheus.
var (
	computeBuckets = []float64{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
	requestBuckets = []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}
	waitBuckets    = []float64{1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 24 * 3600, 3 * 24 * 3600, 7 * 24 * 3600}
)

// Volcano's metrics of the cycle. The documentation of Volcano names the latencies of plugins and actions in
// microseconds, and newer versions of Volcano export them in milliseconds.
var (
	cycleLatency = schedulerMetrics.NewHistogram("volcano_e2e_scheduling_latency_milliseconds",
		"Duration of a scheduling cycle, from the start until its decisions are passed on.", millisecondBuckets)
	pluginMicroseconds = schedulerMetrics.NewHistogramVec("volcano_plugin_scheduling_latency_microseconds",
		"Time that a policy takes at the start (OnSessionOpen) or the end (OnSessionClose) of a cycle.", microsecondBuckets, "plugin", "OnSession")
	pluginMilliseconds = schedulerMetrics.NewHistogramVec("volcano_plugin_scheduling_latency_milliseconds",
		"The same as volcano_plugin_scheduling_latency_microseconds, in milliseconds.", millisecondBuckets, "plugin", "OnSession")
	actionMicroseconds = schedulerMetrics.NewHistogramVec("volcano_action_scheduling_latency_microseconds",
		"Duration of an action in a scheduling cycle.", microsecondBuckets, "action")
	actionMilliseconds = schedulerMetrics.NewHistogramVec("volcano_action_scheduling_latency_milliseconds",
		"The same as volcano_action_scheduling_latency_microseconds, in milliseconds.", millisecondBuckets, "action")
	taskLatency = schedulerMetrics.NewHistogram("volcano_task_scheduling_latency_milliseconds",
		"Time from the creation of a pod until the decision to bind it to a node.", podWaitBuckets)
	attempts = schedulerMetrics.NewCounterVec("volcano_schedule_attempts_total",
		"Number of attempts to schedule a gang, by result: scheduled, unschedulable, or error if an extender or the scheduler itself failed.", "result")
	victims = schedulerMetrics.NewGauge("volcano_pod_preemption_victims",
		"Number of pods evicted in the most recent cycle with evictions.")
	preemptions = schedulerMetrics.NewCounter("volcano_total_preemption_attempts",
		"Number of attempts to evict pods in favor of a pod. An action that tries this for a gang counts each pod that the gang needs.")
	waitingGangs = schedulerMetrics.NewGauge("volcano_unschedule_job_count",
		"Number of gangs that are waiting because they cannot run now.")
	stageLatency = schedulerMetrics.NewHistogramVec("volcano_scheduling_stage_duration_milliseconds",
		"Duration of a call to the API server, by stage. The only stage is Bind.", millisecondBuckets, "stage")
	evictionTransactions = schedulerMetrics.NewCounterVec("volcano_eviction_transactions_total",
		"Number of gangs for which pods were evicted, by action.", "action")
)

// Metrics that exist only in vc.
var (
	cycleSeconds = schedulerMetrics.NewHistogram("vc_cycle_duration_seconds",
		"Duration of a scheduling cycle, from the start until its decisions are passed on.", computeBuckets)
	policySeconds = schedulerMetrics.NewHistogramVec("vc_policy_duration_seconds",
		"Time that a policy takes at the start (open) or the end (close) of a cycle, by stage.", computeBuckets, "policy", "stage")
	actionSeconds = schedulerMetrics.NewHistogramVec("vc_action_duration_seconds",
		"Duration of an action in a scheduling cycle.", computeBuckets, "action")
	decisionAge = schedulerMetrics.NewHistogram("vc_decision_age_seconds",
		"Time from the arrival of the first change that a cycle handles until the decisions of the cycle are passed on.", computeBuckets)
	lastCycle = schedulerMetrics.NewGauge("vc_last_cycle_timestamp_seconds",
		"Time of the end of the most recent cycle, in seconds since 1970. It is 0 in a process that has not led.")
	queueWait = schedulerMetrics.NewHistogramVec("vc_queue_wait_seconds",
		"Time from the creation of a gang until its minimum number of pods is scheduled, by queue.", waitBuckets, "queue_name")
	bindSeconds = schedulerMetrics.NewHistogram("vc_bind_duration_seconds",
		"Time from the decision to bind a pod until the API server has confirmed it, with all retries.", requestBuckets)
	writeSeconds = schedulerMetrics.NewHistogramVec("vc_outbox_write_duration_seconds",
		"Duration of a single call to the API server, by lane: evict, bind, status, info (informational statuses) or idle (pod events and conditions).", requestBuckets, "lane")
	evictions = schedulerMetrics.NewCounterVec("vc_evictions_total",
		"Number of evicted pods, by action, by the queue that lost them, and by the queue in whose favor they were evicted (empty if there is none).",
		"action", "queue_name", "preemptor_queue")

	writes = schedulerMetrics.NewCounterVec("vc_outbox_writes_total",
		"Number of API writes made by the scheduler, by lane and outcome.", "lane", "outcome")
	changes = schedulerMetrics.NewCounter("vc_model_changes_total",
		"Number of changes applied to the scheduler's model.")
	startErrors = schedulerMetrics.NewHistogramVec("vc_estimated_start_error_seconds",
		"Seconds from the first estimated start to the actual start of gangs that waited; a negative value means that the gang started earlier than estimated.",
		[]float64{-3600, -600, -60, -10, 0, 1, 10, 60, 600, 3600, 36000}, "queue_name")
	startsUnknown = schedulerMetrics.NewCounterVec("vc_estimated_start_unknown_total",
		"Number of gangs that waited and started without an estimated start; vc_estimated_start_error_seconds counts all other gangs that waited.", "queue_name")
	confValid = schedulerMetrics.NewGauge("vc_scheduler_conf_valid",
		"1 if the current configuration file of the scheduler is in use, 0 if it was rejected and an older one is in use.")
	confReloads = schedulerMetrics.NewCounterVec("vc_scheduler_conf_reloads_total",
		"Number of changes to the scheduler's configuration file, accepted or rejected.", "result")
)

// currentOutbox is the outbox of the current term of leadership, or nil.
var currentOutbox atomic.Pointer[outbox.Outbox]

func init() {
	schedulerMetrics.NewGaugeFunc("vc_outbox_unfinished_writes",
		"Number of API writes that the scheduler has decided and that are not done yet, by lane.", "lane",
		func() map[string]float64 {
			return readBacklogs(func(b *outbox.Backlog) float64 { return float64(b.Writes) })
		})
	schedulerMetrics.NewGaugeFunc("vc_outbox_oldest_write_age_seconds",
		"Age of the oldest API write that is not done yet, by lane; 0 if there is none.", "lane",
		func() map[string]float64 {
			return readBacklogs(func(b *outbox.Backlog) float64 { return b.Oldest.Seconds() })
		})
}

// readBacklogs returns a value of each lane of the current outbox.
func readBacklogs(value func(*outbox.Backlog) float64) map[string]float64 {
	out := currentOutbox.Load()
	if out == nil {
		return nil
	}
	values := map[string]float64{}
	for _, b := range out.Backlogs() {
		values[b.Lane] = value(&b)
	}
	return values
}

// The results of an attempt to schedule a gang, with Volcano's names.
const (
	resultScheduled     = "scheduled"
	resultUnschedulable = "unschedulable"
	resultError         = "error"
)

// registerSchedulerMetrics exports the scheduler's metrics. The results of attempts get their series at once, because a
// rate is unknown until the second sample.
func registerSchedulerMetrics() {
	schedulerMetrics.Register()
	for _, result := range []string{resultScheduled, resultUnschedulable, resultError} {
		attempts.WithLabelValues(result)
	}
}

// measureStage measures a stage of a cycle. The returned function ends the measurement.
func measureStage(stage scheduler.Stage, name string) (end func()) {
	began := time.Now()
	return func() { observeStage(stage, name, time.Since(began)) }
}

func observeStage(stage scheduler.Stage, name string, took time.Duration) {
	if stage == scheduler.RunAction {
		actionMicroseconds.WithLabelValues(name).Observe(toMicroseconds(took))
		actionMilliseconds.WithLabelValues(name).Observe(toMilliseconds(took))
		actionSeconds.WithLabelValues(name).Observe(took.Seconds())
		return
	}
	session := "OnSessionOpen"
	if stage == scheduler.ClosePolicy {
		session = "OnSessionClose"
	}
	pluginMicroseconds.WithLabelValues(name, session).Observe(toMicroseconds(took))
	pluginMilliseconds.WithLabelValues(name, session).Observe(toMilliseconds(took))
	policySeconds.WithLabelValues(name, string(stage)).Observe(took.Seconds())
}

// cycleObserver records the metrics of cycles.
type cycleObserver struct {
	gangs *gangSeries // nil without metrics per job
}

// observeCycle records a cycle that handled changes. took is its duration.
func (o *cycleObserver) observeCycle(deltas int, d *decision.Decisions, took time.Duration) {
	changes.Add(float64(deltas))
	if d.Stats.GangsTried > 0 || deltas > 0 {
		cycleLatency.Observe(toMilliseconds(took))
		cycleSeconds.Observe(took.Seconds())
	}
	attempts.WithLabelValues(resultScheduled).Add(float64(d.Stats.GangsPlaced))
	attempts.WithLabelValues(resultError).Add(float64(d.Stats.GangsFailed))
	attempts.WithLabelValues(resultUnschedulable).Add(float64(d.Stats.GangsTried - d.Stats.GangsPlaced - d.Stats.GangsFailed))
	waitingGangs.Set(float64(d.Stats.GangsParked))
	preemptions.Add(float64(d.Stats.PreemptionAttempts))
	if d.Stats.Victims > 0 {
		victims.Set(float64(d.Stats.Victims))
	}
	for _, waited := range d.Stats.TaskWaits {
		taskLatency.Observe(toMilliseconds(waited))
	}
	observeDevices(d.Stats.Devices, o.gangs != nil)
	observeQueues(&d.Stats)
	observeStarts(d.Stats.Starts, d.Now)
	o.gangs.observeGangs(&d.Stats, d.Now)
	observeEvictions(d.Evicts)
	lastCycle.Set(unixSeconds(d.Now.Add(took)))
}

// observeFailedCycle records a cycle that ended with a panic. The gang that was being tried is the attempt that failed.
func observeFailedCycle() { attempts.WithLabelValues(resultError).Inc() }

// observeStarts records how long gangs waited that reached their minimum, and how good their forecasts were.
func observeStarts(starts []decision.Start, now time.Time) {
	for i := range starts {
		start := &starts[i]
		waited := now.Sub(start.Created)
		jobLatency.Observe(toMilliseconds(waited))
		queueWait.WithLabelValues(start.Queue).Observe(waited.Seconds())
		switch {
		case start.Foretold:
			startErrors.WithLabelValues(start.Queue).Observe(start.Late.Seconds())
		case start.Waited:
			startsUnknown.WithLabelValues(start.Queue).Inc()
		}
	}
}

// observeEvictions counts the evicted pods, and the gangs for which they are evicted.
func observeEvictions(evicts []decision.Evict) {
	type transaction struct{ action, preemptor string }
	seen := map[transaction]bool{}
	for i := range evicts {
		e := &evicts[i]
		evictions.WithLabelValues(e.Reason, e.Queue, e.PreemptorQueue).Inc()
		t := transaction{e.Reason, e.Preemptor.Key()}
		if !seen[t] {
			seen[t] = true
			evictionTransactions.WithLabelValues(t.action).Inc()
		}
	}
}

func observeWrite(a outbox.Attempt) {
	writes.WithLabelValues(a.Lane, a.Outcome).Inc()
	if a.Took > 0 { // the outcome is that of a call, and not of a write that was dropped
		writeSeconds.WithLabelValues(a.Lane).Observe(a.Took.Seconds())
	}
	if a.Lane == "bind" && a.Outcome == "ok" {
		stageLatency.WithLabelValues("Bind").Observe(toMilliseconds(a.Took))
		bindSeconds.Observe(a.Waited.Seconds())
	}
}

func toMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func toMicroseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func unixSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
