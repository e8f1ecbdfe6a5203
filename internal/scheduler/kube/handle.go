package kube

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/apiobject"
)

// handle implements the parts of the scheduler framework that the plugins for volumes and devices use.
type handle struct {
	fwk.Handle
	factory informers.SharedInformerFactory
	client  *recorder
	devices *devices
	a       *Adapter
}

// newHandle returns a handle through which the plugins read the adapter's model.
func newHandle(a *Adapter) *handle {
	h := &handle{factory: informers.NewSharedInformerFactory(nil, 0), client: &recorder{}, devices: newDevices(a), a: a}
	at := func() *model.Attachable { return &a.cluster.Attachable }
	volumes := newStore(func() *apiobject.Store[*corev1.PersistentVolume] { return &at().Volumes })
	volumes.by = func(_, class string) []string { return a.reachableVolumes(class) }
	attachments := newStore(func() *apiobject.Store[*storagev1.VolumeAttachment] { return &at().Attachments })
	attachments.by = func(_, node string) []string { return at().Attachments.KeysInGroup(node) }

	h.registerView(&corev1.PersistentVolume{}, volumes)
	h.registerView(&storagev1.VolumeAttachment{}, attachments)
	h.registerView(&corev1.PersistentVolumeClaim{}, newStore(func() *apiobject.Store[*corev1.PersistentVolumeClaim] { return &at().VolumeClaims }))
	h.registerView(&storagev1.StorageClass{}, newStore(func() *apiobject.Store[*storagev1.StorageClass] { return &at().Classes }))
	h.registerView(&storagev1.CSINode{}, newStore(func() *apiobject.Store[*storagev1.CSINode] { return &at().CSINodes }))
	h.registerView(&storagev1.CSIDriver{}, newStore(func() *apiobject.Store[*storagev1.CSIDriver] { return &at().CSIDrivers }))
	h.registerView(&storagev1.CSIStorageCapacity{}, newStore(func() *apiobject.Store[*storagev1.CSIStorageCapacity] { return &at().Capacities }))
	// The plugins read pods and nodes only when a binding is carried out, which does not happen here.
	h.registerView(&corev1.Pod{}, newStore(func() *apiobject.Store[*corev1.Pod] { return &apiobject.Store[*corev1.Pod]{} }))
	h.registerView(&corev1.Node{}, newStore(func() *apiobject.Store[*corev1.Node] { return &apiobject.Store[*corev1.Node]{} }))
	return h
}

func (h *handle) registerView(kind runtime.Object, view cache.Indexer) {
	h.factory.InformerFor(kind, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return &informer{indexer: view} })
}

// SharedInformerFactory returns a factory whose informers are views of the model.
func (h *handle) SharedInformerFactory() informers.SharedInformerFactory { return h.factory }

// ClientSet returns the client that only records writes.
func (h *handle) ClientSet() kubernetes.Interface { return h.client }

// ProfileName returns an empty name. The plugins use it only to name an index of pods.
func (h *handle) ProfileName() string { return "" }

// SharedDRAManager returns the manager for device claims.
func (h *handle) SharedDRAManager() fwk.SharedDRAManager { return h.devices }

// SharedCSIManager returns the manager for volume attach limits.
func (h *handle) SharedCSIManager() fwk.CSIManager {
	return nodevolumelimits.NewCSIManager(h.factory.Storage().V1().CSINodes().Lister())
}

// SnapshotSharedLister returns a lister that reports only which volume claims are in use.
func (h *handle) SnapshotSharedLister() fwk.SharedLister { return snapshot{a: h.a} }

// snapshot provides the parts of the cycle's state that the plugins read.
type snapshot struct {
	fwk.SharedLister
	a *Adapter
}

// StorageInfos returns a lister that reports which volume claims are in use.
func (s snapshot) StorageInfos() fwk.StorageInfoLister { return storageInfos(s) }

type storageInfos snapshot

// IsPVCUsedByPods reports whether a pod on any node uses a volume claim.
func (s storageInfos) IsPVCUsedByPods(key string) bool { return s.a.isClaimInUse(key) }

// recorder is a client that records writes instead of sending them to the API server.
type recorder struct {
	kubernetes.Interface
	corev1client.CoreV1Interface
	volumes []*corev1.PersistentVolume
	claims  []*corev1.PersistentVolumeClaim
}

// CoreV1 returns a client that supports only volumes and volume claims.
func (r *recorder) CoreV1() corev1client.CoreV1Interface { return r }

// PersistentVolumes returns a client that records updates to volumes.
func (r *recorder) PersistentVolumes() corev1client.PersistentVolumeInterface {
	return recordVolumes{r: r}
}

// PersistentVolumeClaims returns a client that records updates to volume claims.
func (r *recorder) PersistentVolumeClaims(string) corev1client.PersistentVolumeClaimInterface {
	return recordClaims{r: r}
}

func (r *recorder) clearWrites() { r.volumes, r.claims = nil, nil }

type recordVolumes struct {
	corev1client.PersistentVolumeInterface
	r *recorder
}

// Update records the volume.
func (v recordVolumes) Update(_ context.Context, pv *corev1.PersistentVolume, _ metav1.UpdateOptions) (*corev1.PersistentVolume, error) {
	v.r.volumes = append(v.r.volumes, pv)
	return pv, nil
}

type recordClaims struct {
	corev1client.PersistentVolumeClaimInterface
	r *recorder
}

// Update records the claim.
func (c recordClaims) Update(_ context.Context, pvc *corev1.PersistentVolumeClaim, _ metav1.UpdateOptions) (*corev1.PersistentVolumeClaim, error) {
	c.r.claims = append(c.r.claims, pvc)
	return pvc, nil
}

// nodeInfo is the plugins' view of a node: its labels, and the pods on it that attach volumes or devices.
type nodeInfo struct {
	fwk.NodeInfo
	a     *Adapter
	id    model.NodeID
	later bool
	pods  []fwk.PodInfo
	read  bool
}

// Node returns a Node that has only a name and labels.
func (n *nodeInfo) Node() *corev1.Node { return n.a.view.Nodes.Info[n.id].Node }

// GetPods returns the pods on the node that attach volumes or devices.
func (n *nodeInfo) GetPods() []fwk.PodInfo {
	if !n.read {
		n.read = true
		n.a.eachAttachedTask(n.id, n.later, func(t *model.Task) { n.pods = append(n.pods, podInfo{pod: t.Shape.Attached}) })
	}
	return n.pods
}

type podInfo struct {
	fwk.PodInfo
	pod *corev1.Pod
}

// GetPod returns the part of the pod that the plugins read.
func (p podInfo) GetPod() *corev1.Pod { return p.pod }
