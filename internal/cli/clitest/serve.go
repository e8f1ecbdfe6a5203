package clitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/vc-batch/vc/internal/cli"
)

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	defer s.begin(r)()
	if s.isAway(w) {
		return
	}
	s.mu.Lock()
	refused, other := s.refusal(r), s.others[r.URL.Path]
	s.mu.Unlock()
	if refused != nil {
		write(w, int(refused.Code), refused)
		return
	}
	if other != nil {
		other.ServeHTTP(w, r)
		return
	}
	if s.discovery(w, r) {
		return
	}
	if pod, found := strings.CutSuffix(r.URL.Path, "/log"); found {
		s.log(w, pod, r.URL.Query().Get("timestamps") == "true")
		return
	}
	if strings.HasSuffix(r.URL.Path, "/exec") || strings.HasSuffix(r.URL.Path, "/attach") {
		s.exec(w, r)
		return
	}
	if r.URL.Query().Get("watch") != "" {
		s.watch(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Method {
	case http.MethodGet:
		s.get(w, r)
	case http.MethodPost:
		if pod, found := strings.CutSuffix(r.URL.Path, "/eviction"); found {
			s.evict(w, r, pod)
			return
		}
		s.create(w, r)
	case http.MethodPatch:
		s.patch(w, r)
	case http.MethodDelete:
		s.delete(w, r)
	default:
		s.fail(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, r.Method)
	}
}

func (s *Server) refusal(r *http.Request) *metav1.Status {
	for key, status := range s.refuse {
		method, path, _ := strings.Cut(key, " ")
		if (method == "*" || method == r.Method) && strings.HasPrefix(r.URL.Path, path) {
			return status
		}
	}
	return nil
}

func (s *Server) fail(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	write(w, code, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message})
}

// isObject reports whether a path identifies an object rather than a collection.
func isObject(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	rest := parts[2:]
	if parts[0] == "apis" {
		rest = parts[3:]
	}
	if len(rest) > 1 && rest[0] == "namespaces" && len(rest) != 2 {
		rest = rest[2:]
	}
	return len(rest) == 2
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	if isObject(r.URL.Path) {
		object, there := s.objects[r.URL.Path]
		if !there {
			s.notFound(w, r)
			return
		}
		write(w, http.StatusOK, object)
		return
	}
	query := r.URL.Query()
	var items []map[string]any
	for _, key := range s.below(r.URL.Path) {
		if matches(s.objects[key], query) {
			items = append(items, s.objects[key])
		}
	}
	meta := map[string]any{"resourceVersion": strconv.Itoa(s.version)}
	start, _ := strconv.Atoi(query.Get("continue"))
	end := len(items)
	if limit, _ := strconv.Atoi(query.Get("limit")); limit > 0 && start+limit < end {
		end = start + limit
		meta["continue"] = strconv.Itoa(end)
	}
	items = items[start:end]
	list := map[string]any{"apiVersion": "v1", "kind": "List", "metadata": meta, "items": items}
	if items == nil {
		list["items"] = []any{}
	}
	if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList") {
		list["apiVersion"], list["kind"] = "meta.k8s.io/v1", "PartialObjectMetadataList"
		list["items"] = metadataOnly(items)
	} else if len(items) > 0 {
		list["apiVersion"], list["kind"] = items[0]["apiVersion"], fmt.Sprint(items[0]["kind"], "List")
	} else {
		list["apiVersion"], list["kind"] = emptyList(r.URL.Path)
	}
	write(w, http.StatusOK, list)
}

// emptyList returns the kind of the list to return for a path without objects.
func emptyList(path string) (apiVersion, kind string) {
	kinds := map[string]string{"jobs": "Job", "queues": "Queue", "podgroups": "PodGroup", "pods": "Pod", "nodes": "Node", "events": "Event", "commands": "Command", "hypernodes": "HyperNode",
		"cronjobs": "CronJob", "jobflows": "JobFlow", "jobtemplates": "JobTemplate", "priorityclasses": "PriorityClass"}
	_, resource, _ := cutLast(path, "/")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "api" {
		return parts[1], kinds[resource] + "List"
	}
	return parts[1] + "/" + parts[2], kinds[resource] + "List"
}

