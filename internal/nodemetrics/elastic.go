package nodemetrics

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/vc-batch/vc/internal/scheduler/config"
)

// elastic reads Metricbeat's documents from Elasticsearch.
type elastic struct {
	client  *http.Client
	address string
	conf    config.Elastic
}

// maxHosts is the maximum number of nodes in one request. Elasticsearch allows 65,536 buckets.
const maxHosts = 20000

// Fetch requests the averages of the last ten minutes for each host.
func (e *elastic) Fetch(ctx context.Context) (map[string]Load, error) {
	average := func(field string) any { return map[string]any{"avg": map[string]any{"field": field}} }
	question, err := json.Marshal(map[string]any{
		"size":  0,
		"query": map[string]any{"range": map[string]any{"@timestamp": map[string]any{"gte": "now-10m"}}},
		"aggs": map[string]any{"hosts": map[string]any{
			"terms": map[string]any{"field": e.conf.HostnameField, "size": maxHosts},
			"aggs":  map[string]any{"cpu": average("host.cpu.usage"), "mem": average("system.memory.actual.used.pct")},
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("metrics source: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address+"/"+e.conf.Index+"/_search", bytes.NewReader(question))
	if err != nil {
		return nil, fmt.Errorf("metrics source: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if e.conf.Username != "" {
		request.SetBasicAuth(e.conf.Username, e.conf.Password)
	}
	var reply struct {
		Aggregations struct {
			Hosts struct {
				Buckets []struct {
					Key      string
					CPU, Mem struct{ Value *float64 }
				}
			}
		}
	}
	if err := sendRequest(e.client, request, &reply); err != nil {
		return nil, err
	}
	out := map[string]Load{}
	for _, b := range reply.Aggregations.Hosts.Buckets {
		if b.CPU.Value == nil || b.Mem.Value == nil {
			continue
		}
		cpu, ok := isPlausibleValue(*b.CPU.Value * 100)
		memory, ok2 := isPlausibleValue(*b.Mem.Value * 100)
		if ok && ok2 {
			out[b.Key] = Load{CPU: cpu, Memory: memory}
		}
	}
	return out, nil
}
