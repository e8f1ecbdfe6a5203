package daemon

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/vc-batch/vc/internal/outbox"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// registry creates metrics and registers them.
var registry = promauto.With(metrics.Registry)

// Metrics that also exist in Volcano have Volcano's names. The names of all others start with vc_.
var (
	millisecondBuckets = prometheus.ExponentialBuckets(0.05, 2, 18) // 50 µs to 6.5 s

	cycleLatency = registry.NewHistogram(prometheus.HistogramOpts{
		Name: "volcano_e2e_scheduling_latency_milliseconds", Buckets: millisecondBuckets,
		Help: "Duration of a scheduling cycle, from the start until its decisions are passed on.",
	})
	policyLatency = registry.NewHistogramVec(prometheus.HistogramOpts{
		Name: "volcano_plugin_scheduling_latency_milliseconds", Buckets: millisecondBuckets,
		Help: "Time that a policy takes to prepare for a cycle.",
	}, []string{"plugin", "OnSession"})
	actionLatency = registry.NewHistogramVec(prometheus.HistogramOpts{
		Name: "volcano_action_scheduling_latency_milliseconds", Buckets: millisecondBuckets,
		Help: "Duration of an action in a scheduling cycle.",
	}, []string{"action"})
	attempts = registry.NewCounterVec(prometheus.CounterOpts{
		Name: "volcano_schedule_attempts_total",
		Help: "Number of attempts to schedule a gang, by result: scheduled or unschedulable.",
	}, []string{"result"})
	victims = registry.NewGauge(prometheus.GaugeOpts{
		Name: "volcano_pod_preemption_victims", Help: "Number of pods evicted in the most recent cycle with evictions.",
	})
	preemptions = registry.NewCounter(prometheus.CounterOpts{
		Name: "volcano_total_preemption_attempts", Help: "Number of cycles that evicted pods.",
	})
	waitingGangs = registry.NewGauge(prometheus.GaugeOpts{
		Name: "volcano_unschedule_job_count", Help: "Number of gangs that are waiting because they cannot run now.",
	})
	stageLatency = registry.NewHistogramVec(prometheus.HistogramOpts{
		Name: "volcano_scheduling_stage_duration_milliseconds", Buckets: millisecondBuckets,
		Help: "Duration of a call to the API server, by stage.",
	}, []string{"stage"})
	bindLatency = registry.NewHistogramVec(prometheus.HistogramOpts{
		Name: "volcano_task_scheduling_latency_milliseconds", Buckets: millisecondBuckets,
		Help: "Time from the decision about a pod to the response of the API server, by stage.",
	}, []string{"stage"})

	writes = registry.NewCounterVec(prometheus.CounterOpts{
		Name: "vc_outbox_writes_total", Help: "Number of API writes made by the scheduler, by lane and outcome.",
	}, []string{"lane", "outcome"})
	changes = registry.NewCounter(prometheus.CounterOpts{
		Name: "vc_model_changes_total", Help: "Number of changes applied to the scheduler's model.",
	})
	startErrors = registry.NewHistogramVec(prometheus.HistogramOpts{
		Name: "vc_estimated_start_error_seconds", Help: "Seconds from the first estimated start to the actual start of gangs that waited; a negative value means that the gang started earlier than estimated.",
		Buckets: []float64{-3600, -600, -60, -10, 0, 1, 10, 60, 600, 3600, 36000},
	}, []string{"queue_name"})
	startsUnknown = registry.NewCounterVec(prometheus.CounterOpts{
		Name: "vc_estimated_start_unknown_total", Help: "Number of gangs that waited and started without an estimated start; vc_estimated_start_error_seconds counts all other gangs that waited.",
	}, []string{"queue_name"})
	confValid = registry.NewGauge(prometheus.GaugeOpts{
		Name: "vc_scheduler_conf_valid", Help: "1 if the current configuration file of the scheduler is in use, 0 if it was rejected and an older one is in use.",
	})
	confReloads = registry.NewCounterVec(prometheus.CounterOpts{
		Name: "vc_scheduler_conf_reloads_total", Help: "Number of changes to the scheduler's configuration file, accepted or rejected.",
	}, []string{"result"})
)

// measureStages measures the stages of a cycle. The returned function ends the measurement.
func measureStages(stage, name string) (end func()) {
	began := time.Now()
	return func() {
		took := toMilliseconds(time.Since(began))
		if stage == "action" {
			actionLatency.WithLabelValues(name).Observe(took)
			return
		}
		policyLatency.WithLabelValues(name, "OnSessionOpen").Observe(took)
	}
}

func observeCycle(deltas int, d *decision.Decisions, took time.Duration) {
	changes.Add(float64(deltas))
	if d.Stats.GangsTried > 0 || deltas > 0 {
		cycleLatency.Observe(toMilliseconds(took))
	}
	attempts.WithLabelValues("scheduled").Add(float64(d.Stats.GangsPlaced))
	attempts.WithLabelValues("unschedulable").Add(float64(d.Stats.GangsTried - d.Stats.GangsPlaced))
	waitingGangs.Set(float64(d.Stats.GangsParked))
	if d.Stats.Victims > 0 {
		victims.Set(float64(d.Stats.Victims))
		preemptions.Inc()
	}
	observeDevices(d.Stats.Devices)
	observeQueues(&d.Stats)
	observeGangs(&d.Stats, d.Now)
	observeEvictions(d.Evicts)
	for i := range d.Stats.Starts {
		switch start := &d.Stats.Starts[i]; {
		case start.Foretold:
			startErrors.WithLabelValues(start.Queue).Observe(start.Late.Seconds())
		case start.Waited:
			startsUnknown.WithLabelValues(start.Queue).Inc()
		}
	}
}

func observeWrite(a outbox.Attempt) {
	writes.WithLabelValues(a.Lane, a.Outcome).Inc()
	if a.Lane == "bind" && a.Outcome == "ok" {
		stageLatency.WithLabelValues("Bind").Observe(toMilliseconds(a.Took))
		bindLatency.WithLabelValues("Bind").Observe(toMilliseconds(a.Waited))
	}
}

func toMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
