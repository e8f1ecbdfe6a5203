package differential

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/local/controlplane"
	"github.com/vc-batch/vc/test/apiserver"
)

// errEnough ends the start of the control plane.
var errEnough = errors.New("the comparison has ended")

// eventTTL is the lifetime of Events. It is longer than a test, because the server in memory keeps Events forever. By
// default, the real API server deletes them after one hour.
const eventTTL = "48h"

// withRealServer calls compare while a real API server runs. It does so before kube-controller-manager starts, whose
// controllers would send requests of their own.
func withRealServer(t *testing.T, compare func(*rest.Config)) {
	t.Helper()
	_, err := controlplane.Start(t.Context(), controlplane.Options{
		Dir: t.TempDir(), Ephemeral: true, APIServerFlags: []string{"--event-ttl=" + eventTTL},
		Progress: func(part string, took time.Duration) { t.Logf("%s ready after %s", part, took) },
		Kinds: func(ctx context.Context, config *rest.Config) error {
			if err := installKinds(ctx, config); err != nil {
				return err
			}
			compare(config)
			return errEnough
		},
	})
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
}

func installKinds(ctx context.Context, config *rest.Config) error {
	clients, err := apiextensions.NewForConfig(config)
	if err != nil {
		return err
	}
	crds := clients.ApiextensionsV1().CustomResourceDefinitions()
	for _, crd := range deploy.CRDs() {
		if _, err := crds.Create(ctx, crd, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("kind %s: %w", crd.Name, err)
		}
	}
	for _, crd := range deploy.CRDs() {
		for !isEstablished(ctx, crds.Get, crd.Name) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

func isEstablished(ctx context.Context, get func(context.Context, string, metav1.GetOptions) (*apiextensionsv1.CustomResourceDefinition, error), name string) bool {
	crd, err := get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return false
	}
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
			return true
		}
	}
	return false
}

// realServer sends requests to the real API server.
type realServer struct {
	rest  rest.Interface
	model *apiserver.Server // names the resources of kinds
}

func newRealServer(config *rest.Config, model *apiserver.Server) (*realServer, error) {
	own := rest.CopyConfig(config)
	own.QPS = -1
	own.APIPath, own.GroupVersion = "/apis", &schema.GroupVersion{Version: "v1"}
	own.ContentType, own.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	own.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	own.WarningHandler = rest.NoWarnings{}
	c, err := rest.RESTClientFor(own)
	return &realServer{rest: c, model: model}, err
}

func (s *realServer) path(r *apiserver.Request) string {
	resource, namespaced, known := s.model.Resource(r.Kind)
	if !known {
		resource, namespaced = schema.GroupResource{Resource: strings.ToLower(r.Kind.Kind) + "s"}, true
	}
	path := "/apis/" + r.Kind.GroupVersion().String()
	if r.Kind.Group == "" {
		path = "/api/" + r.Kind.Version
	}
	if namespaced && r.Namespace != "" {
		path += "/namespaces/" + r.Namespace
	}
	path += "/" + resource.Resource
	if r.Name != "" && (r.Verb != apiserver.Create || r.Subresource != "") {
		path += "/" + r.Name
	}
	if r.Subresource != "" {
		path += "/" + r.Subresource
	}
	return path
}

var methods = map[apiserver.Verb]string{
	apiserver.Get: http.MethodGet, apiserver.List: http.MethodGet, apiserver.Create: http.MethodPost,
	apiserver.Update: http.MethodPut, apiserver.Patch: http.MethodPatch, apiserver.Delete: http.MethodDelete,
}

// Do sends a request and returns the object or list of the response.
func (s *realServer) Do(ctx context.Context, r *apiserver.Request) (runtime.Object, error) {
	call := s.rest.Verb(methods[r.Verb]).AbsPath(s.path(r))
	kind := r.Kind.Kind
	switch r.Verb {
	case apiserver.List:
		kind += "List"
		setListOptions(call, r)
	case apiserver.Create, apiserver.Update:
		call.SetHeader("Content-Type", runtime.ContentTypeJSON).Body(encode(r)).Param("fieldManager", managerOf(r))
	case apiserver.Patch:
		call.SetHeader("Content-Type", string(r.PatchType)).Body(r.Patch).Param("fieldManager", managerOf(r))
		if r.PatchType == types.ApplyPatchType {
			call.Param("force", "true")
		}
	case apiserver.Delete:
		data, err := json.Marshal(&metav1.DeleteOptions{
			TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
			Preconditions: r.Preconditions, GracePeriodSeconds: r.GracePeriod, PropagationPolicy: r.Propagation,
		})
		if err != nil {
			return nil, err
		}
		return nil, call.SetHeader("Content-Type", runtime.ContentTypeJSON).Body(data).Do(ctx).Error()
	}
	result := call.Do(ctx)
	if err := result.Error(); err != nil || r.Subresource == "binding" {
		return nil, err
	}
	object, err := scheme.New(r.Kind.GroupVersion().WithKind(kind))
	if err != nil {
		return nil, err
	}
	return object, result.Into(object)
}

func managerOf(r *apiserver.Request) string { return cmp.Or(r.FieldManager, r.User) }

func setListOptions(call *rest.Request, r *apiserver.Request) {
	if r.Labels != nil {
		call.Param("labelSelector", r.Labels.String())
	}
	if r.Fields != nil {
		call.Param("fieldSelector", r.Fields.String())
	}
	if r.Limit > 0 {
		call.Param("limit", strconv.FormatInt(r.Limit, 10))
	}
	if r.Continue != "" {
		call.Param("continue", r.Continue)
	}
}

// encode returns the body of a request, with the kind of the object.
func encode(r *apiserver.Request) []byte {
	object, _ := r.Object.DeepCopyObject().(client.Object)
	kind := r.Kind
	if r.Subresource == "binding" {
		kind.Kind = "Binding"
	}
	object.GetObjectKind().SetGroupVersionKind(kind)
	data, err := json.Marshal(object)
	if err != nil {
		panic(err) // objects of the API can be encoded
	}
	return data
}

// longestRun is how long watches last. By default, the API server ends them after 30 to 60 minutes.
const longestRun = 24 * time.Hour

// watchKind collects all changes of the objects of a kind until stop is called, which returns them.
func watchKind(t *testing.T, config *rest.Config, k schema.GroupVersionKind) (stop func(last string) []watch.Event) {
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	object, err := scheme.New(k.GroupVersion().WithKind(k.Kind + "List"))
	if err != nil {
		t.Fatal(err)
	}
	list, ok := object.(client.ObjectList)
	if !ok {
		t.Fatalf("%T is not a list", object)
	}
	if err := c.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	w, err := c.Watch(t.Context(), list, &client.ListOptions{Raw: &metav1.ListOptions{
		ResourceVersion: list.GetResourceVersion(), TimeoutSeconds: new(int64(longestRun / time.Second)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan []watch.Event)
	until := make(chan string, 1)
	go func() { events <- collect(w, until) }()
	return func(last string) []watch.Event {
		until <- last
		return <-events
	}
}

// collect returns the events up to the creation of the object whose name is sent to until.
func collect(w watch.Interface, until <-chan string) (events []watch.Event) {
	last := ""
	defer w.Stop()
	for {
		select {
		case last = <-until:
		case e, ok := <-w.ResultChan():
			if !ok {
				return events
			}
			events = append(events, e)
		case <-time.After(20 * time.Second):
			if last != "" {
				return events
			}
		}
		if n := len(events); n > 0 && last != "" {
			if object, ok := events[n-1].Object.(client.Object); ok && object.GetName() == last {
				return events[:n-1]
			}
		}
	}
}
