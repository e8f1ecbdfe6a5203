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
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/cli"
)

func (s *Server) serveRequest(w http.ResponseWriter, r *http.Request) {
	defer s.recordRequest(r)()
	if s.rejectDuringOutage(w) {
		return
	}
	s.mu.Lock()
	refused, other := s.findRefusal(r), s.others[r.URL.Path]
	s.mu.Unlock()
	if refused != nil {
		writeJSON(w, int(refused.Code), refused)
		return
	}
	if other != nil {
		other.ServeHTTP(w, r)
		return
	}
	if s.serveDiscovery(w, r) {
		return
	}
	if pod, found := strings.CutSuffix(r.URL.Path, "/log"); found {
		s.serveLog(w, pod, r.URL.Query().Get("timestamps") == "true")
		return
	}
	if strings.HasSuffix(r.URL.Path, "/exec") || strings.HasSuffix(r.URL.Path, "/attach") {
		s.serveExec(w, r)
		return
	}
	if r.URL.Query().Get("watch") != "" {
		s.serveWatch(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Method {
	case http.MethodGet:
		s.serveGet(w, r)
	case http.MethodPost:
		if pod, found := strings.CutSuffix(r.URL.Path, "/eviction"); found {
			s.serveEviction(w, r, pod)
			return
		}
		s.serveCreate(w, r)
	case http.MethodPatch:
		s.servePatch(w, r)
	case http.MethodDelete:
		s.serveDelete(w, r)
	default:
		s.writeFailure(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, r.Method)
	}
}

func (s *Server) findRefusal(r *http.Request) *metav1.Status {
	for key, status := range s.refuse {
		method, path, _ := strings.Cut(key, " ")
		if (method == "*" || method == r.Method) && strings.HasPrefix(r.URL.Path, path) {
			return status
		}
	}
	return nil
}

func (s *Server) writeFailure(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	writeJSON(w, code, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
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

func (s *Server) serveGet(w http.ResponseWriter, r *http.Request) {
	if isObject(r.URL.Path) {
		object, there := s.objects[r.URL.Path]
		if !there {
			s.writeNotFound(w, r)
			return
		}
		writeJSON(w, http.StatusOK, object)
		return
	}
	query := r.URL.Query()
	var items []map[string]any
	for _, key := range s.pathsBelow(r.URL.Path) {
		if matchesSelectors(s.objects[key], query) {
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
	writeJSON(w, http.StatusOK, list)
}

// emptyList returns the kind of the list to return for a path without objects.
func emptyList(path string) (apiVersion, kind string) {
	kinds := map[string]string{"accounts": "Account", "qoses": "QOS", "jobs": "Job", "queues": "Queue", "podgroups": "PodGroup", "pods": "Pod", "nodes": "Node", "events": "Event", "commands": "Command", "hypernodes": "HyperNode",
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

func (s *Server) writeNotFound(w http.ResponseWriter, r *http.Request) {
	parent, name, _ := cutLast(r.URL.Path, "/")
	_, resource, _ := cutLast(parent, "/")
	s.writeFailure(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", resource, name))
}

func readBody(r *http.Request) (map[string]any, error) {
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

func (s *Server) serveCreate(w http.ResponseWriter, r *http.Request) {
	object, err := readBody(r)
	if err != nil {
		s.writeFailure(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	if err := checkUnknownFields(object, r.URL.Query().Get("fieldValidation")); err != nil {
		s.writeFailure(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	meta := object["metadata"].(map[string]any)
	if name, _ := meta["name"].(string); name == "" {
		meta["name"] = fmt.Sprintf("%s%05d", meta["generateName"], s.version)
	}
	path := r.URL.Path + "/" + meta["name"].(string)
	if _, there := s.objects[path]; there {
		_, resource, _ := cutLast(r.URL.Path, "/")
		s.writeFailure(w, http.StatusConflict, metav1.StatusReasonAlreadyExists, fmt.Sprintf("%s %q already exists", resource, meta["name"]))
		return
	}
	if r.URL.Query().Get("dryRun") == "" {
		kind, _ := object["kind"].(string)
		if change := s.onCreate[kind]; change != nil {
			change(object)
		}
		s.storeObject(path, object)
		object = s.objects[path]
		s.created[kind] = append(s.created[kind], object)
	}
	writeJSON(w, http.StatusCreated, object)
}

// checkUnknownFields returns the server's error for unknown fields with fieldValidation=Strict.
func checkUnknownFields(object map[string]any, validation string) error {
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

func (s *Server) servePatch(w http.ResponseWriter, r *http.Request) {
	object, there := s.objects[r.URL.Path]
	change, err := readBody(r)
	switch {
	case err != nil:
		s.writeFailure(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	case !there && r.Header.Get("Content-Type") == string(types.ApplyPatchType):
		s.createApplied(w, r, change)
		return
	case !there:
		s.writeNotFound(w, r)
		return
	}
	if meta, _ := change["metadata"].(map[string]any); meta["resourceVersion"] != nil && meta["resourceVersion"] != object["metadata"].(map[string]any)["resourceVersion"] {
		s.writeFailure(w, http.StatusConflict, metav1.StatusReasonConflict, "the object has been modified; please apply your changes to the latest version and try again")
		return
	}
	merged := mergePatch(object, change).(map[string]any)
	if r.URL.Query().Get("dryRun") == "" {
		s.storeObject(r.URL.Path, merged)
		merged = s.objects[r.URL.Path]
	}
	writeJSON(w, http.StatusOK, merged)
}

// createApplied creates an object that a client applies and that does not exist.
func (s *Server) createApplied(w http.ResponseWriter, r *http.Request, object map[string]any) {
	if r.URL.Query().Get("dryRun") == "" {
		if change := s.onCreate[fmt.Sprint(object["kind"])]; change != nil {
			change(object)
		}
		s.storeObject(r.URL.Path, object)
	}
	writeJSON(w, http.StatusCreated, object)
}

// mergePatch applies a JSON merge patch.
func mergePatch(old, change any) any {
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
		merged[key] = mergePatch(merged[key], value)
	}
	return merged
}

func (s *Server) serveDelete(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("dryRun") == "" {
		if text, err := readBody(r); err == nil && text["dryRun"] != nil {
			writeJSON(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
			return
		}
		if s.holdForFinalizers(r.URL.Path) {
			writeJSON(w, http.StatusOK, s.objects[r.URL.Path])
			return
		}
		if !s.removeStored(r.URL.Path) {
			s.writeNotFound(w, r)
			return
		}
	}
	writeJSON(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
}

// serveEviction deletes a pod. Tests use RejectRequests to simulate PodDisruptionBudgets.
func (s *Server) serveEviction(w http.ResponseWriter, r *http.Request, pod string) {
	eviction, err := readBody(r)
	options, _ := eviction["deleteOptions"].(map[string]any)
	switch {
	case err != nil:
		s.writeFailure(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	case s.objects[pod] == nil:
		s.writeFailure(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("pods %q not found", path.Base(pod)))
		return
	case options["dryRun"] == nil && !s.holdForFinalizers(pod):
		s.removeStored(pod)
	}
	writeJSON(w, http.StatusCreated, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
}

// holdForFinalizers marks an object that has finalizers as being deleted. It stays, because no controller removes the
// finalizers.
func (s *Server) holdForFinalizers(path string) bool {
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
	s.storeObject(path, object)
	return true
}

func (s *Server) serveLog(w http.ResponseWriter, path string, stamped bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	s.mu.Lock()
	text, there := s.logs[parts[3]+"/"+parts[5]]
	s.mu.Unlock()
	if !there {
		s.writeFailure(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "no log")
		return
	}
	if stamped && text != "" {
		text = logged + " " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+logged+" ") + text[len(strings.TrimSuffix(text, "\n")):]
	}
	_, _ = io.WriteString(w, text)
}

// logged is the timestamp of every log line.
const logged = "2026-03-01T11:59:00Z"

// serveWatch sends the changes since the requested version, followed by all new changes. Without a version, it first
// sends all existing objects.
func (s *Server) serveWatch(w http.ResponseWriter, r *http.Request) {
	changes := make(chan change, 1000)
	query := r.URL.Query()
	since, _ := strconv.Atoi(query.Get("resourceVersion"))
	s.mu.Lock()
	for _, key := range s.pathsBelow(r.URL.Path) {
		object := s.objects[key]
		at, _ := strconv.Atoi(object["metadata"].(map[string]any)["resourceVersion"].(string))
		if at > since {
			changes <- change{"ADDED", key, object}
		}
	}
	for _, d := range s.deleted {
		if since > 0 && d.version > since {
			changes <- d.change
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
			if !strings.HasPrefix(parent, prefix) || !strings.HasSuffix(parent, "/"+resource) || !matchesSelectors(c.object, query) {
				continue
			}
			s.mu.Lock()
			_ = encoder.Encode(map[string]any{"type": c.kind, "object": c.object})
			s.mu.Unlock()
			w.(http.Flusher).Flush()
		}
	}
}
