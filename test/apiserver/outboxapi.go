package apiserver

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/outbox"
)

// OutboxAPI sends the requests of the scheduler's outbox. The zero value without Send is not usable.
type OutboxAPI struct {
	Send Send
}

var (
	_ outbox.API       = OutboxAPI{}
	_ outbox.AttachAPI = OutboxAPI{}
)

var (
	eventKind         = corev1.SchemeGroupVersion.WithKind("Event")
	volumeKind        = corev1.SchemeGroupVersion.WithKind("PersistentVolume")
	volumeClaimKind   = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	podGroupKind      = schedulingv1beta1.GroupVersion.WithKind("PodGroup")
	queueKind         = schedulingv1beta1.GroupVersion.WithKind("Queue")
	hyperNodeKind     = topologyv1alpha1.GroupVersion.WithKind("HyperNode")
	resourceClaimKind = resourcev1.SchemeGroupVersion.WithKind("ResourceClaim")
)

// send sends a request for one object. The response belongs to the server.
func (a OutboxAPI) send(ctx context.Context, verb Verb, k schema.GroupVersionKind, namespace, name string, change func(*Request)) (runtime.Object, error) {
	r := &Request{Verb: verb, Kind: k, Namespace: namespace, Name: name, FieldManager: outbox.FieldManager, Shared: true}
	if change != nil {
		change(r)
	}
	return a.Send(ctx, r)
}

func (a OutboxAPI) patch(ctx context.Context, k schema.GroupVersionKind, namespace, name, subresource string, patchType types.PatchType, patch []byte) error {
	_, err := a.send(ctx, Patch, k, namespace, name, func(r *Request) {
		r.Subresource, r.PatchType, r.Patch = subresource, patchType, patch
	})
	return err
}

// Bind binds a pod to a node.
func (a OutboxAPI) Bind(ctx context.Context, b *corev1.Binding) error {
	_, err := a.send(ctx, Create, podKind, b.Namespace, b.Name, func(r *Request) {
		r.Subresource, r.Object = "binding", b.DeepCopy()
	})
	return err
}

// PodNode returns the UID and the node of a pod.
func (a OutboxAPI) PodNode(ctx context.Context, namespace, name string) (types.UID, string, error) {
	o, err := a.send(ctx, Get, podKind, namespace, name, nil)
	if err != nil {
		return "", "", err
	}
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return "", "", errWrongType(o)
	}
	return pod.UID, pod.Spec.NodeName, nil
}

// PatchPodStatus changes the status of a pod with a strategic merge patch.
func (a OutboxAPI) PatchPodStatus(ctx context.Context, namespace, name string, patch []byte) error {
	return a.patch(ctx, podKind, namespace, name, "status", types.StrategicMergePatchType, patch)
}

// PatchPod changes a pod with a strategic merge patch.
func (a OutboxAPI) PatchPod(ctx context.Context, namespace, name string, patch []byte) error {
	return a.patch(ctx, podKind, namespace, name, "", types.StrategicMergePatchType, patch)
}

// DeletePod deletes the pod with this UID.
func (a OutboxAPI) DeletePod(ctx context.Context, namespace, name string, uid types.UID) error {
	_, err := a.send(ctx, Delete, podKind, namespace, name, func(r *Request) { r.Preconditions = &metav1.Preconditions{UID: &uid} })
	return err
}

// PodGroup reads a PodGroup.
func (a OutboxAPI) PodGroup(ctx context.Context, namespace, name string) (*schedulingv1beta1.PodGroup, error) {
	return read[*schedulingv1beta1.PodGroup](a.send(ctx, Get, podGroupKind, namespace, name, nil))
}

// read returns a copy of a response.
func read[T interface {
	runtime.Object
	DeepCopy() T
}](o runtime.Object, err error) (none T, _ error) {
	if err != nil {
		return none, err
	}
	object, ok := o.(T)
	if !ok {
		return none, errWrongType(o)
	}
	return object.DeepCopy(), nil
}

// PatchPodGroup changes a PodGroup with a JSON patch.
func (a OutboxAPI) PatchPodGroup(ctx context.Context, namespace, name string, patch []byte) error {
	return a.patch(ctx, podGroupKind, namespace, name, "", types.JSONPatchType, patch)
}

// ApplyQueueStatus applies the status of a queue.
func (a OutboxAPI) ApplyQueueStatus(ctx context.Context, name string, patch []byte) error {
	return a.patch(ctx, queueKind, "", name, "status", types.ApplyPatchType, patch)
}

// ApplyHyperNodeStatus applies the status of a HyperNode.
func (a OutboxAPI) ApplyHyperNodeStatus(ctx context.Context, name string, patch []byte) error {
	return a.patch(ctx, hyperNodeKind, "", name, "status", types.ApplyPatchType, patch)
}

// CreateEvent creates an event.
func (a OutboxAPI) CreateEvent(ctx context.Context, e *corev1.Event) error {
	_, err := a.send(ctx, Create, eventKind, e.Namespace, e.Name, func(r *Request) { r.Object = e.DeepCopy() })
	return err
}

// PatchEvent changes an event with a merge patch.
func (a OutboxAPI) PatchEvent(ctx context.Context, namespace, name string, patch []byte) error {
	return a.patch(ctx, eventKind, namespace, name, "", types.MergePatchType, patch)
}

// Volume reads a volume.
func (a OutboxAPI) Volume(ctx context.Context, name string) (*corev1.PersistentVolume, error) {
	return read[*corev1.PersistentVolume](a.send(ctx, Get, volumeKind, "", name, nil))
}

// PatchVolume changes a volume with a merge patch.
func (a OutboxAPI) PatchVolume(ctx context.Context, name string, patch []byte) error {
	return a.patch(ctx, volumeKind, "", name, "", types.MergePatchType, patch)
}

// VolumeClaim reads a claim.
func (a OutboxAPI) VolumeClaim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	return read[*corev1.PersistentVolumeClaim](a.send(ctx, Get, volumeClaimKind, namespace, name, nil))
}

// PatchVolumeClaim changes a claim with a merge patch.
func (a OutboxAPI) PatchVolumeClaim(ctx context.Context, namespace, name string, patch []byte) error {
	return a.patch(ctx, volumeClaimKind, namespace, name, "", types.MergePatchType, patch)
}

// DeviceClaim reads a device claim.
func (a OutboxAPI) DeviceClaim(ctx context.Context, namespace, name string) (*resourcev1.ResourceClaim, error) {
	return read[*resourcev1.ResourceClaim](a.send(ctx, Get, resourceClaimKind, namespace, name, nil))
}

// UpdateDeviceClaim replaces a device claim.
func (a OutboxAPI) UpdateDeviceClaim(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	return a.updateDeviceClaim(ctx, "", claim)
}

// UpdateDeviceClaimStatus replaces the status of a device claim.
func (a OutboxAPI) UpdateDeviceClaimStatus(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	return a.updateDeviceClaim(ctx, "status", claim)
}

func (a OutboxAPI) updateDeviceClaim(ctx context.Context, subresource string, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	return read[*resourcev1.ResourceClaim](a.send(ctx, Update, resourceClaimKind, claim.Namespace, claim.Name, func(r *Request) {
		r.Subresource, r.Object = subresource, claim.DeepCopy()
	}))
}
