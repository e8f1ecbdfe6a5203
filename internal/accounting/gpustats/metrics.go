package gpustats

import "github.com/vc-batch/vc/internal/metrics"

// Metrics holds the metrics of the measurement of GPUs.
var Metrics metrics.Set

var (
	prometheusRequests = Metrics.NewCounter("vc_accounting_prometheus_requests_total",
		"Number of requests to Prometheus for the utilization of GPUs.")
	prometheusErrors = Metrics.NewCounter("vc_accounting_prometheus_errors_total",
		"Number of requests to Prometheus that failed. The recorded usage of GPUs may be incomplete.")
)
