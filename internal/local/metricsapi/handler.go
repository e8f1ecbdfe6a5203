package metricsapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/vc-batch/vc/internal/aggregatedapi"
)

// Group is the API group.
var Group = aggregatedapi.Group{
	Name: metricsv1beta1.GroupName, Version: metricsv1beta1.SchemeGroupVersion.Version, ServiceName: "vc-local-metrics", Manager: "vc-local",
}

var (
	root         = "/apis/" + metricsv1beta1.SchemeGroupVersion.String()
	podResource  = schema.GroupResource{Group: metricsv1beta1.GroupName, Resource: "pods"}
	nodeResource = schema.GroupResource{Group: metricsv1beta1.GroupName, Resource: "nodes"}
)

// NodeLabels returns the labels of nodes by name.
type NodeLabels func(context.Context) (map[string]labels.Set, error)

// NewHandler returns a function that creates the handler for a store.
func NewHandler(store *Store, nodeLabels NodeLabels) aggregatedapi.NewHandler {
	return func(authn authenticator.Request, _ *aggregatedapi.Permissions, _ logr.Logger) http.Handler {
		h := &handler{store: store, nodeLabels: nodeLabels, authn: authn}
		mux := http.NewServeMux()
		mux.HandleFunc("GET "+root, serveDiscovery)
		mux.HandleFunc("GET "+root+"/nodes", h.serve(h.listNodes))
		mux.HandleFunc("GET "+root+"/nodes/{name}", h.serve(h.getNode))
		mux.HandleFunc("GET "+root+"/pods", h.serve(h.listPods))
		mux.HandleFunc("GET "+root+"/namespaces/{namespace}/pods", h.serve(h.listPods))
		mux.HandleFunc("GET "+root+"/namespaces/{namespace}/pods/{name}", h.serve(h.getPod))
		mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			writeError(w, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, podResource, "", r.URL.Path+" is not served here", 0, false))
		})
		return mux
	}
}

// handler serves requests from the API server's aggregator.
type handler struct {
	store      *Store
	nodeLabels NodeLabels
	authn      authenticator.Request
}

// serveDiscovery lists the resources of the API group. As for other groups, it requires no permissions.
func serveDiscovery(w http.ResponseWriter, _ *http.Request) {
	verbs := metav1.Verbs{"get", "list"}
	writeObject(w, metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: metricsv1beta1.SchemeGroupVersion.String(),
		APIResources: []metav1.APIResource{{Name: "nodes", Kind: "NodeMetrics", Verbs: verbs}, {Name: "pods", Namespaced: true, Kind: "PodMetrics", Verbs: verbs}},
	})
}

// serve returns a function that writes the object that read returns. The API server has checked the user's permission
// before it forwarded the request.
func (h *handler) serve(read func(*http.Request) (any, *apierrors.StatusError)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, ok, err := h.authn.AuthenticateRequest(r)
		if err != nil || !ok {
			writeError(w, apierrors.NewServiceUnavailable("unauthenticated: only requests through the API server are accepted"))
			return
		}
		object, problem := read(r)
		if problem != nil {
			writeError(w, problem)
			return
		}
		writeObject(w, object)
	}
}

func (h *handler) listNodes(r *http.Request) (any, *apierrors.StatusError) {
	selects, err := parseSelectors(r)
	if err != nil {
		return nil, err
	}
	list := metricsv1beta1.NodeMetricsList{TypeMeta: metav1.TypeMeta{Kind: "NodeMetricsList", APIVersion: metricsv1beta1.SchemeGroupVersion.String()}, Items: []metricsv1beta1.NodeMetrics{}}
	known, unavailable := h.nodeLabels(r.Context())
	if unavailable != nil {
		return nil, apierrors.NewServiceUnavailable("labels of nodes: " + unavailable.Error())
	}
	for _, node := range h.store.currentMetrics().nodes {
		node.Labels = known[node.Name]
		if selects(&node.ObjectMeta) {
			list.Items = append(list.Items, node)
		}
	}
	return list, nil
}

func (h *handler) getNode(r *http.Request) (any, *apierrors.StatusError) {
	for _, node := range h.store.currentMetrics().nodes {
		if node.Name == r.PathValue("name") {
			node.TypeMeta = metav1.TypeMeta{Kind: "NodeMetrics", APIVersion: metricsv1beta1.SchemeGroupVersion.String()}
			return node, nil
		}
	}
	return nil, apierrors.NewNotFound(nodeResource, r.PathValue("name"))
}

func (h *handler) listPods(r *http.Request) (any, *apierrors.StatusError) {
	selects, err := parseSelectors(r)
	if err != nil {
		return nil, err
	}
	namespace := r.PathValue("namespace")
	list := metricsv1beta1.PodMetricsList{TypeMeta: metav1.TypeMeta{Kind: "PodMetricsList", APIVersion: metricsv1beta1.SchemeGroupVersion.String()}, Items: []metricsv1beta1.PodMetrics{}}
	for _, pod := range h.store.currentMetrics().pods {
		isInNamespace := namespace == "" || pod.Namespace == namespace
		if isInNamespace && selects(&pod.ObjectMeta) {
			list.Items = append(list.Items, pod)
		}
	}
	return list, nil
}

func (h *handler) getPod(r *http.Request) (any, *apierrors.StatusError) {
	for _, pod := range h.store.currentMetrics().pods {
		if pod.Namespace == r.PathValue("namespace") && pod.Name == r.PathValue("name") {
			pod.TypeMeta = metav1.TypeMeta{Kind: "PodMetrics", APIVersion: metricsv1beta1.SchemeGroupVersion.String()}
			return pod, nil
		}
	}
	return nil, apierrors.NewNotFound(podResource, r.PathValue("name"))
}

// parseSelectors returns a function that applies the label and field selectors of a request.
func parseSelectors(r *http.Request) (func(*metav1.ObjectMeta) bool, *apierrors.StatusError) {
	query := r.URL.Query()
	byLabel, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest("labelSelector: " + err.Error())
	}
	byField, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest("fieldSelector: " + err.Error())
	}
	return func(m *metav1.ObjectMeta) bool {
		return byLabel.Matches(labels.Set(m.Labels)) && byField.Matches(fields.Set{"metadata.name": m.Name, "metadata.namespace": m.Namespace})
	}, nil
}

func writeObject(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object) // an error means that the client has disconnected
}

func writeError(w http.ResponseWriter, err *apierrors.StatusError) {
	response := err.Status()
	response.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(response.Code))
	_ = json.NewEncoder(w).Encode(response) // an error means that the client has disconnected
}
