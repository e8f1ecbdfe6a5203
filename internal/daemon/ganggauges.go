package daemon

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// mostGangs is the maximum number of gangs with their own series. It prevents tens of thousands of small jobs from
// filling the memory. Further gangs appear only in totals.
const mostGangs = 10_000

// Volcano's metrics for individual gangs. Volcano labels some of them only with the PodGroup's name, which is not
// unique; these metrics use the namespace and the name.
var (
	gangUnready = registry.NewGaugeVec(prometheus.GaugeOpts{
		Name: "volcano_unschedule_task_count", Help: "Number of pods that a gang still needs to reach its minimum.",
	}, []string{"job_id"})
	gangTries = registry.NewCounterVec(prometheus.CounterOpts{
		Name: "volcano_job_retry_counts", Help: "Number of failed attempts to schedule a gang.",
	}, []string{"job_id"})
	gangShare = registry.NewGaugeVec(prometheus.GaugeOpts{
		Name: "volcano_job_share", Help: "Dominant share of a gang: the largest fraction of any cluster resource that it uses.",
	}, []string{"job_ns", "job_id"})
	gangLatency = registry.NewHistogram(prometheus.HistogramOpts{
		Name: "volcano_e2e_job_scheduling_latency_milliseconds", Buckets: prometheus.ExponentialBuckets(1, 4, 14), // 1 ms to 18 h
		Help: "Time from the creation of a gang until its minimum number of pods is scheduled.",
	})
	gangDuration = newGangTimeGauge("duration", "Time from a gang's creation to the placement of its minimum number of pods, in milliseconds")
	gangCreated  = newGangTimeGauge("start_time", "Creation time of a gang, in seconds since 1970")
	gangPlaced   = newGangTimeGauge("last_time", "Time when a gang's minimum number of pods was last placed, in seconds since 1970")

	evictionTransactions = registry.NewCounterVec(prometheus.CounterOpts{
		Name: "volcano_eviction_transactions_total", Help: "Number of gangs for which pods were evicted, by action.",
	}, []string{"action"})

	gangs = map[string]bool{} // gangs with their own series
)

func newGangTimeGauge(what, help string) *prometheus.GaugeVec {
	return registry.NewGaugeVec(prometheus.GaugeOpts{
		Name: "volcano_e2e_job_scheduling_" + what, Help: help + ".",
	}, []string{"job_name", "queue", "job_namespace"})
}

// claimOwnSeries reports whether a gang has its own series. A new gang gets its own series unless there are mostGangs
// already.
func claimOwnSeries(gang string) bool {
	if !gangs[gang] && len(gangs) < mostGangs {
		gangs[gang] = true
	}
	return gangs[gang]
}

// observeGangs updates the series of the gangs that changed and removes the series of deleted gangs.
func observeGangs(s *decision.Stats, now time.Time) {
	for _, gone := range s.GangsGone {
		if gangs[gone.Key()] {
			deleteGangSeries(gone)
		}
	}
	for i := range s.Gangs {
		g := &s.Gangs[i]
		key := g.Gang.Key()
		if !claimOwnSeries(key) {
			continue
		}
		if g.Unready > 0 {
			gangUnready.WithLabelValues(key).Set(float64(g.Unready))
		} else {
			gangUnready.DeleteLabelValues(key)
		}
		if g.Tries > 0 && g.Unready > 0 {
			gangTries.WithLabelValues(key).Add(float64(g.Tries))
		}
		gangShare.WithLabelValues(g.Gang.Namespace, g.Gang.Name).Set(g.Share)
	}
	for i := range s.Starts {
		start := &s.Starts[i]
		took := toMilliseconds(now.Sub(start.Created))
		gangLatency.Observe(took)
		if claimOwnSeries(start.Gang.Key()) {
			labels := []string{start.Gang.Name, start.Queue, start.Gang.Namespace}
			gangDuration.WithLabelValues(labels...).Set(took)
			gangCreated.WithLabelValues(labels...).Set(unixSeconds(start.Created))
			gangPlaced.WithLabelValues(labels...).Set(unixSeconds(now))
		}
	}
}

func deleteGangSeries(g decision.Object) {
	gangUnready.DeleteLabelValues(g.Key())
	gangTries.DeleteLabelValues(g.Key())
	gangShare.DeleteLabelValues(g.Namespace, g.Name)
	for _, vec := range []*prometheus.GaugeVec{gangDuration, gangCreated, gangPlaced} {
		vec.DeletePartialMatch(prometheus.Labels{"job_name": g.Name, "job_namespace": g.Namespace})
	}
	delete(gangs, g.Key())
}

// deleteAllGangSeries removes the series of all gangs. It runs when leadership ends, because this process no longer has
// current values.
func deleteAllGangSeries() {
	for _, vec := range []interface{ Reset() }{gangUnready, gangTries, gangShare, gangDuration, gangCreated, gangPlaced} {
		vec.Reset()
	}
	clear(gangs)
}

// observeEvictions counts the gangs for which pods are evicted.
func observeEvictions(evicts []decision.Evict) {
	type side struct{ action, taker string }
	seen := map[side]bool{}
	for i := range evicts {
		s := side{evicts[i].Reason, evicts[i].Preemptor.Key()}
		if !seen[s] {
			seen[s] = true
			evictionTransactions.WithLabelValues(s.action).Inc()
		}
	}
}

func unixSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
