package apiserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// GarbageRequests returns the requests that the garbage collector of kube-controller-manager would send next: it deletes
// objects whose owners no longer exist, completes deletions in the foreground, and removes references of orphans. The
// requests follow from the current objects alone, so they can be lost or repeated. The list is empty when nothing is left
// to do.
func (s *Server) GarbageRequests() []*Request {
	g := &collector{server: s, handled: map[*entry]bool{}}
	for _, uid := range s.ownersWithWork() {
		switch owner := s.uids[uid]; {
		case owner == nil:
			for _, dependent := range s.dependentsOf(uid) {
				g.collect(dependent)
			}
		case isBeingDeleted(owner.object, metav1.FinalizerOrphanDependents):
			for _, dependent := range s.dependentsOf(uid) {
				g.releaseFromOwners(dependent, map[types.UID]bool{uid: true})
			}
		case isBeingDeleted(owner.object, metav1.FinalizerDeleteDependents):
			for _, dependent := range s.dependentsOf(uid) {
				g.collect(dependent)
			}
		}
	}
	for _, e := range s.waitingOwners() {
		g.completeDeletion(e)
	}
	return g.requests
}

// LacksOwner reports whether an object refers to an owner that does not exist.
func (s *Server) LacksOwner(o client.Object) bool {
	return o != nil && slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return s.uids[r.UID] == nil })
}

// ownersWithWork returns the sorted UIDs of owners that do not exist or are being deleted.
func (s *Server) ownersWithWork() (uids []types.UID) {
	for uid := range s.owned {
		if owner := s.uids[uid]; owner == nil || s.finalizing[owner] {
			uids = append(uids, uid)
		}
	}
	slices.Sort(uids)
	return uids
}

// collector computes the requests of one pass of the garbage collector.
type collector struct {
	server   *Server
	handled  map[*entry]bool
	requests []*Request
}

// isBeingDeleted reports whether an object is being deleted and still has a finalizer.
func isBeingDeleted(object client.Object, finalizer string) bool {
	return object.GetDeletionTimestamp() != nil && slices.Contains(object.GetFinalizers(), finalizer)
}

// dependentsOf returns the objects that refer to an owner, by kind, namespace and name.
func (s *Server) dependentsOf(uid types.UID) []*entry {
	return slices.SortedFunc(slices.Values(s.owned[uid]), compareEntries)
}

func compareEntries(a, b *entry) int {
	return cmp.Or(cmp.Compare(a.kind.gvk.String(), b.kind.gvk.String()), compareNames(a.object, b.object))
}

// waitingOwners returns the objects that the garbage collector must finalize, by kind, namespace and name.
func (s *Server) waitingOwners() []*entry {
	return slices.SortedFunc(maps.Keys(s.finalizing), compareEntries)
}

// updateFinalizing records whether the garbage collector must finalize an entry.
func (s *Server) updateFinalizing(e *entry, exists bool) {
	isWaiting := exists && (isBeingDeleted(e.object, metav1.FinalizerOrphanDependents) || isBeingDeleted(e.object, metav1.FinalizerDeleteDependents))
	if isWaiting {
		s.finalizing[e] = true
	} else {
		delete(s.finalizing, e)
	}
}

// newRequest returns a request for an entry, with its UID and resource version as preconditions.
func (e *entry) newRequest(verb Verb) *Request {
	version := e.object.GetResourceVersion()
	return &Request{
		Verb: verb, Kind: e.kind.gvk, Namespace: e.object.GetNamespace(), Name: e.object.GetName(),
		Preconditions: &metav1.Preconditions{UID: uidOf(e.object), ResourceVersion: &version},
	}
}

// patchMetadata adds a merge patch of the metadata of an entry.
func (g *collector) patchMetadata(e *entry, change map[string]any) {
	change["uid"], change["resourceVersion"] = e.object.GetUID(), e.object.GetResourceVersion()
	data, err := json.Marshal(map[string]any{"metadata": change})
	if err != nil {
		panic(fmt.Sprintf("cannot encode a patch: %v", err)) // metadata can be encoded
	}
	r := e.newRequest(Patch)
	r.Preconditions, r.PatchType, r.Patch = nil, types.MergePatchType, data
	g.requests = append(g.requests, r)
}

// ownership classifies the owners of an object.
type ownership struct {
	solid    int
	absent   map[types.UID]bool
	deleting map[types.UID]bool // owners that wait for the deletion of this object
}

func (s *Server) ownershipOf(e *entry) ownership {
	o := ownership{absent: map[types.UID]bool{}, deleting: map[types.UID]bool{}}
	for _, ref := range e.object.GetOwnerReferences() {
		owner := s.uids[ref.UID]
		switch {
		case owner == nil || (owner.kind.namespaced && owner.object.GetNamespace() != e.object.GetNamespace()):
			o.absent[ref.UID] = true
		case isBeingDeleted(owner.object, metav1.FinalizerDeleteDependents):
			o.deleting[ref.UID] = true
		default:
			o.solid++
		}
	}
	return o
}

