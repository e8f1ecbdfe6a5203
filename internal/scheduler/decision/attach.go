package decision

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/vc-batch/vc/internal/model"
)

// Attach lists the API writes that must succeed, and the results that must appear, before a pod can be bound. If the
// results do not appear in time, the bind fails.
type Attach struct {
	Volumes   []VolumeBinding
	Provision []Provision
	Devices   []DeviceClaim
	// Timeout limits how long the bind waits for its volumes.
	Timeout time.Duration
	// Problem describes a check that no longer held at the end of the cycle. It makes the bind fail at once. "" means
	// that there was no problem.
	Problem string
}

// VolumeBinding binds a volume to a claim.
type VolumeBinding struct {
	Volume string
	// ResourceVersion is the version of the volume that the scheduler checked. If the volume has a different version,
	// the write fails with a conflict.
	ResourceVersion string
	Claim           corev1.ObjectReference
	// ByController is true if the scheduler chose the volume for the claim, so that the binding may be undone later.
	ByController bool
}

// Provision requests a new volume for a claim, near a node.
type Provision struct {
	Claim           Object
	ResourceVersion string
	Node            string
}

// DeviceClaim reserves a claim for the pod, and allocates its devices if needed.
type DeviceClaim struct {
	Claim      Object
	Allocation *resourcev1.AllocationResult
}

// ConsumerReference returns the reference to a pod that a claim stores in its status.
func ConsumerReference(pod Object) resourcev1.ResourceClaimConsumerReference {
	return resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID}
}

// assumeAttached updates the model with the writes that precede a bind.
func assumeAttached(c *model.Cluster, b *Bind) {
	for _, v := range b.Attach.Volumes {
		c.AssumeVolume(b.Pod.UID, v.Volume, v.Claim)
	}
	for _, p := range b.Attach.Provision {
		c.AssumeProvisioned(b.Pod.UID, p.Claim.Key(), p.Node)
	}
	for _, d := range b.Attach.Devices {
		c.AssumeDevices(b.Pod.UID, d.Claim.Key(), d.Allocation, ConsumerReference(b.Pod))
	}
}
