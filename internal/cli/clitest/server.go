// Package clitest is an API server in memory, small enough to read, for the
// tests of the command line: objects as JSON, lists in pages, watches, label and
// field selectors, dry runs, pod logs, and failures on request. It decides
// nothing: what controllers would do, tests do through Set.
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
	logs     map[string]string
	refuse   map[string]*metav1.Status
	// claims, kubernetes and volcano are what discovery answers.
	claims     []claim
	kubernetes string
	volcano    bool

	requests []string
	queries  []string
	bodies   []string
	// open are the requests that are being answered, watches apart; moved is when one last began or ended.
	open  int
	moved time.Time
	// onCreate changes objects of a kind as they are created; created are those of each kind that were.
	onCreate map[string]func(map[string]any)
	created  map[string][]map[string]any
	// away says that the server answers nothing.
	away bool
	// others answer paths that no object is at.
	others map[string]http.Handler
}

type change struct {
	kind   string
	path   string
	object map[string]any
}

// Start starts a server that ends with the test.
func Start(t testing.TB, objects ...client.Object) *Server {
	s := &Server{t: t, claims: served, kubernetes: "v1.36.3", objects: map[string]map[string]any{}, logs: map[string]string{}, refuse: map[string]*metav1.Status{},
		onCreate: map[string]func(map[string]any){}, created: map[string][]map[string]any{}}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.Config.ConnContext = withConnection
	s.http.Start()
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	s.Set(objects...)
	return s
}

// Copy starts a server with the objects of this one, for who needs many; what the one does the other does not see.
func (s *Server) Copy(t testing.TB) *Server {
	of := Start(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	of.objects, of.version = maps.Clone(s.objects), s.version // objects are replaced and never changed
	return of
}

// URL is the server's address.
func (s *Server) URL() string { return s.http.URL }

// Kubeconfig writes a kubeconfig for the server and returns its path. The
// context is "test", its namespace the given one.
func (s *Server) Kubeconfig(namespace string) string {
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

// plurals of the kinds that tests use; others add an s.
var plurals = map[string]string{"PriorityClass": "priorityclasses"}

func resourceOf(kind string) string {
	if plural, ok := plurals[kind]; ok {
		return plural
	}
	return strings.ToLower(kind) + "s"
}

func collection(gvk schema.GroupVersionKind, namespace string) string {
	path := "/apis/" + gvk.Group + "/" + gvk.Version
	if gvk.Group == "" {
		path = "/api/" + gvk.Version
	}
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + resourceOf(gvk.Kind)
}

// Set puts objects into the store as they are, and tells the watchers.
func (s *Server) Set(objects ...client.Object) {
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
		path := collection(object.GetObjectKind().GroupVersionKind(), object.GetNamespace()) + "/" + object.GetName()
		s.mu.Lock()
		s.put(path, plain)
		s.mu.Unlock()
	}
}

// Remove deletes an object and tells the watchers.
func (s *Server) Remove(object client.Object) {
	s.t.Helper()
	if err := cli.SetKind(object); err != nil {
		s.t.Fatal(err)
	}
	path := collection(object.GetObjectKind().GroupVersionKind(), object.GetNamespace()) + "/" + object.GetName()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(path)
}

// Log sets what a container said; pod is namespace/name.
func (s *Server) Log(pod, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs[pod] = text
}

// Refuse answers every request of this method below this path with a status.
func (s *Server) Refuse(method, path string, code int, reason metav1.StatusReason, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse[method+" "+path] = &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message,
	}
}

// Answer lets somebody else answer a path, as an aggregated API does.
func (s *Server) Answer(path string, by http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.others == nil {
		s.others = map[string]http.Handler{}
	}
	s.others[path] = by
}

// Permit ends what Refuse began.
func (s *Server) Permit(method, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.refuse, method+" "+path)
}

// OnCreate lets a test change every object of a kind as it is created, as those do who answer at once.
func (s *Server) OnCreate(kind string, change func(map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onCreate[kind] = change
}

// Created returns the objects of a kind that were created, deleted ones included.
func (s *Server) Created(kind string) []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.created[kind])
}

// Objects returns what is stored below a path, in the order of the paths.
func (s *Server) Objects(path string) []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []map[string]any
	for _, key := range s.below(path) {
		found = append(found, s.objects[key])
	}
	return found
}

// Requests returns the requests so far: "GET /api/v1/nodes".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Queries returns the queries of the requests so far, one for each of Requests, unescaped.
func (s *Server) Queries() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queries)
}

// Bodies returns what the requests so far carried, one for each of Requests.
func (s *Server) Bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// Quiet says whether somebody asked something, and nobody has for so long; who only watches asks nothing.
func (s *Server) Quiet(long time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open == 0 && !s.moved.IsZero() && time.Since(s.moved) > long
}

// begin notes a request; what it returns notes that it is answered.
func (s *Server) begin(r *http.Request) (end func()) {
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

func (s *Server) put(path string, object map[string]any) {
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
	s.tell(change{kind, path, object})
}

func (s *Server) drop(path string) bool {
	object, there := s.objects[path]
	if !there {
		return false
	}
	delete(s.objects, path)
	s.version++
	s.tell(change{"DELETED", path, object})
	return true
}

func (s *Server) tell(c change) {
	for _, watcher := range s.watchers {
		select {
		case watcher <- c:
		default:
		}
	}
}

// below lists the paths of the objects of a collection; a collection without a
// namespace holds those of all.
func (s *Server) below(path string) []string {
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

func matches(object map[string]any, query url.Values) bool {
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

func write(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(value)
}
