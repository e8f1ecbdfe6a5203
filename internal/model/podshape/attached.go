package podshape

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/ephemeral"
)

// attachedFrom returns the part of a pod that is read by Kubernetes' plugins for volumes and devices; nil if the pod
// has no such part. If claims of the pod are named after it, the part keeps the pod's name and UID, so that each such
// pod is evaluated separately.
func attachedFrom(pod *corev1.Pod) *corev1.Pod {
	own := false
	part := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace}}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if !isCheckedVolume(v) {
			continue
		}
		own = own || v.Ephemeral != nil
		part.Spec.Volumes = append(part.Spec.Volumes, withoutTemplate(v))
	}
	for i := range pod.Spec.ResourceClaims {
		own = own || pod.Spec.ResourceClaims[i].ResourceClaimTemplateName != nil
	}
	part.Spec.ResourceClaims = pod.Spec.ResourceClaims
	part.Status.ResourceClaimStatuses = pod.Status.ResourceClaimStatuses
	if len(part.Spec.Volumes)+len(part.Spec.ResourceClaims) == 0 {
		return nil
	}
	if own {
		part.Name, part.UID = pod.Name, pod.UID
	}
	return part
}

// isCheckedVolume reports whether the plugins check a volume. They check claims, volumes that cannot be used twice on a
// node, and volumes that count against the node's attach limit.
func isCheckedVolume(v *corev1.Volume) bool {
	switch {
	case v.PersistentVolumeClaim != nil, v.Ephemeral != nil: // claims
		return true
	case v.GCEPersistentDisk != nil, v.AWSElasticBlockStore != nil, v.ISCSI != nil, v.RBD != nil: // cannot be used twice
		return true
	case v.AzureDisk != nil, v.Cinder != nil, v.PortworxVolume != nil: // count against the limit
		return true
	}
	return false
}

func withoutTemplate(v *corev1.Volume) corev1.Volume {
	if v.Ephemeral == nil {
		return *v
	}
	return corev1.Volume{Name: v.Name, VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}
}

// VolumeClaims returns the keys of the volume claims that a pod uses, sorted.
func VolumeClaims(part *corev1.Pod) []string {
	if part == nil {
		return nil
	}
	var claims []string
	for i := range part.Spec.Volumes {
		switch v := &part.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			claims = append(claims, part.Namespace+"/"+v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			claims = append(claims, part.Namespace+"/"+ephemeral.VolumeClaimName(part, v))
		}
	}
	slices.Sort(claims)
	return slices.Compact(claims)
}
