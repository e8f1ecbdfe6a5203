package usagemetrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/vc-batch/vc/internal/snapshot"
)

// metricsPath is the path of the metrics API.
var metricsPath = "/apis/" + metricsv1beta1.SchemeGroupVersion.String()

// readCore adds the use of CPU and memory to usage. It adds nothing that is not available or not permitted.
func (r *Reader) readCore(ctx context.Context, usage *snapshot.Usage) {
	_ = readItems(ctx, r, metricsPath+"/nodes", func(node *metricsv1beta1.NodeMetrics) {
		core := &snapshot.MeasuredCore{MilliCPU: node.Usage.Cpu().MilliValue(), MemoryBytes: node.Usage.Memory().Value()}
		usage.Nodes[node.Name] = snapshot.Measured{Core: core}
		usage.HasCore = true
	})
	addPod := func(pod *metricsv1beta1.PodMetrics) {
		core := &snapshot.MeasuredCore{}
		for i := range pod.Containers {
			used := pod.Containers[i].Usage
			core.MilliCPU += used.Cpu().MilliValue()
			core.MemoryBytes += used.Memory().Value()
		}
		usage.Pods[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = snapshot.Measured{Core: core}
		usage.HasCore = true
	}
	if !r.isNarrow {
		err := readItems(ctx, r, metricsPath+"/pods", addPod)
		var response *responseError
		r.isNarrow = errors.As(err, &response) && response.code == http.StatusForbidden
	}
	if r.isNarrow && r.options.Namespace != "" {
		_ = readItems(ctx, r, metricsPath+"/namespaces/"+r.options.Namespace+"/pods", addPod)
	}
}

// responseError is a response with another status than 200.
type responseError struct {
	path string
	code int
}

// Error returns the path and the status.
func (e *responseError) Error() string {
	return fmt.Sprintf("%s: %d %s", e.path, e.code, http.StatusText(e.code))
}

// readItems requests a list from the API server and passes its items to add, one after the other.
func readItems[T any](ctx context.Context, r *Reader, path string, add func(*T)) error {
	server := strings.TrimSuffix(serverAddress(r.options.Config), "/")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	if response.StatusCode != http.StatusOK {
		return &responseError{path, response.StatusCode}
	}
	return decodeItems(json.NewDecoder(response.Body), add)
}

// decodeItems decodes the field "items" of a list item by item. It ignores the other fields.
func decodeItems[T any](decoder *json.Decoder, add func(*T)) error {
	if err := expectDelimiter(decoder, '{'); err != nil {
		return err
	}
	for decoder.More() {
		field, err := decoder.Token()
		if err != nil {
			return err
		}
		if field != "items" {
			var other json.RawMessage
			if err := decoder.Decode(&other); err != nil {
				return err
			}
			continue
		}
		if err := expectDelimiter(decoder, '['); err != nil {
			return err
		}
		for decoder.More() {
			item := new(T)
			if err := decoder.Decode(item); err != nil {
				return err
			}
			add(item)
		}
		if err := expectDelimiter(decoder, ']'); err != nil {
			return err
		}
	}
	return nil
}

func expectDelimiter(decoder *json.Decoder, want json.Delim) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	if token != want {
		return fmt.Errorf("a metrics list has an unexpected format: found %v instead of %v", token, want)
	}
	return nil
}
