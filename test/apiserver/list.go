package apiserver

import (
	"encoding/base64"
	"encoding/json"
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
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// page is the content of a continue token.
type page struct {
	Version uint64 `json:"rv"`
	Skip    int    `json:"skip"`
}

func (s *Server) list(r *Request, t *table) (runtime.Object, error) {
	matches, err := newMatcher(r, t.kind)
	if err != nil {
		return nil, err
	}
	at := page{Version: s.version}
	if r.Continue != "" {
		if at, err = decodePage(r.Continue); err != nil {
			return nil, err
		}
	}
	found, hasMore, rest := selectPage(s.candidates(r, t, at.Version), matches, at.Skip, int(r.Limit))
	list, meta, err := s.newList(t.kind)
	if err != nil {
		return nil, err
	}
	meta.SetResourceVersion(strconv.FormatUint(at.Version, 10))
	if hasMore {
		if r.Labels == nil && r.Fields == nil {
			remaining := int64(rest)
			meta.SetRemainingItemCount(&remaining)
		}
		at.Skip += len(found)
		meta.SetContinue(encodePage(at))
	}
	setItems(list, found)
	return list, nil
}

// candidates returns the objects of a kind, as of a version, in the namespace of a List.
func (s *Server) candidates(r *Request, t *table, version uint64) (objects []client.Object) {
	namespace := r.Namespace
	if r.Fields != nil && namespace == "" {
		namespace, _ = r.Fields.RequiresExactMatch("metadata.namespace")
	}
	if version == s.version {
		t.all(namespace, func(e *entry) bool {
			objects = append(objects, e.object)
			return true
		})
	} else {
		for _, o := range s.objectsAt(t, version) {
			if namespace == "" || o.GetNamespace() == namespace {
				objects = append(objects, o)
			}
		}
	}
	return slices.DeleteFunc(objects, func(o client.Object) bool { return !isIndexed(r, t, namespace, o) })
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

// selectPage returns up to limit matching objects, after the first skip ones. Like the real API server, which pages
// through keys, it reports that there is more even if no later object matches. rest is the number of later objects.
func selectPage(objects []client.Object, matches func(client.Object) bool, skip, limit int) (found []client.Object, hasMore bool, rest int) {
	for i, o := range objects {
		if limit > 0 && len(found) == limit {
			return found, true, len(objects) - i
		}
		switch {
		case !matches(o):
		case skip > 0:
			skip--
		default:
			found = append(found, o)
		}
	}
	return found, false, 0
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

func encodePage(p page) string {
	data, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("cannot encode a continue token: %v", err))
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func decodePage(token string) (p page, err error) {
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return p, apierrors.NewBadRequest("the continue token is invalid: " + err.Error())
	}
	return p, nil
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
