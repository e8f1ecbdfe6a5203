package apiserver

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// delete does what the real API server does to delete an object: it removes it at once, or marks it as being deleted
// until its grace period has passed and its finalizers are gone.
func (s *Server) delete(r *Request, t *table) (runtime.Object, error) {
	e := t.find(r.Namespace, r.Name)
	if e == nil {
		return nil, apierrors.NewNotFound(t.kind.resource, r.Name)
	}
	if err := checkPreconditions(r, t.kind, e.object); err != nil {
		return nil, err
	}
	if t == s.spaces {
		if done, err := s.beginNamespaceDeletion(r, e); done || err != nil {
			return e.object, err
		}
	}
	before := e.object
	object := copyObject(before)
	graceful, pending := s.markGraceful(r, object)
	if pending {
		return e.object, nil
	}
	if err := s.validate(r, t.kind, before, nil); err != nil {
		return nil, err
	}
	if t.find(r.Namespace, r.Name) != e || e.object != before {
		return nil, errChanged
	}
	finalizers := finalizersForDeletion(r, t.kind, object)
	if finalizers != nil {
		object.SetFinalizers(finalizers)
	}
	switch {
	case graceful:
		s.putMarked(r, t, e, object)
	case len(object.GetFinalizers()) > 0:
		s.markDeleting(object)
		s.putMarked(r, t, e, object)
	case finalizers != nil && r.Preconditions != nil && r.Preconditions.ResourceVersion != nil:
		// The real API server compares the version in the precondition with that of an object that it did not write.
		return nil, errPrecondition(r, t.kind.resource, "ResourceVersion", "", e.object.GetResourceVersion())
	}
	isKept := len(object.GetFinalizers()) > 0 || (graceful && *object.GetDeletionGracePeriodSeconds() > 0)
	if !isKept {
		s.drop(r, t, e)
	}
	return e.object, nil
}

// putMarked stores an object that is marked as being deleted, unless it was marked before.
func (s *Server) putMarked(r *Request, t *table, e *entry, object client.Object) {
	if !t.kind.isEqual(object, e.object) {
		s.put(r, t, e, object)
	}
}

func copyObject(object client.Object) client.Object {
	copied, _ := object.DeepCopyObject().(client.Object)
	return copied
}

func checkPreconditions(r *Request, k *kind, object client.Object) error {
	p := r.Preconditions
	if p == nil {
		return nil
	}
	if p.UID != nil && *p.UID != object.GetUID() {
		return apierrors.NewConflict(k.resource, r.Name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, object.GetUID())) //nolint:staticcheck // the real message
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != object.GetResourceVersion() {
		return apierrors.NewConflict(k.resource, r.Name, fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, object.GetResourceVersion())) //nolint:staticcheck // the real message
	}
	return nil
}

// markGraceful sets the deletion time and the grace period of a pod. graceful is false if the object is deleted without
// a grace period. pending is true if a graceful deletion with the same or a shorter period has already begun.
func (s *Server) markGraceful(r *Request, object client.Object) (graceful, pending bool) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return false, false
	}
	if pod.DeletionTimestamp == nil {
		period := gracePeriodOf(r, pod)
		at := metav1.NewTime(s.now().Add(time.Duration(period) * time.Second))
		at = secondsOf(at)
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, &period
		if pod.Generation > 0 {
			pod.Generation++
		}
		return true, false
	}
	return s.shortenGracePeriod(r, pod)
}

// gracePeriodOf returns the grace period of a pod: 0 if it has no node or has finished.
func gracePeriodOf(r *Request, pod *corev1.Pod) int64 {
	hasFinished := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
	period := int64(0)
	switch {
	case pod.Spec.NodeName == "" || hasFinished:
		return 0
	case r.GracePeriod != nil:
		period = *r.GracePeriod
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		period = *pod.Spec.TerminationGracePeriodSeconds
	}
	if period < 0 {
		return 1
	}
	return period
}

// shortenGracePeriod changes the grace period of a pod that is being deleted.
func (s *Server) shortenGracePeriod(r *Request, pod *corev1.Pod) (graceful, pending bool) {
	has := pod.DeletionGracePeriodSeconds
	if has == nil || *has == 0 {
		return false, false
	}
	if r.GracePeriod == nil {
		return false, true
	}
	period := *r.GracePeriod
	if period < 0 {
		period = 1
	}
	if period >= *has {
		return false, true
	}
	at := metav1.NewTime(pod.DeletionTimestamp.Add(time.Duration(period-*has) * time.Second))
	if now := metav1.NewTime(s.now()); at.Before(&now) {
		at = secondsOf(now)
		if period != 0 {
			period = 1
		}
	}
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, &period
	return true, false
}

// markDeleting marks an object that is deleted when its last finalizer is removed.
func (s *Server) markDeleting(object client.Object) {
	at := object.GetDeletionTimestamp()
	if at == nil && object.GetGeneration() > 0 {
		object.SetGeneration(object.GetGeneration() + 1)
	}
	if at == nil || at.After(s.now()) {
		now := s.clock()
		object.SetDeletionTimestamp(&now)
	}
	zero := int64(0)
	object.SetDeletionGracePeriodSeconds(&zero)
}

// finalizersForDeletion returns the finalizers of an object with those that the propagation policy requires, or nil if
// they do not change.
func finalizersForDeletion(r *Request, k *kind, object client.Object) []string {
	has := object.GetFinalizers()
	wanted := []string{}
	for _, f := range has {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			wanted = append(wanted, f)
		}
	}
	switch propagationOf(r, k, has) {
	case metav1.DeletePropagationOrphan:
		wanted = append(wanted, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		wanted = append(wanted, metav1.FinalizerDeleteDependents)
	}
	if hasSameElements(has, wanted) {
		return nil
	}
	return wanted
}

func hasSameElements(a, b []string) bool {
	for _, s := range a {
		if !slices.Contains(b, s) {
			return false
		}
	}
	for _, s := range b {
		if !slices.Contains(a, s) {
			return false
		}
	}
	return true
}

// propagationOf returns the propagation policy: that of the request, of the object's finalizers, or of the kind.
func propagationOf(r *Request, k *kind, finalizers []string) metav1.DeletionPropagation {
	switch {
	case k.collection == rest.Unsupported:
		return metav1.DeletePropagationBackground
	case r.Propagation != nil:
		return *r.Propagation
	}
	for _, f := range finalizers {
		switch f {
		case metav1.FinalizerOrphanDependents:
			return metav1.DeletePropagationOrphan
		case metav1.FinalizerDeleteDependents:
			return metav1.DeletePropagationForeground
		}
	}
	if k.collection == rest.OrphanDependents {
		return metav1.DeletePropagationOrphan
	}
	return metav1.DeletePropagationBackground
}
