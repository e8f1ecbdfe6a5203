package nodemetrics

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
)

// server responds according to the first word of the query.
func server(t *testing.T, answers map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		asked := r.Method + " " + r.URL.Path + " " + r.URL.Query().Get("query") + " " + string(body) + " " + user + ":" + password
		for words, answer := range answers {
			if all(asked, strings.Split(words, "|")) {
				_, _ = io.WriteString(w, answer)
				return
			}
		}
		http.Error(w, "not understood: "+asked, http.StatusBadRequest)
	}))
	t.Cleanup(s.Close)
	return s
}

func all(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func vector(pairs ...string) string {
	var items []string
	for i := 0; i < len(pairs); i += 2 {
		items = append(items, `{"metric":{"instance":"`+pairs[i]+`"},"value":[1767225600.1,"`+pairs[i+1]+`"]}`)
	}
	return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(items, ",") + `]}}`
}

func TestSources(t *testing.T) {
	cases := map[string]struct {
		conf    config.Metrics
		answers map[string]string
		want    map[string]Load
		err     string
	}{
		"prometheus knows instances with and without ports; what is no number or known by half is left out": {
			conf: config.Metrics{Type: "prometheus"},
			answers: map[string]string{
				"GET /api/v1/query|node_cpu_seconds_total":         vector("a", "12.5", "b:9100", "80", "c", "NaN", "d", "5", "e", "-3"),
				"GET /api/v1/query|node_memory_MemAvailable_bytes": vector("a", "40", "b:9100", "41.5", "c", "1", "e", "2"),
			},
			want: map[string]Load{"a": {12.5, 40}, "b": {80, 41.5}},
		},
		"prometheus says what is wrong": {
			conf:    config.Metrics{Type: "prometheus"},
			answers: map[string]string{"GET": `{"status":"error","error":"too many samples"}`},
			err:     "too many samples",
		},
		"an answer that is no JSON is told": {
			conf: config.Metrics{Type: "prometheus"}, answers: map[string]string{"GET": "<html>"},
			err: "has an unexpected format",
		},
		"a refusal is told with its words": {
			conf: config.Metrics{Type: "prometheus"}, answers: map[string]string{"PUT": ""},
			err: "400 Bad Request: not understood",
		},
		"the adaptor is asked through the API server": {
			conf: config.Metrics{Type: "prometheus_adaptor"},
			answers: map[string]string{
				"GET /apis/custom.metrics.k8s.io/v1beta1/nodes/*/node_cpu_usage_avg":    `{"items":[{"describedObject":{"name":"a"},"value":"12500m"},{"describedObject":{"name":"b"},"value":"x"}]}`,
				"GET /apis/custom.metrics.k8s.io/v1beta1/nodes/*/node_memory_usage_avg": `{"items":[{"describedObject":{"name":"a"},"value":"40"},{"describedObject":{"name":"b"},"value":"1"}]}`,
			},
			want: map[string]Load{"a": {12.5, 40}},
		},
		"elasticsearch is asked for parts of 1, with a name and a password": {
			conf: config.Metrics{Type: "elasticsearch", Elastic: config.Elastic{Index: "beat-*", HostnameField: "host.name", Username: "me", Password: "secret"}},
			answers: map[string]string{
				`POST /beat-*/_search|"field":"host.name"|host.cpu.usage|system.memory.actual.used.pct|now-10m|me:secret`: `{"aggregations":{"hosts":{"buckets":[
					{"key":"a","cpu":{"value":0.125},"mem":{"value":0.4}},{"key":"b","cpu":{"value":null},"mem":{"value":0.4}}]}}}`,
			},
			want: map[string]Load{"a": {12.5, 40}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := server(t, c.answers)
			if c.conf.Type != "prometheus_adaptor" {
				c.conf.Address = s.URL + "/"
			}
			source, err := New(c.conf, &rest.Config{Host: s.URL})
			if err != nil {
				t.Fatal(err)
			}
			got, err := source.Fetch(t.Context())
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestCertificatesAreVerifiedByDefault(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, vector("a", "1")) }))
	defer s.Close()
	s.Config.ErrorLog = nil
	for _, skip := range []bool{false, true} {
		source, err := New(config.Metrics{Type: "prometheus", Address: s.URL, InsecureSkipVerify: skip}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := source.Fetch(t.Context()); (err == nil) != skip {
			t.Errorf("insecureSkipVerify %v: %v", skip, err)
		}
	}
}

type fake struct {
	loads map[string]Load
	err   error
	asked int
}

func (f *fake) Fetch(context.Context) (map[string]Load, error) {
	f.asked++
	return f.loads, f.err
}

func TestTheSourceIsAskedEveryInterval(t *testing.T) {
	var got []model.Delta
	f := &fake{loads: map[string]Load{"b": {1, 2}, "a": {3, 4}}}
	conf := config.Metrics{Type: "prometheus", Address: "http://x", Interval: 30 * time.Second}
	r := runner{put: func(d ...model.Delta) { got = append(got, d...) }, log: logr.Discard(), conf: conf, source: f}
	start := time.Unix(1000, 0)
	r.fetchIfDue(t.Context(), conf, start)
	r.fetchIfDue(t.Context(), conf, start.Add(29*time.Second))
	r.fetchIfDue(t.Context(), conf, start.Add(30*time.Second))
	if f.asked != 2 {
		t.Errorf("asked %d times, want 2", f.asked)
	}
	want := []model.Delta{
		model.NodeUsageSet{Node: "a", NodeUsage: model.NodeUsage{CPUPercent: 3, MemoryPercent: 4, At: start}},
		model.NodeUsageSet{Node: "b", NodeUsage: model.NodeUsage{CPUPercent: 1, MemoryPercent: 2, At: start}},
	}
	if diff := cmp.Diff(want, got[:2]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.fetchIfDue(t.Context(), config.Metrics{}, start.Add(time.Hour)) // section metrics was removed from the file
	if r.source != nil || f.asked != 2 {
		t.Error("a source that is not configured any more is kept")
	}
}
