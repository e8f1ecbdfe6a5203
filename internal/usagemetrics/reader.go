package usagemetrics

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/snapshot"
)

// Options configures a Reader.
type Options struct {
	Config *rest.Config
	// Namespace is read instead of all namespaces if the user may not read the metrics of all pods.
	Namespace string
	// Prometheus is the address of a Prometheus server, as ParseAddress accepts it; "" means that GPU use is not read.
	Prometheus string
}

// Reader reads the measured use.
type Reader struct {
	options Options
	client  *http.Client
	gpus    *gpuSource // nil without Prometheus
	// isNarrow is true if the user may not read the metrics of pods in all namespaces.
	isNarrow bool
	// podCount is the number of measured pods of the last read.
	podCount int
	// busy is the time that reads of the metrics API have spent on responses, without waiting for them.
	busy time.Duration
}

// busyTime returns the time that all reads have spent on responses.
func (r *Reader) busyTime() time.Duration {
	if r.gpus == nil {
		return r.busy
	}
	return r.busy + r.gpus.busy
}

// New returns a Reader. It sends no request.
func New(o Options) (*Reader, error) {
	o.Config = rest.CopyConfig(o.Config)
	o.Config.Timeout = requestTimeout
	client, err := rest.HTTPClientFor(o.Config)
	if err != nil {
		return nil, fmt.Errorf("client for metrics: %w", err)
	}
	r := &Reader{options: o, client: withoutRedirects(client)}
	if o.Prometheus != "" {
		if r.gpus, err = newGPUSource(o.Prometheus, o.Config, client); err != nil {
			return nil, err
		}
	}
	return r, nil
}

const (
	// requestTimeout is the timeout for one request.
	requestTimeout = 20 * time.Second
	// interval is the shortest pause between two reads, which is also the resolution of metrics-server.
	interval = 15 * time.Second
	// longestPause is the longest pause between two reads.
	longestPause = 10 * time.Minute
	// pauseFactor is how many times longer than the decoding of a read the pause after it is.
	pauseFactor = 300
)

// Run reads the use repeatedly until ctx is done, and passes each result to put.
func (r *Reader) Run(ctx context.Context, put func(*snapshot.Usage)) {
	for {
		before := r.busyTime()
		usage := r.Read(ctx)
		if ctx.Err() != nil {
			return
		}
		put(usage)
		timer := time.NewTimer(pauseAfter(r.busyTime() - before))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// pauseAfter returns the pause after a read whose responses took a certain time to decode.
func pauseAfter(read time.Duration) time.Duration {
	return min(max(interval, read*pauseFactor), longestPause)
}

// Read reads all sources once. The result has no values of a source that is missing or fails; a failure of Prometheus,
// which the user has configured, is recorded as a problem.
func (r *Reader) Read(ctx context.Context) *snapshot.Usage {
	usage := &snapshot.Usage{Nodes: map[string]snapshot.Measured{}, Pods: make(map[snapshot.PodKey]snapshot.Measured, r.podCount)}
	defer func() { r.podCount = len(usage.Pods) }()
	r.readCore(ctx, usage)
	if r.gpus == nil {
		return usage
	}
	if err := r.gpus.addTo(ctx, usage); err != nil && ctx.Err() == nil {
		removeGPUs(usage)
		usage.Problem = fmt.Sprintf("GPU usage is unknown: %v", err)
	}
	return usage
}

// removeGPUs removes all measurements of GPUs, because some of them would give wrong sums.
func removeGPUs(usage *snapshot.Usage) {
	usage.HasGPU = false
	for name, node := range usage.Nodes {
		usage.Nodes[name] = snapshot.Measured{Core: node.Core}
	}
	for name, pod := range usage.Pods {
		usage.Pods[name] = snapshot.Measured{Core: pod.Core}
	}
}
