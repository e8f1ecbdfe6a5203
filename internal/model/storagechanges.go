package model

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	storagehelpers "k8s.io/component-helpers/storage/volume"
)

// recordClaimUse records that a task was added to a node or removed from it.
func (c *Cluster) recordClaimUse(t *Task, sign int) {
	a := &c.Attachable
	if len(t.Shape.VolumeClaims()) > 0 {
		a.UsersGen = c.nextGeneration()
	}
	for _, claim := range t.Shape.VolumeClaims() {
		list := a.users[claim]
		if sign > 0 {
			if a.users == nil {
				a.users = map[string][]*Task{}
			}
			a.users[claim] = append(list, t)
			continue
		}
		for i := range list {
			if list[i] == t {
				list[i] = list[len(list)-1]
				list[len(list)-1] = nil
				a.users[claim] = list[:len(list)-1]
				break
			}
		}
		if len(a.users[claim]) == 0 {
			delete(a.users, claim)
		}
	}
}

func (d ObjectSet) apply(c *Cluster) {
	a, gen := &c.Attachable, c.nextGeneration()
	a.Gen = gen
	switch o := d.Object.(type) {
	case *corev1.PersistentVolumeClaim:
		a.VolumeClaims.storeObject(o, gen)
	case *corev1.PersistentVolume:
		a.Volumes.storeObject(o, gen)
	case *storagev1.StorageClass:
		a.Classes.storeObject(o, gen)
	case *storagev1.CSINode:
		a.CSINodes.storeObject(o, gen)
	case *storagev1.CSIDriver:
		a.CSIDrivers.storeObject(o, gen)
	case *storagev1.CSIStorageCapacity:
		a.Capacities.storeObject(o, gen)
	case *storagev1.VolumeAttachment:
		a.Attachments.storeObject(o, gen)
	case *resourcev1.ResourceClaim:
		a.DeviceClaims.storeObject(o, gen)
	case *resourcev1.ResourceSlice:
		a.Slices.storeObject(o, gen)
	case *resourcev1.DeviceClass:
		a.DeviceClasses.storeObject(o, gen)
	}
}

func (d ObjectGone) apply(c *Cluster) {
	a, gen, key := &c.Attachable, c.nextGeneration(), ObjectKey(d.Object)
	a.Gen = gen
	switch d.Object.(type) {
	case *corev1.PersistentVolumeClaim:
		a.VolumeClaims.removeObject(key, gen)
	case *corev1.PersistentVolume:
		a.Volumes.removeObject(key, gen)
	case *storagev1.StorageClass:
		a.Classes.removeObject(key, gen)
	case *storagev1.CSINode:
		a.CSINodes.removeObject(key, gen)
	case *storagev1.CSIDriver:
		a.CSIDrivers.removeObject(key, gen)
	case *storagev1.CSIStorageCapacity:
		a.Capacities.removeObject(key, gen)
	case *storagev1.VolumeAttachment:
		a.Attachments.removeObject(key, gen)
	case *resourcev1.ResourceClaim:
		a.DeviceClaims.removeObject(key, gen)
	case *resourcev1.ResourceSlice:
		a.Slices.removeObject(key, gen)
	case *resourcev1.DeviceClass:
		a.DeviceClasses.removeObject(key, gen)
	}
}

// AssumeVolume records that a volume will be bound to a claim on behalf of a pod.
func (c *Cluster) AssumeVolume(pod types.UID, volume string, claim corev1.ObjectReference) {
	if pv, ok := c.Attachable.Volumes.Get(volume); ok {
		pv = pv.DeepCopy()
		pv.Spec.ClaimRef = &claim
		c.Attachable.Gen = c.nextGeneration()
		c.Attachable.Volumes.assumeObject(pv, pod, c.gen)
	}
}

// AssumeProvisioned records that a volume for a claim will be provisioned near a node, for a pod.
func (c *Cluster) AssumeProvisioned(by types.UID, claim, node string) {
	if pvc, ok := c.Attachable.VolumeClaims.Get(claim); ok {
		pvc = pvc.DeepCopy()
		metav1.SetMetaDataAnnotation(&pvc.ObjectMeta, storagehelpers.AnnSelectedNode, node)
		c.Attachable.Gen = c.nextGeneration()
		c.Attachable.VolumeClaims.assumeObject(pvc, by, c.gen)
	}
}

// AssumeDevices records that devices will be allocated to a claim for the pod by. A nil allocation means that devices
// are already allocated to the claim.
func (c *Cluster) AssumeDevices(by types.UID, claim string, allocation *resourcev1.AllocationResult, consumer resourcev1.ResourceClaimConsumerReference) {
	rc, ok := c.Attachable.DeviceClaims.Get(claim)
	if !ok {
		return
	}
	rc = rc.DeepCopy()
	if allocation != nil {
		rc.Status.Allocation = allocation
	}
	rc.Status.ReservedFor = append(rc.Status.ReservedFor, consumer)
	c.Attachable.Gen = c.nextGeneration()
	c.Attachable.DeviceClaims.assumeObject(rc, by, c.gen)
}

// forgetAttached reverts the assumptions about volumes and devices that were made for a pod.
func (c *Cluster) forgetAttached(t *Task) {
	if t.Shape == nil || t.Shape.Attached == nil {
		return
	}
	a, gen := &c.Attachable, c.nextGeneration()
	volumes, claims, devices := a.Volumes.forgetAssumed(t.UID, gen), a.VolumeClaims.forgetAssumed(t.UID, gen), a.DeviceClaims.forgetAssumed(t.UID, gen)
	if volumes || claims || devices {
		a.Gen = gen
	}
}
