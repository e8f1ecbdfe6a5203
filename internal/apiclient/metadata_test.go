package apiclient

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// heard is a received request.
type heard struct{ Method, Path, Content, Accept, By string }

// hear starts an API server that accepts writes and responds with metadata, or with a refusal.
func hear(t *testing.T, refusal *metav1.Status) (write client.Client, requests *[]heard, body *[]byte) {
	t.Helper()
	requests, body = &[]heard{}, new([]byte)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests = append(*requests, heard{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("Accept"), r.UserAgent()})
		*body, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		answer := any(&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "o", UID: "u", ResourceVersion: "8", Labels: map[string]string{"set": "by a webhook"},
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}}})
		if refusal != nil {
			w.WriteHeader(int(refusal.Code))
			answer = refusal
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	l, err := NewMetadataClient(nil, &rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	l.Client = none{}
	return l, requests, body
}

// none is a client that must not be called.
type none struct{ client.Client }

func (none) Status() client.SubResourceWriter { return nil }

const (
	asJSON     = "application/json"
	asProtobuf = "application/vnd.kubernetes.protobuf"
)

// TestWhatIsWrittenForEveryPodIsSmall verifies that writes of pods, PodGroups and job statuses receive only metadata,
// and that the object then has this metadata and is otherwise unchanged.
func TestWhatIsWrittenForEveryPodIsSmall(t *testing.T) {
	t.Parallel()
	us := rest.DefaultKubernetesUserAgent()
	meta := metav1.ObjectMeta{Namespace: "ns", Name: "o"}
	now := metav1.ObjectMeta{Namespace: "ns", Name: "o", UID: "u", ResourceVersion: "8", Labels: map[string]string{"set": "by a webhook"}}
	spec := batchv1alpha1.JobSpec{Queue: "q", Tasks: []batchv1alpha1.TaskSpec{{Name: "w"}}}
	status := batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Running}, Running: 3}
	create := func(c client.Client, o client.Object) error { return c.Create(t.Context(), o) }
	for name, test := range map[string]struct {
		object, want client.Object
		do           func(client.Client, client.Object) error
		request      heard
	}{
		"a pod": {&corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: "n"}},
			&corev1.Pod{ObjectMeta: now, Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodPending}},
			create, heard{"POST", "/api/v1/namespaces/ns/pods", asProtobuf, metadataOnly, us}},
		"a PodGroup": {&schedulingv1beta1.PodGroup{ObjectMeta: meta, Spec: schedulingv1beta1.PodGroupSpec{MinMember: 2}}, &schedulingv1beta1.PodGroup{ObjectMeta: now, Spec: schedulingv1beta1.PodGroupSpec{MinMember: 2}},
			create, heard{"POST", "/apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups", asJSON, metadataOnly, us}},
		"a job's status": {&batchv1alpha1.Job{ObjectMeta: meta, Spec: spec, Status: status}, &batchv1alpha1.Job{ObjectMeta: now, Spec: spec, Status: status},
			func(c client.Client, o client.Object) error { return c.Status().Update(t.Context(), o) },
			heard{"PUT", "/apis/batch.volcano.sh/v1alpha1/namespaces/ns/jobs/o/status", asJSON, metadataOnly, us}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, requests, _ := hear(t, nil)
			if err := test.do(c, test.object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]heard{test.request}, *requests); diff != "" {
				t.Errorf("requests: -want +got\n%s", diff)
			}
			if diff := cmp.Diff(test.want, test.object); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestAStatusIsSentWithoutTheSpec also verifies that the request contains the resourceVersion, so that it cannot
// overwrite a newer status.
func TestAStatusIsSentWithoutTheSpec(t *testing.T) {
	t.Parallel()
	c, _, body := hear(t, nil)
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "o", UID: "u", ResourceVersion: "7", Annotations: map[string]string{"a": "b"}},
		Spec: batchv1alpha1.JobSpec{Queue: "q"}, Status: batchv1alpha1.JobStatus{Running: 3}}
	if err := c.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	var sent map[string]any
	if err := json.Unmarshal(*body, &sent); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
		"metadata": map[string]any{"namespace": "ns", "name": "o", "uid": "u", "resourceVersion": "7"}, "status": sent["status"]}
	if diff := cmp.Diff(want, sent); diff != "" || sent["status"].(map[string]any)["running"] != 3.0 {
		t.Errorf("%s: -want +got\n%s", *body, diff)
	}
}

// TestARefusalIsReadAsOne verifies that errors are recognized, for example conflicts, exceeded quotas and existing
// names.
func TestARefusalIsReadAsOne(t *testing.T) {
	t.Parallel()
	for reason, is := range map[metav1.StatusReason]func(error) bool{metav1.StatusReasonConflict: apierrors.IsConflict, metav1.StatusReasonForbidden: apierrors.IsForbidden,
		metav1.StatusReasonAlreadyExists: apierrors.IsAlreadyExists, metav1.StatusReasonNotFound: apierrors.IsNotFound} {
		c, _, _ := hear(t, &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: reason, Code: 400, Message: "no"})
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "o"}}
		if err := c.Create(t.Context(), pod); !is(err) || pod.UID != "" {
			t.Errorf("%s: %v", reason, err)
		}
		if err := c.Status().Update(t.Context(), &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "o"}}); !is(err) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}
