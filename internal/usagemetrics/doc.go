// Package usagemetrics reads the measured use of nodes and pods: CPU and memory from the metrics API of Kubernetes, which
// metrics-server and vc-local provide, and GPUs from a Prometheus server that has the series of NVIDIA's DCGM exporter.
//
//	In:   the metrics API (metrics.k8s.io/v1beta1), Prometheus
//	Out:  snapshot.Usage; the past utilization of GPUs
//
// # Invariants
//
//   - For a Reader, a missing source is not an error: without the metrics API or Prometheus, the Usage lacks the values of that source.
//   - Large lists are decoded item by item, because the whole list of 100,000 pods would need too much memory.
//   - A Reader takes at most about a three-hundredth of the time of a CPU core: the slower a read is, the longer is the
//     pause after it.
//
// # Concurrency
//
// A Reader must not be used by several goroutines at the same time.
package usagemetrics
