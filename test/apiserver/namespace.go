package apiserver

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// beginNamespaceDeletion marks a namespace as terminating. done is true if the namespace must not be removed yet.
func (s *Server) beginNamespaceDeletion(r *Request, e *entry) (done bool, err error) {
	namespace, _ := e.object.(*corev1.Namespace)
	switch namespace.Name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return true, apierrors.NewForbidden(s.spaces.kind.resource, r.Name, fmt.Errorf("this namespace may not be deleted"))
	}
	if namespace.DeletionTimestamp != nil {
		return len(namespace.Spec.Finalizers) > 0, nil
	}
	if err := s.validate(r, s.spaces.kind, namespace, nil); err != nil {
		return true, err
	}
	if e.object != namespace {
		return true, errChanged
	}
	terminating := *namespace
	now := s.clock()
	terminating.DeletionTimestamp = &now
	terminating.Status.Phase = corev1.NamespaceTerminating
	if finalizers := finalizersForDeletion(r, s.spaces.kind, namespace); finalizers != nil {
		terminating.Finalizers = finalizers
	}
	s.put(r, s.spaces, e, &terminating)
	return true, nil
}
