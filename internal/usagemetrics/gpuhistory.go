package usagemetrics

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
)

// maxSampleSeconds is the maximum age of a sample. It is longer than the usual intervals between two samples, which are at most
// a minute.
const maxSampleSeconds = 90

// historyQuery returns the utilization of GPUs without old samples. By default, Prometheus repeats the last sample for five
// minutes if it has no later one, for example because it was not running.
var historyQuery = fmt.Sprintf(`%[1]s and (time() - timestamp(%[1]s) <= %[2]d)`, utilizationQuery, maxSampleSeconds)

// GPUHistory reads the past utilization of GPUs by pods from Prometheus.
type GPUHistory struct{ source *gpuSource }

// NewGPUHistory returns a GPUHistory for the Prometheus server at an address that ParseAddress accepts. It sends no request.
func NewGPUHistory(address string, config *rest.Config) (*GPUHistory, error) {
	config = rest.CopyConfig(config)
	config.Timeout = requestTimeout
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("client for metrics: %w", err)
	}
	source, err := newGPUSource(address, config, client)
	if err != nil {
		return nil, err
	}
	return &GPUHistory{source}, nil
}

// GPUUtilization is the utilization of a GPU by a pod at a time.
type GPUUtilization struct {
	Namespace, Pod string
	// GPU distinguishes the GPUs of a pod.
	GPU     uint64
	At      time.Time
	Percent float64
}

// Read calls add with the utilization of each GPU that a pod uses, at each step from one time to another. A step is a whole
// number of seconds. Times at which a GPU was not measured are left out. After an error, some utilizations may be missing.
func (h *GPUHistory) Read(ctx context.Context, from, until time.Time, step time.Duration, add func(GPUUtilization)) error {
	unix := func(t time.Time) []string { return []string{strconv.FormatInt(t.Unix(), 10)} }
	parameters := url.Values{
		"query": {historyQuery}, "start": unix(from), "end": unix(until), "step": {strconv.FormatInt(int64(step/time.Second), 10)},
	}
	return h.source.send(ctx, "query_range", "matrix", parameters, func(series *gpuSeries) {
		namespace, name := series.Metric.pod()
		if len(name) == 0 {
			return
		}
		one := GPUUtilization{Namespace: string(namespace), Pod: string(name), GPU: series.Metric.hash()}
		for _, value := range series.Values {
			if isPlausible(value.number) { // NaN is not plausible
				one.At, one.Percent = time.Unix(int64(value.unix), 0), value.number
				add(one)
			}
		}
	})
}
