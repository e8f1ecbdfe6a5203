package nodemetrics

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
)

// prometheus reads node_exporter's series from a Prometheus server. The instance of a series is the node's name; a port
// after the name is ignored.
type prometheus struct {
	client  *http.Client
	address string
}

// The queries are Volcano's. Each covers all nodes.
const (
	cpuQuery    = `avg_over_time(clamp_min(100 - (avg by (instance) (rate(node_cpu_seconds_total{mode="idle"}[5m])) * 100), 0)[10m:30s])`
	memoryQuery = `100 * avg_over_time(((1 - node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes))[10m:30s])`
)

// Fetch requests cpu, then memory.
func (p *prometheus) Fetch(ctx context.Context) (map[string]Load, error) {
	cpu, err := p.queryByNode(ctx, cpuQuery)
	if err != nil {
		return nil, err
	}
	memory, err := p.queryByNode(ctx, memoryQuery)
	if err != nil {
		return nil, err
	}
	return joinByNode(cpu, memory), nil
}

func (p *prometheus) queryByNode(ctx context.Context, query string) (map[string]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address+"/api/v1/query?"+url.Values{"query": {query}}.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("metrics source: %w", err)
	}
	var reply struct {
		Status, Error string
		Data          struct {
			ResultType string
			Result     []struct {
				Metric map[string]string
				Value  [2]any // time, then the value as text
			}
		}
	}
	if err := sendRequest(p.client, request, &reply); err != nil {
		return nil, err
	}
	if reply.Status != "success" || reply.Data.ResultType != "vector" {
		return nil, fmt.Errorf("metrics source: unexpected response with status %q, type %q: %s", reply.Status, reply.Data.ResultType, reply.Error)
	}
	out := map[string]float64{}
	for _, r := range reply.Data.Result {
		text, _ := r.Value[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if v, ok := isPlausibleValue(v); err == nil && ok {
			out[nodeNameOf(r.Metric["instance"])] = v
		}
	}
	return out, nil
}

// nodeNameOf returns the name of the node in an instance, which has a form such as node-1 or node-1:9100.
func nodeNameOf(instance string) string {
	host, _, err := net.SplitHostPort(instance)
	if err != nil {
		return instance
	}
	return host
}
