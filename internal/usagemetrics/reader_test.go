package usagemetrics

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/usererror"
)

// The lists of metrics-server, shortened.
const (
	nodeList = `{"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1beta1","metadata":{"annotations":{"items":"no"}},"items":[
		{"metadata":{"name":"n1"},"timestamp":"2026-11-27T10:00:00Z","window":"20s","usage":{"cpu":"1534876543n","memory":"2048Ki"}}]}`
	podList = `{"items":[
		{"metadata":{"name":"p1","namespace":"nlp"},"containers":[{"name":"a","usage":{"cpu":"250m","memory":"1Mi"}},{"name":"b","usage":{"cpu":"1","memory":"1Mi"}}]},
		{"metadata":{"name":"p2","namespace":"bio"},"containers":[]}],"kind":"PodMetricsList"}`
	ownPodList = `{"items":[{"metadata":{"name":"p1","namespace":"nlp"},"containers":[{"name":"a","usage":{"cpu":"250m","memory":"1Mi"}}]}]}`
)

// startServer starts a server with responses by path. A path without a response is not found; an empty response is
// forbidden. requests counts the requests by path.
func startServer(t *testing.T, responses map[string]string) (config *rest.Config, requests map[string]int) {
	t.Helper()
	requests = map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests[r.URL.Path]++
		response, found := responses[r.URL.Path]
		switch {
		case !found:
			http.NotFound(w, r)
		case response == "":
			http.Error(w, "forbidden", http.StatusForbidden)
		default:
			_, _ = w.Write([]byte(response))
		}
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}, requests
}

func readOnce(t *testing.T, o Options) *snapshot.Usage {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r.Read(t.Context())
}

func core(milliCPU, memoryBytes int64) snapshot.Measured {
	return snapshot.Measured{Core: &snapshot.MeasuredCore{MilliCPU: milliCPU, MemoryBytes: memoryBytes}}
}

