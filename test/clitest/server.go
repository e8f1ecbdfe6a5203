// Package clitest implements a small in-memory API server for testing the command line. It supports JSON objects,
// paged lists, watches, label and field selectors, dry runs, pod logs, and errors on request. It has no controllers;
// tests make their changes with SetObjects.
package clitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
)

// Server is the API server. Create it with Start.
type Server struct {
	t    testing.TB
	http *httptest.Server

	mu       sync.Mutex
	version  int
	objects  map[string]map[string]any
	watchers []chan change
	// deleted holds the deletions, for watches from an earlier version.
	deleted []deletion
	logs    map[string]string
	refuse  map[string]*metav1.Status
	// claims, kubernetes and volcano determine the responses to discovery requests.
	claims     []claim
	kubernetes string
	volcano    bool

	requests []string
	queries  []string
	bodies   []string
	// open is the number of requests in progress, without watches; moved is the last time a request began or ended.
	open  int
	moved time.Time
	// onCreate changes objects of a kind on creation; created lists all created objects by kind.
	onCreate map[string]func(map[string]any)
	created  map[string][]map[string]any
	// away is true during an outage.
	away bool
	// others contains the handlers for paths without objects.
	others map[string]http.Handler
}

type change struct {
	kind   string
	path   string
	object map[string]any
}

// Start starts a server that is stopped at the end of the test.
func Start(t testing.TB, objects ...client.Object) *Server {
	s := &Server{t: t, claims: served, kubernetes: "v1.37.2", objects: map[string]map[string]any{}, logs: map[string]string{}, refuse: map[string]*metav1.Status{},
		onCreate: map[string]func(map[string]any){}, created: map[string][]map[string]any{}}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serveRequest))
	s.http.Config.ConnContext = storeConnection
	s.http.Start()
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	s.PermitImpersonation(true)
	s.SetObjects(objects...)
	return s
}

// CopyServer starts a new server with the objects of this one, for tests that need many servers. The servers are
// independent of each other.
func (s *Server) CopyServer(t testing.TB) *Server {
	of := Start(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	of.objects, of.version = maps.Clone(s.objects), s.version // objects are replaced, never modified
	return of
}

// URL returns the server's address.
func (s *Server) URL() string { return s.http.URL }

// WriteKubeconfig writes a kubeconfig for the server and returns its path. The context is "test" and has the given
// namespace.
func (s *Server) WriteKubeconfig(namespace string) string {
	path := filepath.Join(s.t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q}}]
