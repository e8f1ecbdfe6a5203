// Package metricsapi serves the metrics API of Kubernetes (metrics.k8s.io/v1beta1) for the process nodes of vc-local, as
// metrics-server does for kubelets. `kubectl top`, the dashboard and horizontal pod autoscalers read it.
//
//	In:   measurements of containers at two times
//	Out:  NodeMetrics and PodMetrics
//
// The use of a process node is the sum of its pods, because several process nodes share one machine. Simulated nodes use
// nothing and have no metrics.
//
// # Concurrency
//
// A Store may be used by several goroutines at the same time.
package metricsapi
