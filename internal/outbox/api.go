package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/apiclient"
)

// FieldManager is the field manager for everything that the scheduler applies.
const FieldManager = "vc-scheduler"

// API holds the calls that the outbox makes to the API server. Patches are JSON.
type API interface {
	Bind(ctx context.Context, b *corev1.Binding) error
	// PodNode returns the UID of the pod that currently has the given name, and the node to which it is bound.
	PodNode(ctx context.Context, namespace, name string) (uid types.UID, node string, err error)
	PatchPodStatus(ctx context.Context, namespace, name string, patch []byte) error
	// PatchPod changes the pod's metadata or spec with a strategic merge patch.
	PatchPod(ctx context.Context, namespace, name string, patch []byte) error
	DeletePod(ctx context.Context, namespace, name string, uid types.UID) error
	// PodGroup reads the PodGroup from the API server, not from a cache.
	PodGroup(ctx context.Context, namespace, name string) (*schedulingv1beta1.PodGroup, error)
	PatchPodGroup(ctx context.Context, namespace, name string, patch []byte) error
	// ApplyQueueStatus applies a queue's status with server-side apply, as FieldManager.
	ApplyQueueStatus(ctx context.Context, name string, patch []byte) error
	// ApplyHyperNodeStatus applies a HyperNode's status with server-side apply, as FieldManager.
	ApplyHyperNodeStatus(ctx context.Context, name string, patch []byte) error
	CreateEvent(ctx context.Context, e *corev1.Event) error
	PatchEvent(ctx context.Context, namespace, name string, patch []byte) error
}

const (
	// connections is the number of HTTP/2 connections used for frequent writes. A single connection serializes its
	// frames; a few connections share that work at little cost to the server.
	connections = 4
	callTimeout = 15 * time.Second
	protobuf    = "application/vnd.kubernetes.protobuf"
)

// clients implements API. It uses the writers for frequent writes and client-go for everything else.
type clients struct {
	writers []*apiclient.Writer
	core    corev1client.CoreV1Interface
	ours    rest.Interface
	round   atomic.Uint32
}

// NewAPI creates the clients. It turns off client-side rate limits, because the outbox itself adapts to the server's
// load.
func NewAPI(config *rest.Config) (API, error) {
	c := &clients{}
	for range connections {
		one, err := apiclient.NewWriter(ownConnection(config))
		if err != nil {
			return nil, err
		}
		c.writers = append(c.writers, one)
	}
	core, err := corev1client.NewForConfig(ownConnection(config))
	if err != nil {
		return nil, fmt.Errorf("client for core/v1: %w", err)
	}
	ours, err := rest.RESTClientFor(schedulingConfig(config))
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", schedulingv1beta1.GroupVersion, err)
	}
	c.core, c.ours = core, ours
	return c, nil
}

// ownConnection returns a copy of config that does not share a connection with other clients.
func ownConnection(config *rest.Config) *rest.Config {
	own := rest.CopyConfig(config)
	own.QPS, own.RateLimiter, own.Timeout = -1, nil, callTimeout
	own.ContentType = protobuf
	own.AcceptContentTypes = protobuf + ",application/json"
	if own.Dial == nil {
		// client-go shares the transport between equal configurations. A separate dial function gives this client its
		// own transport.
		own.Dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return own
}

func schedulingConfig(config *rest.Config) *rest.Config {
	own := rest.CopyConfig(config)
	own.QPS, own.RateLimiter, own.Timeout = -1, nil, callTimeout
	own.ContentType, own.AcceptContentTypes = "application/json", "application/json"
	own.APIPath = "/apis"
	own.GroupVersion = &schedulingv1beta1.GroupVersion
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schedulingv1beta1.GroupVersion)
	own.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	return own
}

// sendRoundRobin sends a write with one of the writers, in round-robin order.
func (c *clients) sendRoundRobin(ctx context.Context, r *apiclient.WriteRequest) error {
	return c.writers[int(c.round.Add(1))%len(c.writers)].Send(ctx, r)
}

const (
	inTime = "timeout=15s" // callTimeout as a query parameter, so that the server gives up as well
	owned  = "fieldManager=" + FieldManager + "&" + inTime
)

var (
	podResource      = schema.GroupResource{Resource: "pods"}
	eventResource    = schema.GroupResource{Resource: "events"}
	podGroupResource = schema.GroupResource{Group: schedulingv1beta1.GroupVersion.Group, Resource: "podgroups"}
)

