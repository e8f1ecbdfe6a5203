package recorder

import (
	"time"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/spool"
	"github.com/vc-batch/vc/internal/metrics"
)

// Metrics holds the metrics of accounting.
var Metrics metrics.Set

var (
	recordedAttempts = Metrics.NewCounter("vc_accounting_records_total",
		"Number of records of attempts that were written to the spool.")
	storedAttempts = Metrics.NewCounter("vc_accounting_stored_records_total",
		"Number of records that the database stored for the first time.")
	storeErrors = Metrics.NewCounter("vc_accounting_store_errors_total",
		"Number of attempts to open the database or to store records that failed.")
	spoolBytes = Metrics.NewGauge(accounting.SpoolBytesMetric,
		"Size of the records on the disk that the database has not stored yet.")
	spoolMaxBytes = Metrics.NewGauge(accounting.SpoolMaxBytesMetric,
		"Maximum size of the records on the disk that the database has not stored yet.")
	spoolAge = Metrics.NewGauge(accounting.SpoolAgeMetric,
		"Age of the oldest record that the database has not stored yet.")
)

// observeSpool updates the gauges of the spool.
func observeSpool(stats spool.Stats, now time.Time) {
	spoolBytes.Set(float64(stats.Bytes))
	spoolMaxBytes.Set(float64(stats.MaxBytes))
	age := 0.0
	if !stats.Oldest.IsZero() {
		age = max(0, now.Sub(stats.Oldest).Seconds())
	}
	spoolAge.Set(age)
}
