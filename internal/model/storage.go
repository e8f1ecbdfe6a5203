package model

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/vc-batch/vc/internal/model/apiobject"
)

// Attachable holds the objects that describe the volumes and devices that pods attach. Only Kubernetes' own plugins
// read them, so they are stored as API objects.
type Attachable struct {
	VolumeClaims apiobject.Store[*corev1.PersistentVolumeClaim]
	Volumes      apiobject.Store[*corev1.PersistentVolume]
	Classes      apiobject.Store[*storagev1.StorageClass]
	CSINodes     apiobject.Store[*storagev1.CSINode]
	CSIDrivers   apiobject.Store[*storagev1.CSIDriver]
	Capacities   apiobject.Store[*storagev1.CSIStorageCapacity]
	Attachments  apiobject.Store[*storagev1.VolumeAttachment]

	DeviceClaims  apiobject.Store[*resourcev1.ResourceClaim]
	Slices        apiobject.Store[*resourcev1.ResourceSlice]
	DeviceClasses apiobject.Store[*resourcev1.DeviceClass]
	TaintRules    apiobject.Store[*resourcev1.DeviceTaintRule]

	// Gen is the generation of the last change to any of the objects. UsersGen is the generation of the last change
	// to the tasks on nodes that use volume claims.
	Gen, UsersGen uint64

	users map[string][]*Task // tasks on nodes, by the key of a volume claim that they use
}

func newAttachable() Attachable {
	var a Attachable
	a.Volumes.IndexBy(volumeGroups)
	a.Attachments.IndexBy(func(v *storagev1.VolumeAttachment) []string { return []string{v.Spec.NodeName} })
	a.Slices.IndexBy(resourceSliceGroups)
	return a
}

// Names and prefixes of the groups by which volumes and resource slices are looked up.
const (
	anyHost = "*"
	free    = "free "
	claimed = "claimed "
)

// FreeVolumes returns the name of the group that contains the unclaimed volumes of a storage class to which a node
// with the given host name may have access. For AnyHost, it returns the group of volumes that are not restricted to
// host names.
func FreeVolumes(class, host string) string { return string(AppendFreeVolumes(nil, class, host)) }

// AppendFreeVolumes appends the result of FreeVolumes to b.
func AppendFreeVolumes(b []byte, class, host string) []byte {
	return append(append(append(append(b, free...), class...), ' '), host...)
}

// ClaimedVolumes returns the name of the group that contains the volumes that refer to a claim.
func ClaimedVolumes(claim string) string { return claimed + claim }

// AnyHost stands for objects that are not tied to a host by its name. It is the name of a group of resource slices,
// and a host name for FreeVolumes.
const AnyHost = anyHost

// volumeGroups returns the groups that contain a volume. Claims look up volumes by these groups.
func volumeGroups(pv *corev1.PersistentVolume) []string {
	if ref := pv.Spec.ClaimRef; ref != nil {
		return []string{ClaimedVolumes(ref.Namespace + "/" + ref.Name)}
	}
	class := storagehelpers.GetPersistentVolumeClass(pv)
	hosts := VolumeHosts(pv.Spec.NodeAffinity)
	if hosts == nil {
		return []string{FreeVolumes(class, anyHost)}
	}
	groups := make([]string, len(hosts))
	for i, host := range hosts {
		groups[i] = FreeVolumes(class, host)
	}
	return groups
}

// VolumeHosts returns the host names in a volume's node affinity; nil if some term is not restricted to host names.
func VolumeHosts(affinity *corev1.VolumeNodeAffinity) []string {
	if affinity == nil || affinity.Required == nil || len(affinity.Required.NodeSelectorTerms) == 0 {
		return nil
	}
	var hosts []string
	for i := range affinity.Required.NodeSelectorTerms {
		named := false
		for _, e := range affinity.Required.NodeSelectorTerms[i].MatchExpressions {
			if e.Key == corev1.LabelHostname && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) > 0 {
				hosts, named = append(hosts, e.Values...), true
				break
			}
		}
		if !named {
			return nil
		}
	}
	return hosts
}

// resourceSliceGroups returns the group of a resource slice, which is either the slice's node or the group that is
// checked for every node.
func resourceSliceGroups(s *resourcev1.ResourceSlice) []string {
	if s.Spec.NodeName != nil && *s.Spec.NodeName != "" && len(s.Spec.SharedCounters) == 0 {
		return []string{*s.Spec.NodeName}
	}
	return []string{anyHost}
}

// TasksUsingClaim returns the tasks on nodes that use a volume claim. The caller must not change the result.
func (a *Attachable) TasksUsingClaim(claim string) []*Task { return a.users[claim] }

// ObjectSet adds or replaces an object of a kind that Attachable holds. Other kinds are ignored.
type ObjectSet struct{ Object metav1.Object }

// ObjectGone removes an object of a kind that Attachable holds. Only the type, namespace and name of Object are used.
type ObjectGone struct{ Object metav1.Object }
