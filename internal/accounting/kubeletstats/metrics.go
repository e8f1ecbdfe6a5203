package kubeletstats

import "github.com/vc-batch/vc/internal/metrics"

// Metrics holds the metrics of the measurement of pods on kubelets.
var Metrics metrics.Set

var (
	kubeletRequests = Metrics.NewCounter("vc_accounting_kubelet_requests_total",
		"Number of requests to kubelets for the usage of the pods on a node.")
	kubeletErrors = Metrics.NewCounter("vc_accounting_kubelet_errors_total",
		"Number of requests to kubelets that failed. The recorded usage of the pods on these nodes may be incomplete.")
	tokenErrors = Metrics.NewCounter("vc_accounting_kubelet_token_errors_total",
		"Number of measurements that were omitted because the API server issued no token for kubelets.")
	measuredPods = Metrics.NewGauge("vc_accounting_measured_pods",
		"Number of running pods of jobs whose usage is measured.")
	useWrites = Metrics.NewCounter("vc_accounting_use_writes_total",
		"Number of times that the usage of a pod was written to its annotation.")
)
