package metricsapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/vc-batch/vc/internal/local/processnode"
)

// newTestHandler returns a handler with one node and two pods. It accepts all requests with the name of a user.
func newTestHandler(t *testing.T, nodeLabels NodeLabels) http.Handler {
	t.Helper()
	authn := authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		name := r.Header.Get("X-Remote-User")
		return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, name != "", nil
	})
	store := &Store{}
	for _, seconds := range []time.Duration{10, 20} {
		store.Add(Measurement{At: start.Add(seconds * time.Second), Nodes: map[string][]processnode.ContainerUse{
			"node-1": {container("a", "main", 0, seconds*time.Second/2, 1<<20), container("b", "main", 0, 0, 2<<20)},
		}})
	}
	return NewHandler(store, nodeLabels)(authn, nil, logr.Discard())
}

func TestTheAPIReturnsMetricsBySelectorAndName(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(context.Context) (map[string]labels.Set, error) {
		return map[string]labels.Set{"node-1": {"rack": "r1"}}, nil
	})
	const root = "/apis/metrics.k8s.io/v1beta1"
	for _, c := range []struct {
		name, user, path string
		code             int
		has, hasNot      string
	}{
		{"discovery", "", root, 200, `"kind":"PodMetrics"`, ""},
		{"nodes", "admin", root + "/nodes", 200, `"usage":{"cpu":"500m","memory":"3Mi"}`, ""},
		{"nodes with a label", "admin", root + "/nodes?labelSelector=rack%3Dr1", 200, `"name":"node-1"`, ""},
		{"nodes without a label", "admin", root + "/nodes?labelSelector=rack%3Dr2", 200, `"items":[]`, "node-1"},
		{"one node", "admin", root + "/nodes/node-1", 200, `"kind":"NodeMetrics"`, ""},
		{"a missing node", "admin", root + "/nodes/node-2", 404, `nodes.metrics.k8s.io \"node-2\" not found`, ""},
		{"pods of all namespaces", "mei", root + "/pods", 200, `"name":"b"`, ""},
		{"pods of a namespace", "mei", root + "/namespaces/default/pods", 200, `"containers":[{"name":"main","usage":{"cpu":"500m","memory":"1Mi"}}]`, ""},
		{"pods with a label", "mei", root + "/namespaces/default/pods?labelSelector=app%3Db", 200, `"name":"b"`, `"name":"a"`},
		{"pods by name", "mei", root + "/namespaces/default/pods?fieldSelector=metadata.name%3Da", 200, `"name":"a"`, `"name":"b"`},
		{"one pod", "mei", root + "/namespaces/default/pods/a", 200, `"kind":"PodMetrics"`, ""},
		{"a missing pod", "mei", root + "/namespaces/default/pods/c", 404, "not found", ""},
		{"pods of another namespace", "admin", root + "/namespaces/other/pods", 200, `"items":[]`, ""},
		{"an invalid label selector", "admin", root + "/pods?labelSelector=%3D%3D", 400, "labelSelector: ", ""},
		{"an invalid field selector", "admin", root + "/pods?fieldSelector=a", 400, "fieldSelector: ", ""},
		{"a request that did not come from the API server", "", root + "/pods", 503, "only requests through the API server", "500m"},
		{"another path", "admin", root + "/services", 404, "could not find the requested resource", ""},
	} {
		request := httptest.NewRequest(http.MethodGet, c.path, nil)
		if c.user != "" {
			request.Header.Set("X-Remote-User", c.user)
		}
		response := httptest.NewRecorder()
		h.ServeHTTP(response, request)
		body := response.Body.String()
		if response.Code != c.code || !strings.Contains(body, c.has) || (c.hasNot != "" && strings.Contains(body, c.hasNot)) {
			t.Errorf("%s: %d %s", c.name, response.Code, body)
		}
	}
}

func TestNodesAreUnavailableWithoutTheirLabels(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(context.Context) (map[string]labels.Set, error) { return nil, errors.New("connection refused") })
	request := httptest.NewRequest(http.MethodGet, "/apis/metrics.k8s.io/v1beta1/nodes", nil)
	request.Header.Set("X-Remote-User", "admin")
	response := httptest.NewRecorder()
	h.ServeHTTP(response, request)
	if response.Code != http.StatusServiceUnavailable || !strings.Contains(response.Body.String(), "labels of nodes: connection refused") {
		t.Errorf("%d %s", response.Code, response.Body)
	}
}
