package kube

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// quickCase holds facts that exclude most nodes without running a plugin. They exclude only nodes that the plugins
// would exclude as well.
type quickCase struct {
	hosts   [][]string // for each bound volume that is tied to hosts, the allowed host names
	free    []freeCase // claims that need an existing volume
	devices bool       // the pod needs devices that are not allocated yet
}

// freeCase is a claim that is not bound to a volume yet.
type freeCase struct {
	claim, class string
	anywhere     bool // some suitable volume is not tied to any host
}

// newQuickCase collects the facts about the shape's claims that decide which nodes can be excluded.
func (a *Adapter) newQuickCase(shape *model.Shape, p *podCase) quickCase {
	var q quickCase
	if a.plugins.binding != nil {
		for _, key := range shape.VolumeClaims() {
			a.addQuickVolume(&q, key)
		}
	}
	if !p.device {
		return q
	}
	for _, key := range deviceClaimKeys(shape.Attached) {
		claim, ok := a.handle.devices.getClaim(key)
		if ok && claim.Status.Allocation == nil && len(claim.Spec.Devices.Requests) > 0 {
			q.devices = true
		}
	}
	return q
}

func (a *Adapter) addQuickVolume(q *quickCase, key string) {
	at := &a.cluster.Attachable
	claim, ok := at.VolumeClaims.Get(key)
	if !ok {
		return
	}
	if claim.Spec.VolumeName != "" {
		if pv, ok := at.Volumes.Get(claim.Spec.VolumeName); ok {
			if hosts := model.VolumeHosts(pv.Spec.NodeAffinity); hosts != nil {
				q.hosts = append(q.hosts, hosts)
			}
		}
		return
	}
	class, ok := at.Classes.Get(storagehelpers.GetPersistentVolumeClaimClass(claim))
	if !ok || class.Provisioner != storagehelpers.NotSupportedProvisioner {
		return
	}
	if claim.Annotations[storagehelpers.AnnSelectedNode] != "" || len(at.Volumes.KeysInGroup(model.ClaimedVolumes(key))) > 0 {
		return
	}
	c := freeCase{claim: key, class: class.Name}
	c.anywhere = a.hasFreeVolume(class.Name, model.AnyHost, key)
	q.free = append(q.free, c)
}

// quickVerdict checks whether a node can be excluded because of its host name or its devices. The caller adds the
// detail to the verdict.
func (a *Adapter) quickVerdict(p *podCase, id model.NodeID) verdict {
	q := &p.quickCase
	if len(q.hosts)+len(q.free) > 0 {
		host := a.view.Nodes.Info[id].Labels[corev1.LabelHostname]
		for _, hosts := range q.hosts {
			if !slices.Contains(hosts, host) {
				return verdict{code: reason.VolumeNodeMismatch}
			}
		}
		for i := range q.free {
			if f := &q.free[i]; !f.anywhere && !a.hasFreeVolume(f.class, host, f.claim) {
				return verdict{code: reason.NoVolume}
			}
		}
	}
	if q.devices {
		devices := &a.cluster.Attachable.Slices
		if len(devices.KeysInGroup(model.AnyHost)) == 0 && len(devices.KeysInGroup(a.view.Nodes.Name[id])) == 0 {
			return verdict{code: reason.DevicesTaken}
		}
	}
	return verdict{}
}

// hasFreeVolume reports whether a storage class has a volume for a host. Volumes that were bound to another claim in
// this cycle do not count.
func (a *Adapter) hasFreeVolume(class, host, claim string) bool {
	a.group = model.AppendFreeVolumes(a.group[:0], class, host)
	for _, volume := range a.cluster.Attachable.Volumes.KeysInBytes(a.group) {
		if owner, gone := a.given[volume]; !gone || owner == claim {
			return true
		}
	}
	return false
}

// hasAlternatives reports whether a device claim of the shape lists alternatives. If so, nodes may differ in the
// alternative that they can provide.
func (a *Adapter) hasAlternatives(shape *model.Shape) bool {
	for _, key := range deviceClaimKeys(shape.Attached) {
		claim, ok := a.handle.devices.getClaim(key)
		if ok && slices.ContainsFunc(claim.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool { return len(r.FirstAvailable) > 0 }) {
			return true
		}
	}
	return false
}

// Stamp returns a number that changes whenever the verdict on a shape may change. It is the sum of the generations
// that the verdict depends on; because generations only grow, any change increases the sum.
func (a *Adapter) Stamp(shape *model.Shape) uint64 {
	at := &a.cluster.Attachable
	var sum uint64
	for _, key := range shape.VolumeClaims() {
		sum += at.VolumeClaims.GenerationOf(key)
		claim, ok := at.VolumeClaims.Get(key)
		switch {
		case !ok:
		case claim.Spec.VolumeName != "":
			sum += at.Volumes.GenerationOf(claim.Spec.VolumeName)
		default:
			sum += at.Volumes.Gen + at.CSIDrivers.Gen + at.Capacities.Gen
		}
	}
	if len(shape.Attached.Spec.Volumes) > 0 {
		sum += at.Classes.Gen + at.CSINodes.Gen + at.Attachments.Gen
	}
	if len(shape.Attached.Spec.ResourceClaims) > 0 {
		sum += at.DeviceClaims.Gen + at.Slices.Gen + at.DeviceClasses.Gen + at.TaintRules.Gen
	}
	return sum
}