contexts: [{name: test, context: {cluster: c, user: mei, namespace: %q}}]
users: [{name: mei, user: {}}]
current-context: test
`, s.URL(), namespace)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// plurals lists the resource names that are not formed by adding an s to the lower-case kind.
var plurals = map[string]string{"QOS": "qoses", "PriorityClass": "priorityclasses"}

func resourceName(kind string) string {
	if plural, ok := plurals[kind]; ok {
		return plural
	}
	return strings.ToLower(kind) + "s"
}

func collectionPath(gvk schema.GroupVersionKind, namespace string) string {
	path := "/apis/" + gvk.Group + "/" + gvk.Version
	if gvk.Group == "" {
		path = "/api/" + gvk.Version
	}
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + resourceName(gvk.Kind)
}

// SetObjects stores objects unchanged and notifies watches.
func (s *Server) SetObjects(objects ...client.Object) {
	s.t.Helper()
	for _, object := range objects {
		object = object.DeepCopyObject().(client.Object)
		if err := cli.SetKind(object); err != nil {
			s.t.Fatal(err)
		}
		plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			s.t.Fatal(err)
		}
		path := collectionPath(object.GetObjectKind().GroupVersionKind(), object.GetNamespace()) + "/" + object.GetName()
		s.mu.Lock()
		s.storeObject(path, plain)
		s.mu.Unlock()
	}
}

// RemoveObject deletes an object and notifies watches.
func (s *Server) RemoveObject(object client.Object) {
	s.t.Helper()
	if err := cli.SetKind(object); err != nil {
		s.t.Fatal(err)
	}
	path := collectionPath(object.GetObjectKind().GroupVersionKind(), object.GetNamespace()) + "/" + object.GetName()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeStored(path)
}

// SetLog sets the log of all containers of a pod, which is given as namespace/name.
func (s *Server) SetLog(pod, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs[pod] = text
}

// RejectRequests makes the server reject all requests with the given method and path, or a path below it.
func (s *Server) RejectRequests(method, path string, code int, reason metav1.StatusReason, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse[method+" "+path] = &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message,
	}
}

// HandlePath sets a handler for a path, as an aggregated API would.
func (s *Server) HandlePath(path string, by http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.others == nil {
		s.others = map[string]http.Handler{}
	}
	s.others[path] = by
}

// PermitRequests reverts a call of RejectRequests.
func (s *Server) PermitRequests(method, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.refuse, method+" "+path)
}

// OnCreate sets a function that changes every object of a kind when it is created, as a fast controller would.
func (s *Server) OnCreate(kind string, change func(map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onCreate[kind] = change
}

// CreatedObjects returns the created objects of a kind, including deleted ones.
func (s *Server) CreatedObjects(kind string) []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.created[kind])
}

// ObjectsBelow returns the objects below a path, sorted by path.
func (s *Server) ObjectsBelow(path string) []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []map[string]any
	for _, key := range s.pathsBelow(path) {
		found = append(found, s.objects[key])
	}
	return found
}

// Requests returns all requests so far, for example "GET /api/v1/nodes".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Queries returns the unescaped queries of the requests so far, parallel to Requests.
func (s *Server) Queries() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queries)
}

// Bodies returns the bodies of the requests so far, parallel to Requests.
func (s *Server) Bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// IsQuiet reports whether there have been requests, but none is in progress, and none has begun or ended for the given
// time. Open watches are not considered to be in progress.
func (s *Server) IsQuiet(long time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open == 0 && !s.moved.IsZero() && time.Since(s.moved) > long
}

// recordRequest records the start of a request. The returned function records its end.
func (s *Server) recordRequest(r *http.Request) (end func()) {
	query, err := url.QueryUnescape(r.URL.RawQuery)
	if err != nil {
		query = r.URL.RawQuery
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Logf("%s %s: %v", r.Method, r.URL, err)
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	path := r.URL.Path
	stays := r.URL.Query().Get("watch") != "" || strings.HasSuffix(path, "/exec") || strings.HasSuffix(path, "/attach")
	move := func(by int) {
		if s.moved = time.Now(); !stays {
			s.open += by
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.queries, s.bodies = append(s.requests, r.Method+" "+path), append(s.queries, query), append(s.bodies, string(text))
	move(1)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		move(-1)
	}
}

func (s *Server) storeObject(path string, object map[string]any) {
	kind := "ADDED"
	if _, there := s.objects[path]; there {
		kind = "MODIFIED"
	}
	s.version++
	object = maps.Clone(object)
	meta := maps.Clone(object["metadata"].(map[string]any))
	object["metadata"] = meta
	meta["resourceVersion"] = strconv.Itoa(s.version)
	if meta["uid"] == nil {
		meta["uid"] = fmt.Sprintf("uid-%d", s.version)
	}
	s.objects[path] = object
	s.notifyWatchers(change{kind, path, object})
}

// deletion is the deletion of an object at a version.
type deletion struct {
	version int
	change  change
}

func (s *Server) removeStored(path string) bool {
	object, there := s.objects[path]
	if !there {
		return false
	}
	delete(s.objects, path)
	s.version++
	s.deleted = append(s.deleted, deletion{s.version, change{"DELETED", path, object}})
	s.notifyWatchers(change{"DELETED", path, object})
	return true
}

func (s *Server) notifyWatchers(c change) {
	for _, watcher := range s.watchers {
		select {
		case watcher <- c:
		default:
		}
	}
}

// pathsBelow returns the paths of the objects in a collection. A collection without a namespace includes all
// namespaces.
func (s *Server) pathsBelow(path string) []string {
	prefix, resource, _ := cutLast(path, "/")
	var keys []string
	for key := range s.objects {
		parent, _, _ := cutLast(key, "/")
		if parent == path || (strings.HasPrefix(parent, prefix+"/namespaces/") && strings.HasSuffix(parent, "/"+resource)) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func cutLast(text, sep string) (before, after string, found bool) {
	if at := strings.LastIndex(text, sep); at >= 0 {
		return text[:at], text[at+len(sep):], true
	}
	return text, "", false
}

func matchesSelectors(object map[string]any, query url.Values) bool {
	item := unstructured.Unstructured{Object: object}
	selector, err := labels.Parse(query.Get("labelSelector"))
	if err != nil || !selector.Matches(labels.Set(item.GetLabels())) {
		return false
	}
	field, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return false
	}
	set := fields.Set{}
	for _, requirement := range field.Requirements() {
		value, _, _ := unstructured.NestedString(object, strings.Split(requirement.Field, ".")...)
		set[requirement.Field] = value
	}
	return field.Matches(set)
}

func writeJSON(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(value)
}
