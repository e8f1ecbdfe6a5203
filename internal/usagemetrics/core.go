package usagemetrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unique"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/vc-batch/vc/internal/snapshot"
)

// metricsPath is the path of the metrics API.
var metricsPath = "/apis/" + metricsv1beta1.SchemeGroupVersion.String()

// measuredObject holds the fields of a NodeMetrics or PodMetrics that are needed. Decoding them takes a third of the time
// that decoding the whole types takes.
type measuredObject struct {
	Metadata struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"metadata"`
	Usage      amounts `json:"usage"` // of a node
	Containers []struct {
		Usage amounts `json:"usage"`
	} `json:"containers"`
}

// amounts are quantities as the metrics API writes them, for example 1534876543n and 2048Ki.
type amounts struct {
	CPU    string `json:"cpu"`
	Memory string `json:"memory"`
}

// addTo adds amounts to the use of a node or a pod. An invalid quantity counts as zero.
func (a amounts) addTo(core *snapshot.MeasuredCore) {
	if cpu, err := resource.ParseQuantity(a.CPU); err == nil {
		core.MilliCPU += cpu.MilliValue()
	}
	if memory, err := resource.ParseQuantity(a.Memory); err == nil {
		core.MemoryBytes += memory.Value()
	}
}

// shareText returns a shared copy of a name, because each read contains the same names.
func shareText(text string) string { return unique.Make(text).Value() }

// readCore reads CPU and memory. Without the metrics API, it adds nothing.
func (r *Reader) readCore(ctx context.Context, usage *snapshot.Usage) {
	_ = readItems(ctx, r, metricsPath+"/nodes", func(node *measuredObject) {
		core := &snapshot.MeasuredCore{}
		node.Usage.addTo(core)
		usage.Nodes[shareText(node.Metadata.Name)] = snapshot.Measured{Core: core}
		usage.HasCore = true
	})
	addPod := func(pod *measuredObject) {
		core := &snapshot.MeasuredCore{}
		for i := range pod.Containers {
			pod.Containers[i].Usage.addTo(core)
		}
		usage.Pods[types.NamespacedName{Namespace: shareText(pod.Metadata.Namespace), Name: shareText(pod.Metadata.Name)}] = snapshot.Measured{Core: core}
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

// responseError is a response that is not successful.
type responseError struct {
	path string
	code int
}

func (e *responseError) Error() string {
	return fmt.Sprintf("%s: %d %s", e.path, e.code, http.StatusText(e.code))
}

// readItems reads a list from the API server.
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
	decoder := json.NewDecoder(response.Body)
	return decodeFields(decoder, map[string]func() error{"items": func() error { return decodeArray(decoder, add) }})
}

// decodeFields decodes a JSON object. It calls the functions for the fields with their names, which must decode the
// value, and ignores all other fields.
func decodeFields(decoder *json.Decoder, fields map[string]func() error) error {
	if err := expectDelimiter(decoder, '{'); err != nil {
		return err
	}
	for decoder.More() {
		field, err := decoder.Token()
		if err != nil {
			return err
		}
		name, _ := field.(string)
		decode := fields[name]
		if decode == nil {
			decode = func() error { return decoder.Decode(new(json.RawMessage)) }
		}
		if err := decode(); err != nil {
			return err
		}
	}
	return expectDelimiter(decoder, '}')
}

// decodeArray decodes a JSON array item by item, and passes each item to add, which must not keep it.
func decodeArray[T any](decoder *json.Decoder, add func(*T)) error {
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
	return expectDelimiter(decoder, ']')
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
