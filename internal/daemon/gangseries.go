package daemon

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// mostGangs is the maximum number of gangs with their own series. It prevents tens of thousands of small jobs from
// filling the memory. Further gangs appear only in totals.
const mostGangs = 10_000

// Volcano's metrics for gangs. All but jobLatency have series for individual gangs, and only if the administrator asks
// for metrics per job. Volcano labels some of them only with the PodGroup's name, which is not unique; these metrics
// use the namespace and the name.
var (
	jobLatency = schedulerMetrics.NewHistogram("volcano_e2e_job_scheduling_latency_milliseconds",
		"Time from the creation of a gang until its minimum number of pods is scheduled.", jobWaitBuckets)
	gangUnready = schedulerMetrics.NewGaugeVec("volcano_unschedule_task_count",
		"Number of pods that a gang still needs to reach its minimum.", "job_id")
	gangTries = schedulerMetrics.NewCounterVec("volcano_job_retry_counts",
		"Number of failed attempts to schedule a gang.", "job_id")
	gangShare = schedulerMetrics.NewGaugeVec("volcano_job_share",
		"Dominant share of a gang: the largest fraction of any cluster resource that it uses.", "job_ns", "job_id")
	gangDuration = newGangTimeGauge("duration", "Time from a gang's creation to the placement of its minimum number of pods, in milliseconds.")
	gangCreated  = newGangTimeGauge("start_time", "Creation time of a gang, in seconds since 1970.")
	gangPlaced   = newGangTimeGauge("last_time", "Time when a gang's minimum number of pods was last placed, in seconds since 1970.")
)

func newGangTimeGauge(what, help string) *prometheus.GaugeVec {
	return schedulerMetrics.NewGaugeVec("volcano_e2e_job_scheduling_"+what, help, "job_name", "queue", "job_namespace")
}

// gangSeries maintains the series of individual gangs. A nil gangSeries creates none.
type gangSeries struct {
	// queueOf maps the key of each gang with series to the queue in the labels of its times, or to "" if it has no
	// times yet.
	queueOf map[string]string
	pruned  time.Time // when prune last looked for deleted gangs
}

func newGangSeries() *gangSeries { return &gangSeries{queueOf: map[string]string{}} }

// claimSeries reports whether a gang has its own series. A new gang gets its own series unless there are mostGangs
// already.
func (g *gangSeries) claimSeries(gang string) bool {
	_, has := g.queueOf[gang]
	if !has && len(g.queueOf) < mostGangs {
		g.queueOf[gang], has = "", true
	}
	return has
}

// observeGangs updates the series of the gangs that changed and removes the series of deleted gangs.
func (g *gangSeries) observeGangs(s *decision.Stats, now time.Time) {
	if g == nil {
		return
	}
	for _, gone := range s.GangsGone {
		g.deleteSeries(gone)
	}
	for i := range s.Gangs {
		g.observeFigures(&s.Gangs[i])
	}
	for i := range s.Starts {
		g.observeStart(&s.Starts[i], now)
	}
}

func (g *gangSeries) observeFigures(f *decision.GangFigures) {
	key := f.Gang.Key()
	if !g.claimSeries(key) {
		return
	}
	if f.Unready > 0 {
		gangUnready.WithLabelValues(key).Set(float64(f.Unready))
	} else {
		gangUnready.DeleteLabelValues(key)
	}
	if f.Tries > 0 && f.Unready > 0 {
		gangTries.WithLabelValues(key).Add(float64(f.Tries))
	}
	gangShare.WithLabelValues(f.Gang.Namespace, f.Gang.Name).Set(f.Share)
}

func (g *gangSeries) observeStart(start *decision.Start, now time.Time) {
	key := start.Gang.Key()
	if !g.claimSeries(key) {
		return
	}
	if before := g.queueOf[key]; before != "" && before != start.Queue {
		deleteGangTimes(start.Gang, before)
	}
	g.queueOf[key] = start.Queue
	labels := []string{start.Gang.Name, start.Queue, start.Gang.Namespace}
	gangDuration.WithLabelValues(labels...).Set(toMilliseconds(now.Sub(start.Created)))
	gangCreated.WithLabelValues(labels...).Set(unixSeconds(start.Created))
	gangPlaced.WithLabelValues(labels...).Set(unixSeconds(now))
}

// pruneEvery is the interval at which series of deleted gangs are looked for.
const pruneEvery = time.Minute

// prune removes the series of gangs that are no longer in the model. A new engine, after a change of the configuration,
// does not report the deletion of gangs whose figures only the previous engine had reported.
func (g *gangSeries) prune(now time.Time, c *model.Cluster) {
	if g == nil || now.Sub(g.pruned) < pruneEvery {
		return
	}
	g.pruned = now
	for key := range g.queueOf {
		if gang := c.Gangs[key]; gang == nil || !gang.Known {
			namespace, name, _ := strings.Cut(key, "/")
			g.deleteSeries(decision.Object{Namespace: namespace, Name: name})
		}
	}
}

// deleteSeries removes all series of a gang.
func (g *gangSeries) deleteSeries(gang decision.Object) {
	key := gang.Key()
	queue, has := g.queueOf[key]
	if !has {
		return
	}
	gangUnready.DeleteLabelValues(key)
	gangTries.DeleteLabelValues(key)
	gangShare.DeleteLabelValues(gang.Namespace, gang.Name)
	deleteGangTimes(gang, queue)
	delete(g.queueOf, key)
}

// deleteGangTimes removes the times of a gang in a queue. All labels are given, because a deletion by some of them looks
// at every series.
func deleteGangTimes(gang decision.Object, queue string) {
	for _, vec := range []*prometheus.GaugeVec{gangDuration, gangCreated, gangPlaced} {
		vec.DeleteLabelValues(gang.Name, queue, gang.Namespace)
	}
}

// deleteAllGangSeries removes the series of all gangs. It runs when leadership ends, because this process no longer has
// current values.
func deleteAllGangSeries() {
	for _, vec := range []interface{ Reset() }{gangUnready, gangTries, gangShare, gangDuration, gangCreated, gangPlaced} {
		vec.Reset()
	}
}
