package decision

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/vc-batch/vc/internal/model"
)

// Attach lists the writes that must succeed, and the results that must appear, before a pod is bound. If they do
// not appear in time, the bind fails.
type Attach struct {
	Volumes   []VolumeBinding
	Provision []Provision
	Devices   []DeviceClaim
	// Timeout is how long the bind waits for its volumes.
	Timeout time.Duration
	// Problem makes the bind fail at once, because a check no longer held at the end of the cycle; "" if there was
	// no problem.
	Problem string
}

// VolumeBinding binds a volume to a claim.
type VolumeBinding struct {
	Volume string
	// ResourceVersion is the version of the volume that was checked. Another version is a conflict.
	ResourceVersion string
	Claim           corev1.ObjectReference
	// ByController is true if the scheduler chose the pair, so that it may be unbound again.
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

// Consumer returns the reference to a pod for use in a claim.
func Consumer(pod Object) resourcev1.ResourceClaimConsumerReference {
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
		c.AssumeDevices(b.Pod.UID, d.Claim.Key(), d.Allocation, Consumer(b.Pod))
	}
}