func metadataOnly(items []map[string]any) []map[string]any {
	only := []map[string]any{}
	for _, item := range items {
		only = append(only, map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": item["metadata"]})
	}
	return only
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	parent, name, _ := cutLast(r.URL.Path, "/")
	_, resource, _ := cutLast(parent, "/")
	s.fail(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", resource, name))
}

func body(r *http.Request) (map[string]any, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(text, []byte("k8s\x00")) { // protobuf, which clients use for Kubernetes' own kinds
		scheme := cli.Scheme()
		typed, kind, err := protobuf.NewSerializer(scheme, scheme).Decode(text, nil, nil)
		if err != nil {
			return nil, err
		}
		typed.GetObjectKind().SetGroupVersionKind(*kind)
		return runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	}
	var object map[string]any
	err = json.Unmarshal(text, &object)
	return object, err
}

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	object, err := body(r)
	if err != nil {
		s.fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	if err := unknownFields(object, r.URL.Query().Get("fieldValidation")); err != nil {
		s.fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	meta := object["metadata"].(map[string]any)
	if name, _ := meta["name"].(string); name == "" {
		meta["name"] = fmt.Sprintf("%s%05d", meta["generateName"], s.version)
	}
	path := r.URL.Path + "/" + meta["name"].(string)
	if _, there := s.objects[path]; there {
		_, resource, _ := cutLast(r.URL.Path, "/")
		s.fail(w, http.StatusConflict, metav1.StatusReasonAlreadyExists, fmt.Sprintf("%s %q already exists", resource, meta["name"]))
		return
	}
	if r.URL.Query().Get("dryRun") == "" {
		kind, _ := object["kind"].(string)
		if change := s.onCreate[kind]; change != nil {
			change(object)
		}
		s.put(path, object)
		object = s.objects[path]
		s.created[kind] = append(s.created[kind], object)
	}
	write(w, http.StatusCreated, object)
}

// unknownFields returns the server's error for unknown fields with fieldValidation=Strict.
func unknownFields(object map[string]any, validation string) error {
	if validation != "Strict" {
		return nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	codecs := serializer.NewCodecFactory(cli.Scheme(), serializer.EnableStrict)
	if _, _, err = codecs.UniversalDeserializer().Decode(text, nil, nil); runtime.IsStrictDecodingError(err) {
		return fmt.Errorf("%s in version %q cannot be handled as a %s: %w", object["kind"], object["apiVersion"], object["kind"], err)
	}
	return nil
}

func (s *Server) patch(w http.ResponseWriter, r *http.Request) {
	object, there := s.objects[r.URL.Path]
	change, err := body(r)
	switch {
	case !there:
		s.notFound(w, r)
		return
	case err != nil:
		s.fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	if meta, _ := change["metadata"].(map[string]any); meta["resourceVersion"] != nil && meta["resourceVersion"] != object["metadata"].(map[string]any)["resourceVersion"] {
		s.fail(w, http.StatusConflict, metav1.StatusReasonConflict, "the object has been modified; please apply your changes to the latest version and try again")
		return
	}
	merged := merge(object, change).(map[string]any)
	if r.URL.Query().Get("dryRun") == "" {
		s.put(r.URL.Path, merged)
		merged = s.objects[r.URL.Path]
	}
	write(w, http.StatusOK, merged)
}

// merge applies a JSON merge patch.
func merge(old, change any) any {
	changes, isMap := change.(map[string]any)
	if !isMap {
		return change
	}
	merged := map[string]any{}
	if before, ok := old.(map[string]any); ok {
		for key, value := range before {
			merged[key] = value
		}
	}
	for key, value := range changes {
		if value == nil {
			delete(merged, key)
			continue
		}
		merged[key] = merge(merged[key], value)
	}
	return merged
}

func (s *Server) delete(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("dryRun") == "" {
		if text, err := body(r); err == nil && text["dryRun"] != nil {
			write(w, http.StatusOK, metav1.Status{Status: metav1.StatusSuccess})
			return
		}
		if s.held(r.URL.Path) {
			write(w, http.StatusOK, s.objects[r.URL.Path])
			return
		}
		if !s.drop(r.URL.Path) {
			s.notFound(w, r)
			return
		}
	}
	write(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
}

// evict deletes a pod. Tests use Refuse to simulate PodDisruptionBudgets.
func (s *Server) evict(w http.ResponseWriter, r *http.Request, pod string) {
	eviction, err := body(r)
	options, _ := eviction["deleteOptions"].(map[string]any)
	switch {
	case err != nil:
		s.fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	case s.objects[pod] == nil:
		s.fail(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("pods %q not found", path.Base(pod)))
		return
	case options["dryRun"] == nil && !s.held(pod):
		s.drop(pod)
	}
	write(w, http.StatusCreated, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
}

// held marks an object that has finalizers as being deleted. It stays, because no controller removes the finalizers.
func (s *Server) held(path string) bool {
	object, there := s.objects[path]
	if !there {
		return false
	}
	meta := maps.Clone(object["metadata"].(map[string]any))
	if finalizers, _ := meta["finalizers"].([]any); len(finalizers) == 0 {
		return false
	}
	meta["deletionTimestamp"] = "2026-03-01T12:00:00Z"
	object = maps.Clone(object)
	object["metadata"] = meta
	s.put(path, object)
	return true
}

func (s *Server) log(w http.ResponseWriter, path string, stamped bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	s.mu.Lock()
	text, there := s.logs[parts[3]+"/"+parts[5]]
	s.mu.Unlock()
	if !there {
		s.fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "no log")
		return
	}
	if stamped && text != "" {
		text = logged + " " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+logged+" ") + text[len(strings.TrimSuffix(text, "\n")):]
	}
	_, _ = io.WriteString(w, text)
}

// logged is the timestamp of every log line.
const logged = "2026-03-01T11:59:00Z"

// watch sends the changes since the requested version, followed by all new changes. Without a version, it first sends
// all existing objects.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	changes := make(chan change, 1000)
	query := r.URL.Query()
	since, _ := strconv.Atoi(query.Get("resourceVersion"))
	s.mu.Lock()
	for _, key := range s.below(r.URL.Path) {
		object := s.objects[key]
		at, _ := strconv.Atoi(object["metadata"].(map[string]any)["resourceVersion"].(string))
		if at > since {
			changes <- change{"ADDED", key, object}
		}
	}
	s.watchers = append(s.watchers, changes)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	encoder := json.NewEncoder(w)
	prefix, resource, _ := cutLast(r.URL.Path, "/")
	for {
		select {
		case <-r.Context().Done():
			return
		case c := <-changes:
			parent, _, _ := cutLast(c.path, "/")
			if !strings.HasPrefix(parent, prefix) || !strings.HasSuffix(parent, "/"+resource) || !matches(c.object, query) {
				continue
			}
			s.mu.Lock()
			_ = encoder.Encode(map[string]any{"type": c.kind, "object": c.object})
			s.mu.Unlock()
			w.(http.Flusher).Flush()
		}
	}
}
