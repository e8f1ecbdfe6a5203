package feed

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/vc-batch/vc/internal/model"
)

// addAttachable adds the watches of volumes and devices. If the API server does not serve a kind, its list is treated
// as empty.
func (f *Feed) addAttachable(c *clients, list func(cache.Getter, string) cache.ListerWatcher, csi bool) {
	f.addKindWatch("PersistentVolume", list(c.core, "persistentvolumes"), &corev1.PersistentVolume{}, objectSink[corev1.PersistentVolume](f))
	f.addKindWatch("PersistentVolumeClaim", list(c.core, "persistentvolumeclaims"), &corev1.PersistentVolumeClaim{}, objectSink[corev1.PersistentVolumeClaim](f))
	f.addKindWatch("StorageClass", list(c.storage, "storageclasses"), &storagev1.StorageClass{}, objectSink[storagev1.StorageClass](f))
	if csi {
		f.addKindWatch("CSINode", list(c.storage, "csinodes"), &storagev1.CSINode{}, objectSink[storagev1.CSINode](f))
		f.addKindWatch("CSIDriver", list(c.storage, "csidrivers"), &storagev1.CSIDriver{}, objectSink[storagev1.CSIDriver](f))
		f.addKindWatch("CSIStorageCapacity", list(c.storage, "csistoragecapacities"), &storagev1.CSIStorageCapacity{}, objectSink[storagev1.CSIStorageCapacity](f))
		f.addKindWatch("VolumeAttachment", list(c.storage, "volumeattachments"), &storagev1.VolumeAttachment{}, objectSink[storagev1.VolumeAttachment](f))
	}
	f.addOptionalKindWatch("ResourceClaim", list(c.devices, "resourceclaims"), &resourcev1.ResourceClaimList{}, &resourcev1.ResourceClaim{}, objectSink[resourcev1.ResourceClaim](f))
	f.addOptionalKindWatch("ResourceSlice", list(c.devices, "resourceslices"), &resourcev1.ResourceSliceList{}, &resourcev1.ResourceSlice{}, objectSink[resourcev1.ResourceSlice](f))
	f.addOptionalKindWatch("DeviceClass", list(c.devices, "deviceclasses"), &resourcev1.DeviceClassList{}, &resourcev1.DeviceClass{}, objectSink[resourcev1.DeviceClass](f))
	f.addOptionalKindWatch("DeviceTaintRule", list(c.devices, "devicetaintrules"), &resourcev1.DeviceTaintRuleList{}, &resourcev1.DeviceTaintRule{}, objectSink[resourcev1.DeviceTaintRule](f))
}

// object is a pointer to an API type.
type object[T any] interface {
	*T
	metav1.Object
}

// objectSink returns a store that passes on complete objects, but without their managed fields.
func objectSink[T any, P object[T]](f *Feed) cache.ReflectorStore {
	return newSink(f,
		func(o P) (model.Delta, bool) {
			o.SetManagedFields(nil)
			return model.ObjectSet{Object: o}, true
		},
		func(n types.NamespacedName, _ types.UID) model.Delta {
			o := P(new(T))
			o.SetNamespace(n.Namespace)
			o.SetName(n.Name)
			return model.ObjectGone{Object: o}
		})
}
