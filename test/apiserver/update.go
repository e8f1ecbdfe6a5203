package apiserver

import (
	"errors"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errModified is the reason for the conflict of an update with an old resource version.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

func (s *Server) update(r *Request, t *table) (runtime.Object, error) {
	object, err := s.ownCopy(r, t)
	if err != nil {
		return nil, err
	}
	object.SetManagedFields(nil)
	if err := setNamespace(r, t.kind, object); err != nil {
		return nil, err
	}
	if object.GetName() != r.Name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", object.GetName(), r.Name))
	}
	removeDuplicateOwners(object)
	t.kind.rules.setDefaults(object)
	e := t.find(r.Namespace, r.Name)
	if e == nil {
		return s.updateMissing(r, t, object)
	}
	if uid := object.GetUID(); uid != "" && uid != e.object.GetUID() {
		return nil, errPrecondition(r, t.kind.resource, "UID", string(uid), string(e.object.GetUID()))
	}
	return s.replace(r, t, e, object)
}

// updateMissing creates the object of an update if the kind allows it.
func (s *Server) updateMissing(r *Request, t *table, object client.Object) (runtime.Object, error) {
	switch {
	case !t.kind.createOnUpdate || r.Subresource != "":
		return nil, apierrors.NewNotFound(t.kind.resource, r.Name)
	case object.GetUID() != "":
		return nil, errPrecondition(r, t.kind.resource, "UID", string(object.GetUID()), "")
	}
	object.SetResourceVersion("")
	created, err := s.createObject(r, t, object)
	if err != nil {
		return nil, err
	}
	return created, nil
}

// draft is the next version of an object, which belongs to the server.
type draft struct {
	object client.Object
	// lacksStatus and status are like the fields of entry.
	lacksStatus bool
	status      *appliedStatus
}

// replace makes the object of an update the next version of an entry.
func (s *Server) replace(r *Request, t *table, e *entry, object client.Object) (client.Object, error) {
	d := &draft{object, e.lacksStatus, e.status}
	if r.Subresource == "status" {
		d.lacksStatus = false
		if t.kind.hasAppliedStatus {
			fields, err := t.kind.statusFields(object)
			if err != nil {
				return nil, err
			}
			d.status = e.status.withUpdated(managerOf(r), fields)
		}
	}
	return s.store(r, t, e, d)
}

// store makes a draft the next version of an entry if it is admitted and valid.
func (s *Server) store(r *Request, t *table, e *entry, d *draft) (client.Object, error) {
	if !t.kind.custom {
		d.lacksStatus = false
	}
	old := e.object
	object, err := s.admitUpdate(r, t.kind, old, d.object)
	if err != nil {
		return nil, err
	}
	if err := checkVersion(t.kind, old, object); err != nil {
		return nil, err
	}
	ctx := s.context(r, t.kind)
	if err := t.kind.rules.prepareUpdate(ctx, r.Subresource, object, old); err != nil {
		return nil, err
	}
	d.object = object
	if err := s.validateCustom(ctx, r, t.kind, d, e); err != nil {
		return nil, err
	}
	if err := s.validate(r, t.kind, old, object); err != nil {
		return nil, err
	}
	if t.find(r.Namespace, r.Name) != e || e.object != old {
		return nil, errChanged
	}
	if err := s.checkQuota(r, object, old); err != nil {
		return nil, err
	}
	s.setTransitionTime(object, old)
	if isDeletedByUpdate(object, old) {
		s.drop(r, t, e)
		return object, nil
	}
	if d.lacksStatus == e.lacksStatus && t.kind.isEqual(object, old) && d.status.isEqual(e.status) {
		return old, nil
	}
	e.status, e.lacksStatus = d.status, d.lacksStatus
	return s.put(r, t, e, object), nil
}

// admitUpdate applies the admission of the API server and of the cluster to an update.
func (s *Server) admitUpdate(r *Request, k *kind, old, object client.Object) (client.Object, error) {
	if pod, ok := object.(*corev1.Pod); ok && r.Subresource == "" {
		oldPod, _ := old.(*corev1.Pod)
		addDefaultTolerations(pod)
		if pod.Spec.Priority == nil {
			pod.Spec.Priority = oldPod.Spec.Priority
		}
		if pod.Spec.PreemptionPolicy == nil {
			pod.Spec.PreemptionPolicy = oldPod.Spec.PreemptionPolicy
		}
	}
	object, err := s.mutate(r, k, old, object)
	if err == nil {
		removeDuplicateOwners(object)
	}
	return object, err
}

// checkVersion compares the resource version of an update with that of the stored object.
func checkVersion(k *kind, old, object client.Object) error {
	switch version := object.GetResourceVersion(); {
	case version == old.GetResourceVersion():
	case version != "" && version != "0":
		if _, err := strconv.ParseUint(version, 10, 64); err != nil {
			return apierrors.NewInvalid(schema.GroupKind{}, "", fieldErrors{field.Invalid(metadataPath.Child("resourceVersion"), version, err.Error())})
		}
		return apierrors.NewConflict(k.resource, object.GetName(), errModified)
	case k.unconditionalUpdate:
		object.SetResourceVersion(old.GetResourceVersion())
	default:
		wrong := field.Invalid(metadataPath.Child("resourceVersion"), 0, "must be specified for an update")
		return apierrors.NewInvalid(schema.GroupKind{Group: k.resource.Group, Kind: k.resource.Resource}, object.GetName(), fieldErrors{wrong})
	}
	return nil
}

// isDeletedByUpdate reports whether an update removes the last finalizer of an object that is being deleted.
func isDeletedByUpdate(object, old client.Object) bool {
	if namespace, ok := object.(*corev1.Namespace); ok && len(namespace.Spec.Finalizers) > 0 {
		return false
	}
	if len(object.GetFinalizers()) > 0 || old.GetDeletionTimestamp() == nil {
		return false
	}
	period := old.GetDeletionGracePeriodSeconds()
	return period == nil || *period == 0
}

// setTransitionTime replaces the time of the computer's clock in the status of a volume.
func (s *Server) setTransitionTime(object, old client.Object) {
	volume, ok := object.(*corev1.PersistentVolume)
	if !ok {
		return
	}
	oldVolume, _ := old.(*corev1.PersistentVolume)
	if volume.Status.Phase != oldVolume.Status.Phase && volume.Status.LastPhaseTransitionTime != nil {
		now := s.clock()
		volume.Status.LastPhaseTransitionTime = &now
	}
}
