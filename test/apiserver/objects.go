package apiserver

import (
	"context"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The functions in this file are for tests that play the users and components around the program under test.

// Client returns a client whose requests always succeed or fail as the API server decides.
func (s *Server) Client() *Client {
	return NewClient(s.scheme, func(_ context.Context, r *Request) (runtime.Object, error) { return s.Do(r) })
}

// Cache returns a cache that contains all objects and shows each later change at once.
func (s *Server) Cache() *Cache {
	c := NewCache()
	for _, t := range s.ordered {
		for _, o := range s.Objects(t.kind.gvk) {
			c.Apply(Change{Object: o})
		}
	}
	s.caches = append(s.caches, c)
	return c
}

// tableOf returns the objects that have the Go type of an object.
func (s *Server) tableOf(o reflect.Type) *table {
	for _, t := range s.ordered {
		if t.kind.goType == o.Elem() {
			return t
		}
	}
	panic(fmt.Sprintf("the API server has no kind for %s", o)) // an error in the test
}

// Find returns the stored object with a name, or nil. The object must not be modified.
func Find[T client.Object](s *Server, namespace, name string) (found T) {
	if e := s.tableOf(reflect.TypeFor[T]()).find(namespace, name); e != nil {
		found, _ = e.object.(T)
	}
	return found
}

// All returns the stored objects of a Go type by namespace and name. They must not be modified.
func All[T client.Object](s *Server) (objects []T) {
	s.tableOf(reflect.TypeFor[T]()).all("", func(e *entry) bool {
		if o, ok := e.object.(T); ok {
			objects = append(objects, o)
		}
		return true
	})
	return objects
}

// Objects returns the stored objects of a kind, such as Pod, by namespace and name. They must not be modified.
func (s *Server) Objects(k schema.GroupVersionKind) (objects []client.Object) {
	s.tables[k].all("", func(e *entry) bool {
		objects = append(objects, e.object)
		return true
	})
	return objects
}

// Save creates an object, or replaces the stored object with its name, whatever the UID and the version. Unlike a
// request, it also stores the status, binds a pod to its node, and creates a missing namespace. It returns the stored
// object, which must not be modified. It panics if the API server rejects the object.
func (s *Server) Save(o client.Object) client.Object {
	t := s.tableOf(reflect.TypeOf(o))
	if namespace := o.GetNamespace(); t.kind.namespaced && s.spaces.find("", namespace) == nil {
		s.Save(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}
	e := t.find(o.GetNamespace(), o.GetName())
	if e == nil {
		s.mustWrite(Create, "", o)
		e = t.find(o.GetNamespace(), o.GetName())
	} else {
		s.saveNode(e, o)
		if update := e.nextVersion(o, false); !t.kind.isEqual(update, e.object) {
			s.mustWrite(Update, "", update)
		}
	}
	if t.kind.hasStatus {
		if update := e.nextVersion(o, true); !t.kind.isEqual(update, e.object) {
			s.mustWrite(Update, "status", update)
		}
	}
	return e.object
}

// nextVersion returns the stored object with the status of another object, or the other object with the status, the UID
// and the version of the stored object. The result shares data with both.
func (e *entry) nextVersion(o client.Object, hasItsStatus bool) client.Object {
	content, status := o, e.object
	if hasItsStatus {
		content, status = e.object, o
	}
	next := e.kind.newObject()
	value := reflect.ValueOf(next).Elem()
	value.Set(reflect.ValueOf(content).Elem())
	if e.kind.hasStatus {
		value.Field(e.kind.statusField).Set(reflect.ValueOf(status).Elem().Field(e.kind.statusField))
	}
	next.SetUID(e.object.GetUID())
	next.SetResourceVersion(e.object.GetResourceVersion())
	return next
}

// saveNode binds a stored pod to the node of another version of the pod.
func (s *Server) saveNode(e *entry, o client.Object) {
	pod, isPod := o.(*corev1.Pod)
	if !isPod || pod.Spec.NodeName == e.object.(*corev1.Pod).Spec.NodeName {
		return
	}
	s.mustWrite(Create, "binding", &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		Target:     corev1.ObjectReference{Kind: "Node", Name: pod.Spec.NodeName},
	})
}

func (s *Server) mustWrite(verb Verb, subresource string, o client.Object) {
	r := &Request{Verb: verb, Namespace: o.GetNamespace(), Name: o.GetName(), Subresource: subresource, Object: o, Shared: true}
	if subresource == "binding" {
		r.Kind = podKind
	} else {
		r.Kind = s.tableOf(reflect.TypeOf(o)).kind.gvk
	}
	if _, err := s.Do(r); err != nil {
		panic(fmt.Sprintf("%s: %v", r, err)) // an error in the test
	}
}

// Remove deletes an object without a grace period. An object with finalizers is only marked as being deleted. It panics
// if the API server rejects the request, but not if the object does not exist.
func (s *Server) Remove(o client.Object) {
	now := int64(0)
	r := &Request{Verb: Delete, Kind: s.tableOf(reflect.TypeOf(o)).kind.gvk, Namespace: o.GetNamespace(), Name: o.GetName(), GracePeriod: &now, Shared: true}
	if _, err := s.Do(r); err != nil && !apierrors.IsNotFound(err) {
		panic(fmt.Sprintf("%s: %v", r, err)) // an error in the test
	}
}

// copiedObject is a stored object and its copy at the time when it was stored.
type copiedObject struct{ stored, copied client.Object }

// CheckUnmodified returns an error if a client has modified a stored object. Caches share these objects, so clients may
// only read them. It checks the objects that were stored while KeepCopies was set.
func (s *Server) CheckUnmodified() error {
	for _, o := range s.copies {
		if !equality.Semantic.DeepEqual(o.copied, o.stored) {
			return fmt.Errorf("%T %s was modified by a client that had only read it:\nstored %+v\nis now %+v", o.stored, client.ObjectKeyFromObject(o.copied), o.copied, o.stored)
		}
	}
	return nil
}
