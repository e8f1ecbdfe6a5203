package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/apiclient"
)

// heard is a request as the server received it.
type heard struct {
	Method, Path, ContentType, Agent, Token string
	Query                                   url.Values
	Object                                  runtime.Object // of a create request
	Kind                                    schema.GroupVersionKind
	Patch                                   string
}

// listen starts an API server that gives the same response to all requests and stores the last request.
func listen(t *testing.T, answer http.HandlerFunc) (config *rest.Config, last *heard) {
	t.Helper()
	last = &heard{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*last = heard{
			Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), ContentType: r.Header.Get("Content-Type"),
			Agent: r.UserAgent(), Token: r.Header.Get("Authorization"),
		}
		if r.Method == http.MethodPost {
			obj, kind, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
			if err != nil {
				t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
			} else {
				last.Object, last.Kind = obj, *kind
			}
		} else {
			last.Patch = string(body)
		}
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL + "/clusters/one", BearerToken: "secret", UserAgent: "vcd/1"}, last
}

func succeed(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"Status","status":"Success"}`))
}

// TestWritesSayWhatClientGoWouldSay compares each frequent write with client-go's request for the same write.
func TestWritesSayWhatClientGoWouldSay(t *testing.T) {
	config, last := listen(t, succeed)
	api, err := NewAPI(config)
	if err != nil {
		t.Fatal(err)
	}
	core, err := corev1client.NewForConfig(ownConnection(config))
	if err != nil {
		t.Fatal(err)
	}
	groups, err := rest.RESTClientFor(schedulingConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod", UID: "u", Annotations: map[string]string{"a": "b"}},
		Target:     corev1.ObjectReference{Kind: "Node", Name: "n"},
	}
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "ns", Name: "pod.1"},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "ns", Name: "pod"},
		Type:           corev1.EventTypeNormal, Reason: reasonScheduled, Message: "m", FirstTimestamp: metav1.NewTime(time.Unix(1e9, 0)), Count: 1,
	}
	patch := []byte(`{"a":"b"}`)
	managed := metav1.PatchOptions{FieldManager: FieldManager}
	ctx := t.Context()
	for _, c := range []struct {
		name          string
		ours, clients func() error
	}{
		{"a bind", func() error { return api.Bind(ctx, binding) }, func() error {
			return core.Pods("ns").Bind(ctx, binding, metav1.CreateOptions{})
		}},
		{"a pod's status", func() error { return api.PatchPodStatus(ctx, "ns", "pod", patch) }, func() error {
			_, err := core.Pods("ns").Patch(ctx, "pod", types.StrategicMergePatchType, patch, managed, "status")
			return err
		}},
		{"a pod", func() error { return api.PatchPod(ctx, "ns", "pod", patch) }, func() error {
			_, err := core.Pods("ns").Patch(ctx, "pod", types.StrategicMergePatchType, patch, managed)
			return err
		}},
		{"a PodGroup", func() error { return api.PatchPodGroup(ctx, "ns", "pg", patch) }, func() error {
			return groups.Patch(types.JSONPatchType).Namespace("ns").Resource("podgroups").Name("pg").
				Param("fieldManager", FieldManager).Body(patch).Do(ctx).Error()
		}},
		{"an event", func() error { return api.CreateEvent(ctx, event) }, func() error {
			_, err := core.Events("ns").Create(ctx, event, metav1.CreateOptions{})
			return err
		}},
		{"an event again", func() error { return api.PatchEvent(ctx, "ns", "e", patch) }, func() error {
			_, err := core.Events("ns").Patch(ctx, "e", types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_ = c.clients() // the response has no object to decode; only the request matters
			want := *last
			if err := c.ours(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, *last); diff != "" {
				t.Errorf("request (-client-go's +ours):\n%s", diff)
			}
		})
	}
}

// TestWritesReadVerdicts covers every kind of error response that judge distinguishes.
func TestWritesReadVerdicts(t *testing.T) {
	status := func(s *apierrors.StatusError, kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			s.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(int(s.ErrStatus.Code))
			if kind == protobuf {
				_ = encoder.Encode(&s.ErrStatus, w)
				return
			}
			_ = json.NewEncoder(w).Encode(s.ErrStatus)
		}
	}
	text := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			http.Error(w, text, code)
		}
	}
	conflict := apierrors.NewConflict(podResource, "p", errors.New("pod p is already assigned to node n"))
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		is     func(error) bool
		judged verdict
		says   string
		pause  time.Duration
	}{
		{"a conflict in JSON", status(conflict, "application/json"), apierrors.IsConflict, refused, conflict.Error(), firstPause},
		{"a conflict in protobuf", status(conflict, protobuf), apierrors.IsConflict, refused, conflict.Error(), firstPause},
		{"a pod that is gone", status(apierrors.NewNotFound(podResource, "p"), protobuf), apierrors.IsNotFound, refused, `pods "p" not found`, firstPause},
		{"a Status that asks for patience", status(apierrors.NewTooManyRequests("later", 3), "application/json"), apierrors.IsTooManyRequests, overload, "later", 3 * time.Second},
		{"a full queue, which answers in plain text", text(http.StatusTooManyRequests, "Too many requests"), apierrors.IsTooManyRequests, overload,
			"the server has received too many requests and has asked us to try again later (patch pods p)", 7 * time.Second},
		{"a proxy whose server is away", text(http.StatusBadGateway, "bad gateway"), apierrors.IsUnexpectedServerError, transient, `an error on the server ("bad gateway") has prevented the request from succeeding (patch pods p)`, 7 * time.Second},
		{"a proxy that forbids in JSON of its own", text(http.StatusForbidden, "{}"), apierrors.IsForbidden, transient, `{} (patch pods p)`, 7 * time.Second},
		{"a connection that breaks", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, func(err error) bool {
			return !errors.As(err, new(apierrors.APIStatus))
		}, transient, "", firstPause},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, _ := listen(t, c.answer)
			api, err := NewAPI(config)
			if err != nil {
				t.Fatal(err)
			}
			err = api.PatchPodStatus(t.Context(), "ns", "p", []byte("{}"))
			if err == nil || !c.is(err) || verdictOfError(err) != c.judged {
				t.Fatalf("error is %v, verdict %d, want %d", err, verdictOfError(err), c.judged)
			}
			if c.says != "" && err.Error() != c.says {
				t.Errorf("error says %q, want %q", err, c.says)
			}
			if pause := retryPause(1, err); pause != c.pause {
				t.Errorf("rests %s, want %s", pause, c.pause)
			}
		})
	}
}

func TestWritesNameWhatItCouldNotReach(t *testing.T) {
	config, _ := listen(t, succeed)
	config.Host = "http://127.0.0.1:1"
	api, err := NewAPI(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	err = api.PatchEvent(ctx, "ns", "e", []byte("{}"))
	const want = "PATCH /api/v1/namespaces/ns/events/e: "
	if err == nil || verdictOfError(err) != transient || fmt.Sprint(err)[:len(want)] != want {
		t.Errorf("error is %v", err)
	}
}

// canned is a transport that responds to every request without a network.
type canned struct{ bind, object []byte }

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	text := c.object
	if r.Method == http.MethodPost {
		text = c.bind
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {protobuf}}, Body: io.NopCloser(bytes.NewReader(text)), Request: r}, nil
}

// BenchmarkWrites measures what a write costs without the network; compare Own with ClientGo, and with RESTClient,
// which is client-go without the decoding of the response.
func BenchmarkWrites(b *testing.B) {
	var status, pod bytes.Buffer
	_ = encoder.Encode(&metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess}, &status)
	_ = encoder.Encode(&corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "pod", Labels: map[string]string{"a": "b"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", Command: []string{"sleep"}}}}}, &pod)
	config := &rest.Config{Host: "http://server", UserAgent: "vcd/1", Transport: canned{status.Bytes(), pod.Bytes()}, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: protobuf}, Timeout: callTimeout}
	writer, err := apiclient.NewWriter(config)
	if err != nil {
		b.Fatal(err)
	}
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	own, raw := &clients{writers: []*apiclient.Writer{writer}}, core.RESTClient()
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod", UID: "u"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}
	patch := []byte(`{"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`)
	for _, c := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"Bind/Own", func(ctx context.Context) error { return own.Bind(ctx, binding) }},
		{"Bind/RESTClient", func(ctx context.Context) error {
			return raw.Post().Namespace("ns").Resource("pods").Name("pod").SubResource("binding").Body(binding).Do(ctx).Error()
		}},
		{"Bind/ClientGo", func(ctx context.Context) error { return core.Pods("ns").Bind(ctx, binding, metav1.CreateOptions{}) }},
		{"Patch/Own", func(ctx context.Context) error { return own.PatchPodStatus(ctx, "ns", "pod", patch) }},
		{"Patch/RESTClient", func(ctx context.Context) error {
			return raw.Patch(types.StrategicMergePatchType).Namespace("ns").Resource("pods").Name("pod").SubResource("status").Param("fieldManager", FieldManager).Body(patch).Do(ctx).Error()
		}},
		{"Patch/ClientGo", func(ctx context.Context) error {
			_, err := core.Pods("ns").Patch(ctx, "pod", types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager}, "status")
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.do(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
