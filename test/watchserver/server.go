// Package watchserver implements the watches of an API server, and nothing else. It streams objects, in protobuf or
// JSON like the real server, and then their changes. Tests can therefore watch a hundred thousand pods without a
// cluster that runs them.
//
//	In:   objects, or a function that makes the i-th; later changes (Send)
//
// Out:  watches with sendInitialEvents; lists and all other requests are rejected
//
// # Concurrency
//
// A Server serves many watches at once; its methods may be called at any time.
package watchserver

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kind holds the objects of one resource.
type Kind struct {
	// Sample is an object of the type. It is sent as the bookmark.
	Sample client.Object
	GVK    schema.GroupVersionKind
	// Count is the number of objects, and Make creates the i-th of them. Make may be nil if Count is 0.
	Count int
	Make  func(i int) client.Object
	// Forbidden rejects watches of all namespaces. Watches of Namespace are still served, with the objects in it.
	Forbidden bool
	Namespace string
}

// Server serves kinds by the name of their resource.
type Server struct {
	kinds map[string]*Kind

	mu      sync.Mutex
	version int
	watches map[*stream]bool
	listed  map[string]time.Time
	down    bool
}

// New returns a server for these kinds. Other resources are not found.
func New(kinds map[string]*Kind) *Server {
	return &Server{kinds: kinds, version: 1, watches: map[*stream]bool{}, listed: map[string]time.Time{}}
}

// stream is an open watch.
type stream struct {
	resource, namespace string
	selector            fields.Selector
	proto               bool
	events              chan event
}

// wants reports whether an object matches the watch's namespace and field selector.
func (w *stream) wants(object client.Object) bool {
	set := fields.Set{"metadata.name": object.GetName(), "metadata.namespace": object.GetNamespace()}
	if e, ok := object.(*corev1.Event); ok {
		set["involvedObject.kind"], set["involvedObject.uid"], set["reason"], set["type"] = e.InvolvedObject.Kind, string(e.InvolvedObject.UID), e.Reason, e.Type
	}
	return (w.namespace == "" || w.namespace == object.GetNamespace()) && w.selector.Matches(set)
}

type event struct {
	kind   string
	object client.Object
}

// Listed returns when the last initial list was complete, and how many resources were listed.
func (s *Server) Listed() (last time.Time, resources int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.listed {
		if at.After(last) {
			last = at
		}
	}
	return last, len(s.listed)
}

// Send sends a change of an object to all watches of its resource: ADDED, MODIFIED or DELETED.
func (s *Server) Send(resource, what string, object client.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	object.SetResourceVersion(strconv.Itoa(s.version))
	for w := range s.watches {
		if w.resource == resource && w.wants(object) {
			w.events <- event{what, object}
		}
	}
}

// Down ends all watches and rejects new ones by closing their connections, until it is called with false.
func (s *Server) Down(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
	if down {
		for w := range s.watches {
			close(w.events)
			delete(s.watches, w)
		}
	}
}

// ServeHTTP serves a watch.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource, namespace := path.Base(r.URL.Path), ""
	if _, rest, found := strings.Cut(r.URL.Path, "/namespaces/"); found {
		namespace, _, _ = strings.Cut(rest, "/")
	}
	k := s.kinds[resource]
	query := r.URL.Query()
	s.mu.Lock()
	down := s.down
	s.mu.Unlock()
	switch {
	case down:
		panic(http.ErrAbortHandler)
	case k == nil:
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
		return
	case k.Forbidden && (namespace == "" || namespace != k.Namespace):
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, fmt.Sprintf("%s is forbidden: User %q cannot list resource %q at the cluster scope", resource, "mei", resource))
		return
	case query.Get("watch") == "":
		refuse(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "only watches are served")
		return
	}
	selector, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	one := &stream{resource: resource, namespace: namespace, selector: selector, proto: strings.Contains(r.Header.Get("Accept"), "protobuf"), events: make(chan event, 1<<16)}
	s.mu.Lock()
	s.watches[one] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.watches, one)
		s.mu.Unlock()
	}()
	s.serve(w, r, one, k, query.Get("sendInitialEvents") == "true")
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, one *stream, k *Kind, initial bool) {
	contentType := "application/json"
	if one.proto {
		contentType = "application/vnd.kubernetes.protobuf;stream=watch"
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(http.StatusOK)
	flush := w.(http.Flusher)
	flush.Flush()
	out := &frames{w: w, proto: one.proto, group: k.GVK}
	if initial {
		for i := range k.Count {
			if object := k.Make(i); one.wants(object) {
				out.write("ADDED", object)
			}
		}
		mark := k.Sample.DeepCopyObject().(client.Object)
		mark.SetResourceVersion("1")
		mark.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		out.write("BOOKMARK", mark)
		flush.Flush()
		s.mu.Lock()
		s.listed[one.resource] = time.Now()
		s.mu.Unlock()
	}
	for out.err == nil {
		select {
		case <-r.Context().Done():
			return
		case e, open := <-one.events:
			if !open {
				panic(http.ErrAbortHandler)
			}
			out.write(e.kind, e.object)
			if len(one.events) == 0 {
				flush.Flush()
			}
		}
	}
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(&metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message, //nolint:gosec // an HTTP code
	})
}

// frames encodes watch events as the API server does.
type frames struct {
	w     http.ResponseWriter
	proto bool
	group schema.GroupVersionKind
	err   error
}

var objects, events = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme)

func (f *frames) write(kind string, object client.Object) {
	if f.err != nil {
		return
	}
	object.GetObjectKind().SetGroupVersionKind(f.group)
	if !f.proto {
		f.err = json.NewEncoder(f.w).Encode(map[string]any{"type": kind, "object": object})
		return
	}
	raw, err := runtime.Encode(objects, object)
	if err == nil {
		raw, err = runtime.Encode(events, &metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: raw}})
	}
	if err != nil {
		f.err = err
		return
	}
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(raw))) //nolint:gosec // objects are small
	if _, f.err = f.w.Write(size[:]); f.err == nil {
		_, f.err = f.w.Write(raw)
	}
}
