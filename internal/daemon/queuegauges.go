package daemon

import (
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// Volcano's gauges for queues.
var (
	queueAmounts = []*resourceGauges{
		newQueueGauges("allocated", "Resources used by the queue's pods", false, func(q *decision.QueueFigures) corev1.ResourceList { return q.Allocated }),
		newQueueGauges("request", "Resources used and requested by the queue's gangs", false, func(q *decision.QueueFigures) corev1.ResourceList { return q.Request }),
		newQueueGauges("inqueue", "Resources reserved for admitted gangs that have no nodes", false, func(q *decision.QueueFigures) corev1.ResourceList { return q.Inqueue }),
		newQueueGauges("deserved", "Deserved share of the queue", false, func(q *decision.QueueFigures) corev1.ResourceList { return q.Deserved }),
		newQueueGauges("capacity", "Capability in the queue's spec; missing if the queue has no capability", true, func(q *decision.QueueFigures) corev1.ResourceList { return q.Capacity }),
		newQueueGauges("real_capacity", "Maximum that the queue can use, given the guarantees of other queues; missing if the queue has no limit", true, func(q *decision.QueueFigures) corev1.ResourceList { return q.RealCapacity }),
	}
	queueShare = schedulerMetrics.NewGaugeVec("volcano_queue_share",
		"Used fraction of the queue's deserved share, for the resource with the largest fraction.", "queue_name")
	queueWeight   = schedulerMetrics.NewGaugeVec("volcano_queue_weight", "Weight of the queue.", "queue_name")
	queueOverused = schedulerMetrics.NewGaugeVec("volcano_queue_overused",
		"1 if the queue currently gets no more resources, or uses more than its deserved share; otherwise 0.", "queue_name")
)

// resourceGauges holds Volcano's three gauges for one kind of amount, such as the allocated resources of a queue.
type resourceGauges struct {
	cpu, memory, scalar *prometheus.GaugeVec
	of                  func(*decision.QueueFigures) corev1.ResourceList
	// limit is true if a resource without an amount is unlimited and not zero.
	limit bool
	// scalars holds the resources that have a series, by queue.
	scalars map[string]map[corev1.ResourceName]bool
}

func newQueueGauges(what, help string, limit bool, of func(*decision.QueueFigures) corev1.ResourceList) *resourceGauges {
	gauge := func(resource, unit string, labels ...string) *prometheus.GaugeVec {
		return schedulerMetrics.NewGaugeVec("volcano_queue_"+what+"_"+resource, help+". Unit: "+unit+".", append([]string{"queue_name"}, labels...)...)
	}
	return &resourceGauges{
		cpu: gauge("milli_cpu", "thousandths of a CPU"), memory: gauge("memory_bytes", "bytes"), scalar: gauge("scalar_resources", "the unit of the resource", "resource"),
		of: of, limit: limit, scalars: map[string]map[corev1.ResourceName]bool{},
	}
}

func (g *resourceGauges) setQueueGauges(q *decision.QueueFigures) {
	amounts := g.of(q)
	one := func(vec *prometheus.GaugeVec, name corev1.ResourceName, value float64) {
		if _, named := amounts[name]; !named && g.limit {
			vec.DeleteLabelValues(q.Queue)
			return
		}
		vec.WithLabelValues(q.Queue).Set(value)
	}
	one(g.cpu, corev1.ResourceCPU, float64(amounts.Cpu().MilliValue()))
	one(g.memory, corev1.ResourceMemory, float64(amounts.Memory().Value()))
	had := g.scalars[q.Queue]
	for name := range had { // resources whose amount has become zero or unset
		if _, has := amounts[name]; !has {
			g.scalar.DeleteLabelValues(q.Queue, string(name))
			delete(had, name)
		}
	}
	for name, amount := range amounts {
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			continue
		}
		if had == nil {
			had = map[corev1.ResourceName]bool{}
			g.scalars[q.Queue] = had
		}
		had[name] = true
		g.scalar.WithLabelValues(q.Queue, string(name)).Set(amount.AsApproximateFloat64())
	}
}

func (g *resourceGauges) dropQueueGauges(queue string) {
	g.cpu.DeleteLabelValues(queue)
	g.memory.DeleteLabelValues(queue)
	for name := range g.scalars[queue] {
		g.scalar.DeleteLabelValues(queue, string(name))
	}
	delete(g.scalars, queue)
}

// observeQueues updates the series of the queues that changed and removes the series of deleted queues.
func observeQueues(s *decision.Stats) {
	for _, name := range s.QueuesGone {
		deleteQueueSeries(name)
	}
	for i := range s.Queues {
		q := &s.Queues[i]
		for _, g := range queueAmounts {
			g.setQueueGauges(q)
		}
		queueShare.WithLabelValues(q.Queue).Set(q.Share)
		queueWeight.WithLabelValues(q.Queue).Set(float64(q.Weight))
		queueOverused.WithLabelValues(q.Queue).Set(zeroOrOne(q.Overused))
	}
}

func deleteQueueSeries(name string) {
	for _, g := range queueAmounts {
		g.dropQueueGauges(name)
	}
	for _, g := range []*prometheus.GaugeVec{queueShare, queueWeight, queueOverused} {
		g.DeleteLabelValues(name)
	}
	queueWait.DeleteLabelValues(name)
	startErrors.DeleteLabelValues(name)
	startsUnknown.DeleteLabelValues(name)
	evictions.DeletePartialMatch(prometheus.Labels{"queue_name": name})
	evictions.DeletePartialMatch(prometheus.Labels{"preemptor_queue": name})
}

// deleteAllQueueSeries removes the series of all queues. It runs when leadership ends, because this process no longer
// has current values.
func deleteAllQueueSeries() {
	for _, g := range queueAmounts {
		g.cpu.Reset()
		g.memory.Reset()
		g.scalar.Reset()
		clear(g.scalars)
	}
	queueShare.Reset()
	queueWeight.Reset()
	queueOverused.Reset()
}

func zeroOrOne(v bool) float64 {
	if v {
		return 1
	}
	return 0
}
