package kubeletstats

import "github.com/vc-batch/vc/internal/metrics"

// Metrics holds the metrics of the measurement of pods on kubelets.
var Metrics metrics.Set

var (
	kubeletRequests = Metrics.NewCounter("vc_accounting_kubelet_requests_total",
		"Number of requests for the use of the pods on a node.")
	kubeletErrors = Metrics.NewCounter("vc_accounting_kubelet_errors_total",
		"Number of requests for the use of the pods on a node that failed. The use of these pods may be incomplete.")
	measuredPods = Metrics.NewGauge("vc_accounting_measured_pods",
		"Number of running pods of jobs whose use is measured.")
	useWrites = Metrics.NewCounter("vc_accounting_use_writes_total",
		"Number of times that the use of a pod was written to its annotation.")
)
