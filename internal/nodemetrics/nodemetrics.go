// Package nodemetrics reads the actual load of the nodes from a source of metrics.
//
//	In:   section metrics of the scheduler's configuration: Prometheus, its adaptor behind the API server, or
//	      Elasticsearch
//	Out:  model.NodeUsageSet for every node in the source, every interval
//
// One request for cpu and one for memory cover all nodes.
//
// # Concurrency
//
// Run uses one goroutine, which owns the Source.
package nodemetrics

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
)

const (
	// answerTime is the timeout for one request. answerSize is the maximum number of bytes read from its response.
	answerTime = 10 * time.Second
	answerSize = 64 << 20
)

// Source returns the load of all nodes, in percent, averaged over ten minutes.
type Source interface {
	Fetch(ctx context.Context) (map[string]Load, error)
}

// Load is the load of a node in percent.
type Load struct{ CPU, Memory float64 }

// New creates the source that a configuration names. Only the adaptor uses cluster, because it is reached through the
// API server.
func New(m config.Metrics, cluster *rest.Config) (Source, error) {
	client := &http.Client{Timeout: answerTime, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: answerTime}).DialContext,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: m.InsecureSkipVerify}, //nolint:gosec // requested by tls.insecureSkipVerify
	}}
	address := strings.TrimSuffix(m.Address, "/")
	switch m.Type {
	case "prometheus":
		return &prometheus{client, address}, nil
	case "prometheus_adaptor":
		own := rest.CopyConfig(cluster)
		own.Timeout = answerTime
		client, err := rest.HTTPClientFor(own)
		if err != nil {
			return nil, fmt.Errorf("client for custom metrics: %w", err)
		}
		if address == "" {
			address = strings.TrimSuffix(own.Host, "/")
		}
		if !strings.Contains(address, "://") {
			address = "https://" + address
		}
		return &adaptor{client, address}, nil
	case "elasticsearch":
		return &elastic{client, address, m.Elastic}, nil
	}
	return nil, fmt.Errorf("metrics.type: unknown type %q", m.Type)
}

// look is the interval at which Run checks whether the configuration has changed.
const look = 2 * time.Second

// Run reads the load periodically until ctx is done and passes it to put. current returns the current configuration; if
// its type is empty, Run reads nothing. Run logs the first failure of a source, and its recovery.
func Run(ctx context.Context, current func() config.Metrics, cluster *rest.Config, put func(...model.Delta), log logr.Logger) {
	r := runner{cluster: cluster, put: put, log: log}
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		r.fetchIfDue(ctx, current(), time.Now())
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// runner is the state of Run.
type runner struct {
	cluster *rest.Config
	put     func(...model.Delta)
	log     logr.Logger

	conf   config.Metrics
	source Source
	next   time.Time
	failed bool
}

// fetchIfDue reads the load if the interval has passed since the last read.
func (r *runner) fetchIfDue(ctx context.Context, m config.Metrics, now time.Time) {
	if m != r.conf {
		r.conf, r.source, r.next, r.failed = m, nil, time.Time{}, false
	}
	if m.Type == "" || now.Before(r.next) {
		return
	}
	r.next = now.Add(m.Interval)
	loads, err := r.fetchLoads(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil && !r.failed:
		r.log.Error(err, "Could not read the load of nodes; policies ignore load values that are older than five minutes", "source", m.Type, "address", m.Address)
	case err == nil && r.failed:
		r.log.Info("The load of nodes is available again", "source", m.Type, "nodes", len(loads))
	}
	r.failed = err != nil
	deltas := make([]model.Delta, 0, len(loads))
	for _, node := range slices.Sorted(maps.Keys(loads)) {
		l := loads[node]
		deltas = append(deltas, model.NodeUsageSet{Node: node, NodeUsage: model.NodeUsage{CPUPercent: l.CPU, MemoryPercent: l.Memory, At: now}})
	}
	r.put(deltas...)
}

func (r *runner) fetchLoads(ctx context.Context) (map[string]Load, error) {
	if r.source == nil {
		source, err := New(r.conf, r.cluster)
		if err != nil {
			return nil, err
		}
		r.source = source
	}
	return r.source.Fetch(ctx)
}

// sendRequest sends a request and decodes its JSON response.
func sendRequest(client *http.Client, request *http.Request, into any) error {
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("metrics source: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(io.LimitReader(response.Body, answerSize))
	if err != nil {
		return fmt.Errorf("metrics source: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("metrics source: %s %s: %s: %.200s", request.Method, request.URL.Redacted(), response.Status, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("metrics source: %s: the response has an unexpected format: %w", request.URL.Redacted(), err)
	}
	return nil
}

// isPlausibleValue returns v and reports whether it is a plausible measurement, which means that it is not negative,
// NaN or absurdly large.
func isPlausibleValue(v float64) (float64, bool) { return v, v >= 0 && v < 1e6 }

// joinByNode joins two measurements. It keeps only nodes that have both.
func joinByNode(cpu, memory map[string]float64) map[string]Load {
	out := make(map[string]Load, len(cpu))
	for node, v := range cpu {
		if m, ok := memory[node]; ok {
			out[node] = Load{CPU: v, Memory: m}
		}
	}
	return out
}
