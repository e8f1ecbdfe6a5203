// Package metrics declares the metrics of vc's components and describes them for the documentation.
//
//	In:   declarations in package variables
//	Out:  collectors in controller-runtime's registry, and Definitions
//
// # Invariants
//
//   - A metric appears in /metrics only after its Set is registered, so a process exports only the metrics of its own
//     components.
//   - Every metric of vc is in Definitions, whether or not it is registered.
package metrics

import (
	"cmp"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Type is the type of a metric, as Prometheus spells it.
type Type string

// The types of metrics.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Definition describes a metric.
type Definition struct {
	Name   string
	Type   Type
	Help   string
	Labels []string
	// Buckets holds the upper bounds of a histogram's buckets, without +Inf.
	Buckets []float64
}

// IsPerJob reports whether the metric has a series for each job or pod. Such a metric may have series only if the
// administrator asks for them.
func (d *Definition) IsPerJob() bool { return slices.ContainsFunc(d.Labels, IsPerJobLabel) }

// IsPerJobLabel reports whether a label has a value for each job or pod, so that the number of series grows with the
// number of jobs.
func IsPerJobLabel(label string) bool {
	return slices.Contains([]string{"job_name", "job_id", "job", "podName", "pod", "pod_name", "uid"}, label)
}

// definitions holds all metrics. Only package variables add to it, so it is complete when main starts.
var definitions []Definition

// Definitions returns all metrics of the packages in this program, sorted by name.
func Definitions() []Definition {
	sorted := slices.Clone(definitions)
	slices.SortFunc(sorted, func(a, b Definition) int { return cmp.Compare(a.Name, b.Name) })
	return sorted
}

// Set is a group of metrics that are registered together. The zero value is ready for use. Its methods New… must be
// called in the initialization of package variables.
type Set struct {
	collectors []prometheus.Collector
	register   sync.Once
}

// Register exports the metrics of the set. It has no effect after the first call.
func (s *Set) Register() {
	s.register.Do(func() { ctrlmetrics.Registry.MustRegister(s.collectors...) })
}

// addCollector adds a metric to the set and to the definitions.
func addCollector[C prometheus.Collector](s *Set, c C, d Definition) C {
	definitions = append(definitions, d)
	s.collectors = append(s.collectors, c)
	return c
}

// NewCounter declares a counter without labels.
func (s *Set) NewCounter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	return addCollector(s, c, Definition{Name: name, Type: Counter, Help: help})
}

// NewCounterVec declares a counter with labels.
func (s *Set) NewCounterVec(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	return addCollector(s, c, Definition{Name: name, Type: Counter, Help: help, Labels: labels})
}

// NewGauge declares a gauge without labels.
func (s *Set) NewGauge(name, help string) prometheus.Gauge {
	c := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	return addCollector(s, c, Definition{Name: name, Type: Gauge, Help: help})
}

// NewGaugeVec declares a gauge with labels.
func (s *Set) NewGaugeVec(name, help string, labels ...string) *prometheus.GaugeVec {
	c := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	return addCollector(s, c, Definition{Name: name, Type: Gauge, Help: help, Labels: labels})
}

// NewHistogram declares a histogram without labels.
func (s *Set) NewHistogram(name, help string, buckets []float64) prometheus.Histogram {
	c := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	return addCollector(s, c, Definition{Name: name, Type: Histogram, Help: help, Buckets: buckets})
}

// NewHistogramVec declares a histogram with labels.
func (s *Set) NewHistogramVec(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	c := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	return addCollector(s, c, Definition{Name: name, Type: Histogram, Help: help, Labels: labels, Buckets: buckets})
}

// NewGaugeFunc declares a gauge with a label, whose values are read when metrics are collected. read returns the
// value of each series by the value of its label. It must be safe for concurrent use.
func (s *Set) NewGaugeFunc(name, help, label string, read func() map[string]float64) {
	c := &gaugeFunc{desc: prometheus.NewDesc(name, help, []string{label}, nil), read: read}
	addCollector(s, c, Definition{Name: name, Type: Gauge, Help: help, Labels: []string{label}})
}

// gaugeFunc is a gauge whose values are read when metrics are collected.
type gaugeFunc struct {
	desc *prometheus.Desc
	read func() map[string]float64
}

// Describe implements prometheus.Collector.
func (g *gaugeFunc) Describe(out chan<- *prometheus.Desc) { out <- g.desc }

// Collect implements prometheus.Collector.
func (g *gaugeFunc) Collect(out chan<- prometheus.Metric) {
	for value, n := range g.read() {
		out <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, n, value)
	}
}