// collect deletes an object if it has no owner that keeps it. Otherwise, it removes references to the other owners.
func (g *collector) collect(e *entry) {
	if g.handled[e] {
		return
	}
	g.handled[e] = true
	if e.object.GetDeletionTimestamp() != nil {
		return
	}
	o := g.server.ownershipOf(e)
	if o.solid > 0 {
		gone := maps.Clone(o.absent)
		maps.Copy(gone, o.deleting)
		if len(gone) > 0 {
			g.removeOwners(e, gone)
		}
		return
	}
	policy := metav1.DeletePropagationBackground
	switch finalizers := e.object.GetFinalizers(); {
	case len(o.deleting) > 0 && len(g.server.owned[e.object.GetUID()]) > 0:
		policy = metav1.DeletePropagationForeground
	case slices.Contains(finalizers, metav1.FinalizerOrphanDependents):
		policy = metav1.DeletePropagationOrphan
	case slices.Contains(finalizers, metav1.FinalizerDeleteDependents):
		policy = metav1.DeletePropagationForeground
	}
	r := e.newRequest(Delete)
	r.Propagation = &policy
	g.requests = append(g.requests, r)
}

func (g *collector) releaseFromOwners(e *entry, owners map[types.UID]bool) {
	if !g.handled[e] {
		g.handled[e] = true
		g.removeOwners(e, owners)
	}
}

func (g *collector) removeOwners(e *entry, gone map[types.UID]bool) {
	kept := slices.DeleteFunc(slices.Clone(e.object.GetOwnerReferences()), func(o ownerReference) bool { return gone[o.UID] })
	g.patchMetadata(e, map[string]any{"ownerReferences": kept})
}

// completeDeletion removes the finalizer of the garbage collector if no dependent is left that it waits for.
func (g *collector) completeDeletion(e *entry) {
	finalizer := metav1.FinalizerDeleteDependents
	if isBeingDeleted(e.object, metav1.FinalizerOrphanDependents) {
		finalizer = metav1.FinalizerOrphanDependents
	}
	uid := e.object.GetUID()
	for _, dependent := range g.server.owned[uid] {
		if finalizer == metav1.FinalizerOrphanDependents || blocksDeletion(dependent.object, uid) {
			return
		}
	}
	kept := slices.DeleteFunc(slices.Clone(e.object.GetFinalizers()), func(f string) bool { return f == finalizer })
	g.patchMetadata(e, map[string]any{"finalizers": kept})
}

// blocksDeletion reports whether an owner is deleted only after the object.
func blocksDeletion(object client.Object, owner types.UID) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(o ownerReference) bool {
		return o.UID == owner && o.BlockOwnerDeletion != nil && *o.BlockOwnerDeletion
	})
}

// NamespaceRequests returns the requests that the namespace controller of kube-controller-manager would send next: it
// deletes the objects in terminating namespaces, and then finalizes the namespaces.
func (s *Server) NamespaceRequests() (requests []*Request) {
	s.spaces.all("", func(e *entry) bool {
		if namespace, ok := e.object.(*corev1.Namespace); ok && namespace.DeletionTimestamp != nil {
			requests = append(requests, s.terminate(e, namespace)...)
		}
		return true
	})
	return requests
}

func (s *Server) terminate(e *entry, namespace *corev1.Namespace) (requests []*Request) {
	isEmpty := true
	background := metav1.DeletePropagationBackground
	for _, t := range s.ordered {
		if !t.kind.namespaced {
			continue
		}
		t.all(namespace.Name, func(content *entry) bool {
			isEmpty = false
			if content.object.GetDeletionTimestamp() == nil {
				r := content.newRequest(Delete)
				r.Preconditions, r.Propagation = nil, &background
				requests = append(requests, r)
			}
			return true
		})
	}
	if isEmpty && len(namespace.Spec.Finalizers) > 0 {
		finalized := namespace.DeepCopy()
		finalized.Spec.Finalizers = slices.DeleteFunc(finalized.Spec.Finalizers, func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
		r := e.newRequest(Update)
		r.Preconditions, r.Subresource, r.Object = nil, "finalize", finalized
		requests = append(requests, r)
	}
	return requests
}

// Finalizers that the API server's admission adds to volumes.
const (
	claimProtection  = "kubernetes.io/pvc-protection"
	volumeProtection = "kubernetes.io/pv-protection"
)

// VolumeProtectionRequests returns the requests of the controllers that let go of claims that no pod uses, and of
// volumes that no claim uses.
func (s *Server) VolumeProtectionRequests() (requests []*Request) {
	release := func(e *entry, finalizer string) {
		released := copyObject(e.object)
		released.SetFinalizers(slices.DeleteFunc(released.GetFinalizers(), func(f string) bool { return f == finalizer }))
		r := e.newRequest(Update)
		r.Preconditions, r.Object = nil, released
		requests = append(requests, r)
	}
	s.tables[volumeClaimKind].all("", func(e *entry) bool {
		if isBeingDeleted(e.object, claimProtection) && !s.isClaimUsed(e.object) {
			release(e, claimProtection)
		}
		return true
	})
	s.tables[volumeKind].all("", func(e *entry) bool {
		if volume, ok := e.object.(*corev1.PersistentVolume); ok && isBeingDeleted(volume, volumeProtection) && volume.Status.Phase != corev1.VolumeBound {
			release(e, volumeProtection)
		}
		return true
	})
	return requests
}

// isClaimUsed reports whether a pod that has not finished uses a claim.
func (s *Server) isClaimUsed(claim client.Object) (used bool) {
	s.pods.all(claim.GetNamespace(), func(e *entry) bool {
		pod, _ := e.object.(*corev1.Pod)
		hasFinished := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		used = !hasFinished && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim.GetName()
		})
		return !used
	})
	return used
}
