package decision

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/vc-batch/vc/internal/model"
)

// Attach is what has to be written, and to have come true, before a pod is
// bound. If it does not come true in time, the bind fails.
type Attach struct {
	Volumes   []VolumeBinding
	Provision []Provision
	Devices   []DeviceClaim
	// Timeout is how long the bind waits for its volumes.
	Timeout time.Duration
	// Problem fails the bind at once: what was judged did not hold to the end.
	Problem string
}

// VolumeBinding gives a volume to a claim.
type VolumeBinding struct {
	Volume string
	// ResourceVersion is the volume's as it was judged; another one is a conflict.
	ResourceVersion string
	Claim           corev1.ObjectReference
	// ByController: nobody but the scheduler chose the pair, so that it may be taken apart again.
	ByController bool
}

// Provision asks for a volume for a claim, near a node.
type Provision struct {
	Claim           Object
	ResourceVersion string
	Node            string
}

// DeviceClaim reserves a claim for the pod, and gives it its devices when it has none.
type DeviceClaim struct {
	Claim      Object
	Allocation *resourcev1.AllocationResult
}

// Consumer is a pod as a claim refers to it.
func Consumer(pod Object) resourcev1.ResourceClaimConsumerReference {
	return resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID}
}

// assumeAttached tells the model what a bind will write before.
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