func podPath(namespace, name string) string {
	return "/api/v1/namespaces/" + namespace + "/pods/" + name
}

func (c *clients) Bind(ctx context.Context, b *corev1.Binding) error {
	kind := *b
	kind.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Binding"}
	return c.createObject(ctx, &kind, &apiclient.WriteRequest{Path: podPath(b.Namespace, b.Name) + "/binding", Resource: podResource, Name: b.Name})
}

// createObject creates the object obj, whose kind and version must be set.
func (c *clients) createObject(ctx context.Context, obj runtime.Object, r *apiclient.WriteRequest) error {
	var body bytes.Buffer
	if err := encoder.Encode(obj, &body); err != nil {
		return fmt.Errorf("%s: %w", r.Path, err)
	}
	r.Method, r.Query, r.ContentType, r.Body = http.MethodPost, inTime, protobuf, body.Bytes()
	return c.sendRoundRobin(ctx, r)
}

var encoder = protobufserializer.NewSerializer(scheme.Scheme, scheme.Scheme)

func (c *clients) PodNode(ctx context.Context, namespace, name string) (types.UID, string, error) {
	pod, err := c.core.Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", "", err
	}
	return pod.UID, pod.Spec.NodeName, nil
}

func (c *clients) PatchPodStatus(ctx context.Context, namespace, name string, patch []byte) error {
	return c.patchObject(ctx, types.StrategicMergePatchType, patch, &apiclient.WriteRequest{Path: podPath(namespace, name) + "/status", Query: owned, Resource: podResource, Name: name})
}

func (c *clients) PatchPod(ctx context.Context, namespace, name string, patch []byte) error {
	return c.patchObject(ctx, types.StrategicMergePatchType, patch, &apiclient.WriteRequest{Path: podPath(namespace, name), Query: owned, Resource: podResource, Name: name})
}

func (c *clients) patchObject(ctx context.Context, kind types.PatchType, patch []byte, r *apiclient.WriteRequest) error {
	r.Method, r.ContentType, r.Body = http.MethodPatch, string(kind), patch
	return c.sendRoundRobin(ctx, r)
}

func (c *clients) DeletePod(ctx context.Context, namespace, name string, uid types.UID) error {
	return c.core.Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
}

func (c *clients) PodGroup(ctx context.Context, namespace, name string) (*schedulingv1beta1.PodGroup, error) {
	raw, err := c.ours.Get().Namespace(namespace).Resource("podgroups").Name(name).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	pg := &schedulingv1beta1.PodGroup{}
	if err := json.Unmarshal(raw, pg); err != nil {
		return nil, fmt.Errorf("podGroup %s/%s: %w", namespace, name, err)
	}
	return pg, nil
}

func (c *clients) PatchPodGroup(ctx context.Context, namespace, name string, patch []byte) error {
	path := "/apis/" + schedulingv1beta1.GroupVersion.String() + "/namespaces/" + namespace + "/podgroups/" + name
	return c.patchObject(ctx, types.JSONPatchType, patch, &apiclient.WriteRequest{Path: path, Query: owned, Resource: podGroupResource, Name: name})
}

func (c *clients) ApplyQueueStatus(ctx context.Context, name string, patch []byte) error {
	return c.ours.Patch(types.ApplyPatchType).Resource("queues").Name(name).SubResource("status").
		Param("fieldManager", FieldManager).Param("force", "true").Body(patch).Do(ctx).Error()
}

func (c *clients) ApplyHyperNodeStatus(ctx context.Context, name string, patch []byte) error {
	return c.ours.Patch(types.ApplyPatchType).AbsPath("/apis", topologyv1alpha1.GroupName, topologyv1alpha1.GroupVersion.Version, "hypernodes", name, "status").
		Param("fieldManager", FieldManager).Param("force", "true").Body(patch).Do(ctx).Error()
}

func eventsPath(namespace string) string { return "/api/v1/namespaces/" + namespace + "/events" }

func (c *clients) CreateEvent(ctx context.Context, e *corev1.Event) error {
	kind := *e
	kind.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}
	return c.createObject(ctx, &kind, &apiclient.WriteRequest{Path: eventsPath(e.Namespace), Resource: eventResource, Name: e.Name})
}

func (c *clients) PatchEvent(ctx context.Context, namespace, name string, patch []byte) error {
	return c.patchObject(ctx, types.MergePatchType, patch, &apiclient.WriteRequest{Path: eventsPath(namespace) + "/" + name, Query: inTime, Resource: eventResource, Name: name})
}
