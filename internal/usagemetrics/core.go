package usagemetrics

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/vc-batch/vc/internal/snapshot"
)

// metricsPath is the path of the metrics API.
var metricsPath = "/apis/" + metricsv1beta1.SchemeGroupVersion.String()

// text is a JSON string whose memory is used again for the next one, because lists contain hundreds of thousands of them.
type text []byte

// UnmarshalJSON stores the text of a string.
func (t *text) UnmarshalJSON(quoted []byte) error {
	isPlain := len(quoted) >= 2 && quoted[0] == '"' && !bytes.ContainsRune(quoted, '\\')
	if isPlain {
		*t = append((*t)[:0], quoted[1:len(quoted)-1]...)
		return nil
	}
	var other string
	err := json.Unmarshal(quoted, &other)
	*t = append((*t)[:0], other...)
	return err
}

// firstNotEmpty returns the first text that is not empty, or else the last one.
func firstNotEmpty(texts ...text) text {
	for _, t := range texts {
		if len(t) > 0 {
			return t
		}
	}
	return texts[len(texts)-1]
}

// measuredObject holds the fields of a NodeMetrics or PodMetrics that are needed.
type measuredObject struct {
	Metadata struct {
		Namespace text `json:"namespace"`
		Name      text `json:"name"`
	} `json:"metadata"`
	Usage      amounts `json:"usage"` // of a node
	Containers []struct {
		Usage amounts `json:"usage"`
	} `json:"containers"`
}

// clear empties all fields and keeps their memory.
func (o *measuredObject) clear() {
	o.Metadata.Namespace, o.Metadata.Name = o.Metadata.Namespace[:0], o.Metadata.Name[:0]
	o.Usage.clear()
	o.Containers = o.Containers[:cap(o.Containers)]
	for i := range o.Containers {
		o.Containers[i].Usage.clear()
	}
	o.Containers = o.Containers[:0]
}

// amounts are quantities as the metrics API writes them, for example 1534876543n and 2048Ki.
type amounts struct {
	CPU    text `json:"cpu"`
	Memory text `json:"memory"`
}

func (a *amounts) clear() { a.CPU, a.Memory = a.CPU[:0], a.Memory[:0] }

// addTo adds amounts to the use of a node or a pod. An invalid quantity counts as zero.
func (a *amounts) addTo(core *snapshot.MeasuredCore) {
	if cpu, err := resource.ParseQuantity(string(a.CPU)); err == nil {
		core.MilliCPU += cpu.MilliValue()
	}
	if memory, err := resource.ParseQuantity(string(a.Memory)); err == nil {
		core.MemoryBytes += memory.Value()
	}
}

// readCore reads CPU and memory. Without the metrics API, it adds nothing.
func (r *Reader) readCore(ctx context.Context, usage *snapshot.Usage) {
	_ = readItems(ctx, r, metricsPath+"/nodes", func(node *measuredObject) {
		core := &snapshot.MeasuredCore{}
		node.Usage.addTo(core)
		usage.Nodes[string(node.Metadata.Name)] = snapshot.Measured{Core: core}
		usage.HasCore = true
	})
	addPod := func(pod *measuredObject) {
		core := &snapshot.MeasuredCore{}
		for i := range pod.Containers {
			pod.Containers[i].Usage.addTo(core)
		}
		usage.Pods[snapshot.KeyOfPodText(pod.Metadata.Namespace, pod.Metadata.Name)] = snapshot.Measured{Core: core}
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
func readItems(ctx context.Context, r *Reader, path string, add func(*measuredObject)) error {
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
	defer addTimeSince(time.Now(), &r.busy)
	decoder := json.NewDecoder(response.Body)
	return decodeFields(decoder, map[string]func() error{"items": func() error { return decodeArray(decoder, new(measuredObject), (*measuredObject).clear, add) }})
}

func addTimeSince(begin time.Time, sum *time.Duration) { *sum += time.Since(begin) }

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

// decodeArray decodes a JSON array item by item into the same item, which is cleared before, and passes it to add.
func decodeArray[T any](decoder *json.Decoder, item *T, clearItem, add func(*T)) error {
	if err := expectDelimiter(decoder, '['); err != nil {
		return err
	}
	for decoder.More() {
		clearItem(item)
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
