package nodemetrics

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/resource"
)

// adaptor reads Prometheus data through the API server's custom metrics.
type adaptor struct {
	client  *http.Client
	address string
}

// Volcano's names of the metrics, in percent.
const (
	cpuMetric    = "node_cpu_usage_avg"
	memoryMetric = "node_memory_usage_avg"
)

// Fetch requests cpu, then memory.
func (a *adaptor) Fetch(ctx context.Context) (map[string]Load, error) {
	cpu, err := a.fetchMetric(ctx, cpuMetric)
	if err != nil {
		return nil, err
	}
	memory, err := a.fetchMetric(ctx, memoryMetric)
	if err != nil {
		return nil, err
	}
	return joinByNode(cpu, memory), nil
}

func (a *adaptor) fetchMetric(ctx context.Context, name string) (map[string]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.address+"/apis/custom.metrics.k8s.io/v1beta1/nodes/*/"+name, nil)
	if err != nil {
		return nil, fmt.Errorf("metrics source: %w", err)
	}
	var reply struct {
		Items []struct {
			DescribedObject struct{ Name string }
			Value           string
		}
	}
	if err := sendRequest(a.client, request, &reply); err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, item := range reply.Items {
		q, err := resource.ParseQuantity(item.Value)
		if v, ok := isPlausibleValue(q.AsApproximateFloat64()); err == nil && ok {
			out[item.DescribedObject.Name] = v
		}
	}
	return out, nil
}
