package apiserver

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (s *Server) list(r *Request, t *table) (runtime.Object, error) {
	matches, err := newMatcher(r, t.kind)
	if err != nil {
		return nil, err
	}
	from, err := s.startOfPage(r)
	if err != nil {
		return nil, err
	}
	objects := s.candidates(r, t, from)
	found, last, rest := selectPage(objects, matches, int(r.Limit))
	list, meta, err := s.newList(t.kind)
	if err != nil {
		return nil, err
	}
	meta.SetResourceVersion(strconv.FormatUint(from.version, 10))
	if rest > 0 {
		if isEmptySelector(r) {
			remaining := int64(rest)
			meta.SetRemainingItemCount(&remaining)
		}
		token, err := storage.EncodeContinue(keyOf(objects[last])+"\x00", from.prefix, int64(from.version))
		if err != nil {
			return nil, err
		}
		meta.SetContinue(token)
	}
	setItems(list, found)
	return list, nil
}

// isEmptySelector reports whether a List has no selectors.
func isEmptySelector(r *Request) bool { return r.Labels == nil && r.Fields == nil }

// pageStart is where a page of a List begins.
type pageStart struct {
	namespace string
	prefix    string // of the keys of all objects
	key       string // the first possible key; "" means the first object
	version   uint64 // version of the objects in the list
}

// keyOf returns the key under which etcd stores an object, without the prefix of its kind.
func keyOf(o client.Object) string {
	if namespace := o.GetNamespace(); namespace != "" {
		return "/" + namespace + "/" + o.GetName()
	}
	return "/" + o.GetName()
}

// startOfPage returns where the page of a List begins. Like the real API server, it derives the namespace from a field
// selector on the first page only.
func (s *Server) startOfPage(r *Request) (pageStart, error) {
	from := pageStart{namespace: r.Namespace, prefix: "/", version: s.version}
	if r.Fields != nil && r.Namespace == "" && r.Continue == "" {
		from.namespace, _ = r.Fields.RequiresExactMatch("metadata.namespace")
	}
	if from.namespace != "" {
		from.prefix += from.namespace + "/"
	}
	if r.Continue == "" {
		return from, nil
	}
	key, version, err := storage.DecodeContinue(r.Continue, from.prefix)
	if err != nil {
		return from, apierrors.NewBadRequest("invalid continue token: " + err.Error())
	}
	from.key = key
	switch {
	case version < 0: // the client accepts that the pages show different versions
	case uint64(version) > s.version:
		return from, storage.NewTooLargeResourceVersionError(uint64(version), s.version, 0)
	case uint64(version) < s.compacted:
		return from, errExpired(from)
	default:
		from.version = uint64(version)
	}
	return from, nil
}

// errExpired returns the error for a continue token whose version has been compacted. It contains a token with which the
// client can read the remaining objects as they are now.
func errExpired(from pageStart) error {
	err := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
		"the continue parameter, or use the continue token in this response to retrieve the remainder of the results.")
	token, encodeErr := storage.EncodeContinue(from.key, from.prefix, -1)
	if encodeErr == nil {
		err.ErrStatus.Continue = token
	}
	return err
}

// Compact drops all versions before the current one, as etcd does regularly. From then on, continue tokens of earlier lists
// are expired.
func (s *Server) Compact() { s.compacted = s.version }

// candidates returns the objects of a kind among which a page of a List is selected.
func (s *Server) candidates(r *Request, t *table, from pageStart) (objects []client.Object) {
	if from.version == s.version {
		t.all(from.namespace, func(e *entry) bool {
			objects = append(objects, e.object)
			return true
		})
	} else {
		for _, o := range s.objectsAt(t, from.version) {
			if from.namespace == "" || o.GetNamespace() == from.namespace {
				objects = append(objects, o)
			}
		}
	}
	isFirstPage := r.Continue == ""
	return slices.DeleteFunc(objects, func(o client.Object) bool {
		if isFirstPage {
			return !isIndexed(r, t, from.namespace, o)
		}
		return keyOf(o) < from.key
	})
}

// isIndexed reports whether an object belongs to the objects that the real API server reads for the field selector: it
// finds names and the pods of a node without reading other objects.
func isIndexed(r *Request, t *table, namespace string, o client.Object) bool {
	if r.Fields == nil {
		return true
	}
	if name, ok := r.Fields.RequiresExactMatch("metadata.name"); ok && (namespace != "" || !t.kind.namespaced) {
		return o.GetName() == name
	}
	pod, isPod := o.(*corev1.Pod)
	if node, ok := r.Fields.RequiresExactMatch("spec.nodeName"); ok && isPod {
		return pod.Spec.NodeName == node
	}
	return true
}

// selectPage returns up to limit matching objects, the index of the last object that it has examined, and the number of
// later objects. Like the real API server, which pages through keys, it does not examine whether later objects match.
func selectPage(objects []client.Object, matches func(client.Object) bool, limit int) (found []client.Object, last, rest int) {
	for i, o := range objects {
		if limit > 0 && len(found) == limit {
			return found, i - 1, len(objects) - i
		}
		if matches(o) {
			found = append(found, o)
		}
	}
	return found, len(objects) - 1, 0
}

// newList returns an empty list of a kind.
func (s *Server) newList(k *kind) (runtime.Object, metav1.ListInterface, error) {
	list, err := s.scheme.New(k.gvk.GroupVersion().WithKind(k.gvk.Kind + "List"))
	if err != nil {
		return nil, nil, err
	}
	meta, ok := list.(metav1.ListInterface)
	if !ok {
		return nil, nil, fmt.Errorf("%T is not a list", list)
	}
	return list, meta, nil
}

// setItems puts shallow copies of objects into a list, which must have a field Items that holds structs.
func setItems(list runtime.Object, objects []client.Object) {
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	all := reflect.MakeSlice(items.Type(), len(objects), len(objects))
	for i, o := range objects {
		all.Index(i).Set(reflect.ValueOf(o).Elem())
	}
	items.Set(all)
}

// newMatcher returns a function that reports whether an object matches the selectors of a List.
func newMatcher(r *Request, k *kind) (func(client.Object) bool, error) {
	matchesFields, err := newFieldMatcher(r.Fields, k)
	if err != nil {
		return nil, err
	}
	return func(o client.Object) bool {
		return (r.Labels == nil || r.Labels.Matches(labels.Set(o.GetLabels()))) && matchesFields(o)
	}, nil
}

// newFieldMatcher supports the field selectors that the clients of this project use.
func newFieldMatcher(selector fields.Selector, k *kind) (func(client.Object) bool, error) {
	if selector == nil || selector.Empty() {
		return func(client.Object) bool { return true }, nil
	}
	for _, requirement := range selector.Requirements() {
		if !k.hasField(requirement.Field) {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", requirement.Field))
		}
	}
	return func(o client.Object) bool {
		set := fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace()}
		if pod, ok := o.(*corev1.Pod); ok {
			set["spec.nodeName"], set["status.phase"] = pod.Spec.NodeName, string(pod.Status.Phase)
		}
		return selector.Matches(set)
	}, nil
}

func (k *kind) hasField(name string) bool {
	switch name {
	case "metadata.name":
		return true
	case "metadata.namespace":
		hasNoSuchField := k.custom || k.gvk.Kind == "Node" || k.gvk.Kind == "Namespace"
		return k.namespaced || !hasNoSuchField
	case "spec.nodeName", "status.phase":
		return k.gvk == podKind
	}
	return false
}