func TestUseComesFromTheMetricsAPI(t *testing.T) {
	t.Parallel()
	config, _ := startServer(t, map[string]string{metricsPath + "/nodes": nodeList, metricsPath + "/pods": podList})
	want := &snapshot.Usage{
		HasCore: true, Nodes: map[string]snapshot.Measured{"n1": core(1535, 2<<20)},
		Pods: map[snapshot.PodKey]snapshot.Measured{snapshot.KeyOfPod("nlp", "p1"): core(1250, 2<<20), snapshot.KeyOfPod("bio", "p2"): core(0, 0)},
	}
	if diff := cmp.Diff(want, readOnce(t, Options{Config: config})); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

func TestAUserWhoMayReadOnlyTheirNamespaceSeesIt(t *testing.T) {
	t.Parallel()
	config, requests := startServer(t, map[string]string{metricsPath + "/nodes": "", metricsPath + "/pods": "", metricsPath + "/namespaces/nlp/pods": ownPodList})
	r, err := New(Options{Config: config, Namespace: "nlp"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		want := map[snapshot.PodKey]snapshot.Measured{snapshot.KeyOfPod("nlp", "p1"): core(250, 1<<20)}
		if diff := cmp.Diff(want, r.Read(t.Context()).Pods); diff != "" {
			t.Errorf("pods (-want +got):\n%s", diff)
		}
	}
	if n := requests[metricsPath+"/pods"]; n != 1 {
		t.Errorf("the forbidden list was requested %d times, want once", n)
	}
}

func TestWithoutMetricsThereIsNoUseAndNoProblem(t *testing.T) {
	t.Parallel()
	for name, responses := range map[string]map[string]string{
		"no metrics API":    {},
		"not JSON":          {metricsPath + "/nodes": "<html>", metricsPath + "/pods": "[]"},
		"a list cut short":  {metricsPath + "/nodes": `{"items":[`, metricsPath + "/pods": `{"items":`},
		"items of no list":  {metricsPath + "/nodes": `{"items":{}}`, metricsPath + "/pods": `{"items":null}`},
		"an item of a type": {metricsPath + "/nodes": `{"items":[3]}`, metricsPath + "/pods": `{"items":["x"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, _ := startServer(t, responses)
			usage := readOnce(t, Options{Config: config})
			if usage.HasCore || usage.HasGPU || usage.Problem != "" || len(usage.Nodes)+len(usage.Pods) > 0 {
				t.Errorf("usage %+v", usage)
			}
		})
	}
}

func TestAddressesOfPrometheus(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://prometheus.example.org/": "https://prometheus.example.org",
		"http://10.0.0.7:9090/prom":       "http://10.0.0.7:9090/prom",
		"monitoring/prometheus:9090":      "https://api:6443/api/v1/namespaces/monitoring/services/http:prometheus:9090/proxy (API server)",
		"https:monitoring/thanos:http":    "https://api:6443/api/v1/namespaces/monitoring/services/https:thanos:http/proxy (API server)",
		"prometheus:9090":                 "error", "": "error", "ftp://host": "error", "https://": "error", "monitoring/prometheus": "error",
	} {
		got, viaServer, err := ParseAddress(address, "https://api:6443/")
		if viaServer {
			got += " (API server)"
		}
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %s (%v), want %s", address, got, err, want)
		}
	}
}

func TestAFailureOfPrometheusIsAProblemAndLeavesTheRest(t *testing.T) {
	t.Parallel()
	const query = "/api/v1/namespaces/monitoring/services/http:prometheus:9090/proxy/api/v1/query"
	for name, tc := range map[string]struct{ response, problem string }{
		"forbidden": {"", "403"},
		"a scalar":  {`{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`, "not a vector"},
		"an error":  {`{"status":"error","errorType":"bad_data","error":"no such thing"}`, "no such thing"},
		"cut off":   {`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"Hostname":"n1","gpu":"0","pod":"p"},"value":[1,"42"]},{"met`, "EOF"},
		"no number": {`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"Hostname":"n1","gpu":"0"},"value":[1,2]}]}}`, "not a pair"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, _ := startServer(t, map[string]string{metricsPath + "/nodes": nodeList, metricsPath + "/pods": podList, query: tc.response})
			usage := readOnce(t, Options{Config: config, Prometheus: "monitoring/prometheus:9090"})
			if usage.Nodes["n1"].GPU != nil {
				t.Errorf("part of the GPUs is measured: %+v", usage.Nodes["n1"].GPU)
			}
			if !strings.Contains(usage.Problem, tc.problem) || !usage.HasCore || usage.HasGPU {
				t.Errorf("problem %q, want one with %q; core %v, GPU %v", usage.Problem, tc.problem, usage.HasCore, usage.HasGPU)
			}
		})
	}
}

// An administrator who configured an address reads what is wrong, where, and what to do.
func TestErrorsOfPrometheusHaveTheAddressAndAHint(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer     http.HandlerFunc
		says, hint string
	}{
		"no server":         {nil, "refused", "check that Prometheus runs"},
		"a login is needed": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "403 Forbidden", "needs no login"},
		"no such path":      {http.NotFound, "404 Not Found", "without the path /api/v1"},
		"not ready":         {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "503", "is ready"},
		"a page":            {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "not valid JSON", "another program"},
		"an error of PromQL": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"status":"error","errorType":"timeout","error":"too slow"}`))
		}, "timeout: too slow", "log of Prometheus"},
		"a redirect elsewhere": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, "not followed", "without a redirect"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := "127.0.0.1:1" // no server gets this port by chance
			if tc.answer != nil {
				server := httptest.NewServer(tc.answer)
				defer server.Close()
				address = server.Listener.Addr().String()
			}
			past, err := NewGPUHistory("http://mei:secret@"+address, &rest.Config{})
			if err != nil {
				t.Fatal(err)
			}
			err = past.Read(t.Context(), time.Now(), time.Now(), time.Second, func(GPUUtilization) {})
			if err == nil {
				t.Fatal("no error")
			}
			got := usererror.FromError(err)
			for _, part := range []string{"prometheus at http://mei:xxxxx@" + address, tc.says} {
				if !strings.Contains(got.What, part) {
					t.Errorf("error %q, want one with %q", got.What, part)
				}
			}
			if !strings.Contains(got.Hint, tc.hint) || strings.Contains(got.What, "query=") {
				t.Errorf("error %q, hint %q, want a hint with %q", got.What, got.Hint, tc.hint)
			}
		})
	}
}

// Prometheus redirects requests to another host, which must not receive the credentials of the API server's client.
func TestARedirectOfPrometheusIsAnErrorAndIsNotFollowed(t *testing.T) {
	t.Parallel()
	var redirected atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { redirected.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL+"/login", http.StatusFound))
	defer server.Close()
	config := &rest.Config{Host: server.URL, BearerToken: "secret"}
	for _, address := range []string{"monitoring/prometheus:9090", server.URL} {
		past, err := NewGPUHistory(address, config)
		if err != nil {
			t.Fatal(err)
		}
		want := "redirect to " + other.URL + "/login (302 Found) is not followed"
		err = past.Read(t.Context(), time.Now(), time.Now(), time.Second, func(GPUUtilization) {})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", address, err, want)
		}
		if problem := readOnce(t, Options{Config: config, Prometheus: address}).Problem; !strings.Contains(problem, want) {
			t.Errorf("%s: problem %q, want one with %q", address, problem, want)
		}
	}
	if n := redirected.Load(); n > 0 {
		t.Errorf("%d requests reached the other host", n)
	}
}

func TestThePauseGrowsWithTheTimeOfARead(t *testing.T) {
	t.Parallel()
	for read, want := range map[time.Duration]time.Duration{10 * time.Millisecond: 15 * time.Second, 500 * time.Millisecond: 150 * time.Second, time.Minute: 10 * time.Minute} {
		if got := pauseAfter(read); got != want {
			t.Errorf("after a read of %v: %v, want %v", read, got, want)
		}
	}
}

func FuzzListsOfMetrics(f *testing.F) {
	f.Add(nodeList)
	f.Add(podList)
	f.Add(`{"items":[{}]}`)
	f.Fuzz(func(_ *testing.T, text string) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, text) }))
		defer server.Close()
		r, err := New(Options{Config: &rest.Config{Host: server.URL}})
		if err != nil {
			return
		}
		r.Read(context.Background())
	})
}

func TestOnlyGPUsWithAUtilizationCountAndLabelsAreCaseSensitive(t *testing.T) {
	t.Parallel()
	gpu := func(index, value string) string {
		return `{"metric":{"Hostname":"n1","hostname":"10.0.0.7","gpu":"` + index + `","namespace":"nlp","pod":"p1"},"value":[1,"` + value + `"]}`
	}
	vectors := map[string]string{utilizationQuery: gpu("0", "50"), memoryQuery: gpu("0", "1000") + "," + gpu("1", "2000")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, vectors[r.URL.Query().Get("query")])
	}))
	defer server.Close()
	usage := readOnce(t, Options{Config: &rest.Config{Host: server.URL}, Prometheus: server.URL})
	want := &snapshot.MeasuredGPU{Count: 1, Percent: 50, MemoryBytes: 1000 << 20}
	if diff := cmp.Diff(want, usage.Nodes["n1"].GPU); diff != "" || usage.Problem != "" {
		t.Errorf("node n1 (-want +got):\n%s\nproblem: %s", diff, usage.Problem)
	}
	if diff := cmp.Diff(want, usage.Pods[snapshot.KeyOfPod("nlp", "p1")].GPU); diff != "" {
		t.Errorf("pod nlp/p1 (-want +got):\n%s", diff)
	}
}
