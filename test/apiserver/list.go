package apiserver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
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
	var found []client.Object
	if at.Version == s.version {
		t.all(r.Namespace, func(e *entry) bool {
			if matches(e.object) {
				found = append(found, e.object)
			}
			return true
		})
	} else {
		for _, o := range s.objectsAt(t, at.Version) {
			if (r.Namespace == "" || o.GetNamespace() == r.Namespace) && matches(o) {
				found = append(found, o)
			}
		}
	}
	found = found[min(at.Skip, len(found)):]
	list, meta, err := s.newList(t.kind)
	if err != nil {
		return nil, err
	}
	meta.SetResourceVersion(strconv.FormatUint(at.Version, 10))
	if r.Limit > 0 && int64(len(found)) > r.Limit {
		remaining := int64(len(found)) - r.Limit
		if r.Labels == nil && r.Fields == nil {
			meta.SetRemainingItemCount(&remaining)
		}
		found = found[:r.Limit]
		at.Skip += int(r.Limit)
		meta.SetContinue(encodePage(at))
	}
	setItems(list, found)
	return list, nil
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
		return k.namespaced
	case "spec.nodeName", "status.phase":
		return k.gvk == podKind
	}
	return false
}
