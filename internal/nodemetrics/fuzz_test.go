package nodemetrics

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/scheduler/config"
)

// says responds to every request with the same text.
type says string

func (s says) RoundTrip(in *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(s))), Request: in}, nil
}

// FuzzAnswers verifies that arbitrary responses of metric sources give only valid percentages.
func FuzzAnswers(f *testing.F) {
	f.Add(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"instance":"a:9100"},"value":[1,"12.5"]},{"metric":{},"value":[1,"NaN"]}]}}`)
	f.Add(`{"items":[{"describedObject":{"name":"a"},"value":"12500m"},{"describedObject":{"name":"b"},"value":"1e400"}]}`)
	f.Add(`{"aggregations":{"hosts":{"buckets":[{"key":"a","cpu":{"value":0.5},"mem":{"value":null}},{"key":"b","cpu":{"value":1e300},"mem":{"value":-1}}]}}}`)
	f.Add(`{"status":"error","error":"no"}`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, text string) {
		client := &http.Client{Transport: says(text)}
		for _, source := range []Source{&prometheus{client, "http://x"}, &adaptor{client, "http://x"}, &elastic{client, "http://x", config.Elastic{Index: "i"}}} {
			loads, err := source.Fetch(context.Background())
			if err != nil && len(loads) > 0 {
				t.Errorf("%T: %v with an error: %v", source, loads, err)
			}
			for node, l := range loads {
				if !(l.CPU >= 0 && l.CPU < 1e6 && l.Memory >= 0 && l.Memory < 1e6) {
					t.Errorf("%T: node %q has %v", source, node, l)
				}
			}
		}
	})
}
