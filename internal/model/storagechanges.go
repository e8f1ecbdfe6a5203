package model

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	storagehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/vc-batch/vc/internal/model/apiobject"
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
		a.VolumeClaims.Set(o, gen)
	case *corev1.PersistentVolume:
		a.Volumes.Set(o, gen)
	case *storagev1.StorageClass:
		a.Classes.Set(o, gen)
	case *storagev1.CSINode:
		a.CSINodes.Set(o, gen)
	case *storagev1.CSIDriver:
		a.CSIDrivers.Set(o, gen)
	case *storagev1.CSIStorageCapacity:
		a.Capacities.Set(o, gen)
	case *storagev1.VolumeAttachment:
		a.Attachments.Set(o, gen)
	case *resourcev1.ResourceClaim:
		a.DeviceClaims.Set(o, gen)
	case *resourcev1.ResourceSlice:
		a.Slices.Set(o, gen)
	case *resourcev1.DeviceClass:
		a.DeviceClasses.Set(o, gen)
	case *resourcev1.DeviceTaintRule:
		a.TaintRules.Set(o, gen)
	}
}

func (d ObjectGone) apply(c *Cluster) {
	a, gen, key := &c.Attachable, c.nextGeneration(), apiobject.Key(d.Object)
	a.Gen = gen
	switch d.Object.(type) {
	case *corev1.PersistentVolumeClaim:
		a.VolumeClaims.Remove(key, gen)
	case *corev1.PersistentVolume:
		a.Volumes.Remove(key, gen)
	case *storagev1.StorageClass:
		a.Classes.Remove(key, gen)
	case *storagev1.CSINode:
		a.CSINodes.Remove(key, gen)
	case *storagev1.CSIDriver:
		a.CSIDrivers.Remove(key, gen)
	case *storagev1.CSIStorageCapacity:
		a.Capacities.Remove(key, gen)
	case *storagev1.VolumeAttachment:
		a.Attachments.Remove(key, gen)
	case *resourcev1.ResourceClaim:
		a.DeviceClaims.Remove(key, gen)
	case *resourcev1.ResourceSlice:
		a.Slices.Remove(key, gen)
	case *resourcev1.DeviceClass:
		a.DeviceClasses.Remove(key, gen)
	case *resourcev1.DeviceTaintRule:
		a.TaintRules.Remove(key, gen)
	}
}

// AssumeVolume records that a volume will be bound to a claim on behalf of a pod.
func (c *Cluster) AssumeVolume(pod types.UID, volume string, claim corev1.ObjectReference) {
	if pv, ok := c.Attachable.Volumes.Get(volume); ok {
		pv = pv.DeepCopy()
		pv.Spec.ClaimRef = &claim
		c.Attachable.Gen = c.nextGeneration()
		c.Attachable.Volumes.Assume(pv, pod, c.gen)
	}
}

// AssumeProvisioned records that a volume will be provisioned near a node for a claim, on behalf of a pod.
func (c *Cluster) AssumeProvisioned(by types.UID, claim, node string) {
	if pvc, ok := c.Attachable.VolumeClaims.Get(claim); ok {
		pvc = pvc.DeepCopy()
		metav1.SetMetaDataAnnotation(&pvc.ObjectMeta, storagehelpers.AnnSelectedNode, node)
		c.Attachable.Gen = c.nextGeneration()
		c.Attachable.VolumeClaims.Assume(pvc, by, c.gen)
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
	c.Attachable.DeviceClaims.Assume(rc, by, c.gen)
}

// forgetAttached reverts the assumptions about volumes and devices that were made for a pod.
func (c *Cluster) forgetAttached(t *Task) {
	if t.Shape == nil || t.Shape.Attached == nil {
		return
	}
	a, gen := &c.Attachable, c.nextGeneration()
	volumes, claims, devices := a.Volumes.ForgetAssumed(t.UID, gen), a.VolumeClaims.ForgetAssumed(t.UID, gen), a.DeviceClaims.ForgetAssumed(t.UID, gen)
	if volumes || claims || devices {
		a.Gen = gen
	}
}
