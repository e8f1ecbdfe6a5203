package apiserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// appliedStatus is the status of an object of a kind whose status is written with server-side apply. The Go type does
// not distinguish a number 0 from a missing number, but the API server does when it decides whether a write changes
// anything, so the JSON form is stored as well.
type appliedStatus struct {
	fields map[string]any
	owners fieldOwners
}

// fieldOwners holds the paths of the status fields that each manager owns.
type fieldOwners map[manager]fieldSet

// manager identifies a manager of fields. The fields that a client applies and the fields that it writes in other ways
// have separate owners.
type manager struct {
	name    string
	applies bool
}

// fieldSet is a set of paths of fields. A path is a sequence of field names, of map keys and of keys of list items, each
// after pathSeparator.
type fieldSet map[string]bool

const pathSeparator = "\x00"

// managerOf returns the manager of a request. Clients without a name of their own are identified by the user.
func managerOf(r *Request) manager {
	return manager{cmp.Or(r.FieldManager, r.User), r.Verb == Patch && r.PatchType == "application/apply-patch+yaml"}
}

// apply carries out a server-side apply of a status. Conflicts with other managers are always forced.
func (s *Server) apply(r *Request, t *table) (runtime.Object, error) {
	if r.Subresource != "status" || !t.kind.hasAppliedStatus {
		return nil, apierrors.NewGenericServerResponse(http.StatusNotImplemented, "patch", t.kind.resource, r.Name, "only statuses can be applied", 0, true)
	}
	var config struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Status map[string]any `json:"status"`
	}
	if err := utiljson.Unmarshal(r.Patch, &config); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	e := t.find(r.Namespace, r.Name)
	if e == nil {
		return nil, apierrors.NewNotFound(t.kind.resource, r.Name)
	}
	after := e.status.withApplied(managerOf(r), config.Status)
	object, err := t.kind.withStatus(e.object, after.fields)
	if err != nil {
		return nil, err
	}
	if config.Metadata.ResourceVersion != "" {
		object.SetResourceVersion(config.Metadata.ResourceVersion)
	}
	return s.store(r, t, e, &draft{object: object, status: after})
}

// withStatus returns a copy of an object with another status.
func (k *kind) withStatus(object client.Object, status map[string]any) (client.Object, error) {
	changed := k.newObject()
	value := reflect.ValueOf(changed).Elem()
	value.Set(reflect.ValueOf(object).Elem())
	value.Field(k.statusField).SetZero()
	if status == nil {
		return changed, nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(status, value.Field(k.statusField).Addr().Interface()); err != nil {
		return nil, apierrors.NewInvalid(k.gvk.GroupKind(), object.GetName(), fieldErrors{field.Invalid(field.NewPath("status"), "", err.Error())})
	}
	return changed, nil
}

// withApplied returns the status after a manager has applied fields: their values replace the old ones, and fields that
// only this manager owned are removed if it no longer applies them.
func (a *appliedStatus) withApplied(m manager, applied map[string]any) *appliedStatus {
	a = a.orEmpty()
	fields, _ := mergeFields(a.fields, applied).(map[string]any)
	owned := fieldsOf(applied)
	for _, path := range slices.Sorted(maps.Keys(a.owners[m])) { // items of lists come before their fields
		if owned[path] || owned.hasChild(path) || a.owners.isOwnedByOther(path, m) {
			continue
		}
		fields = removeField(fields, strings.Split(path, pathSeparator)[1:], owned, "")
	}
	after := &appliedStatus{fields: fields, owners: a.owners.without(m, changedFields(a.fields, fields))}
	if len(owned) > 0 {
		after.owners[m] = owned
	} else {
		delete(after.owners, m)
	}
	return after
}

// orEmpty returns an empty status instead of nil.
func (a *appliedStatus) orEmpty() *appliedStatus {
	if a == nil {
		return &appliedStatus{}
	}
	return a
}

// isEqual reports whether the values and the owners of all fields are equal.
func (a *appliedStatus) isEqual(b *appliedStatus) bool {
	if a == b {
		return true
	}
	a, b = a.orEmpty(), b.orEmpty()
	// A missing status differs from an empty one.
	hasSameFields := (a.fields == nil) == (b.fields == nil) && reflect.DeepEqual(a.fields, b.fields)
	return hasSameFields && (len(a.owners)+len(b.owners) == 0 || reflect.DeepEqual(a.owners, b.owners))
}

// withUpdated returns the status after a manager has replaced it.
func (a *appliedStatus) withUpdated(m manager, fields map[string]any) *appliedStatus {
	a = a.orEmpty()
	changed := changedFields(a.fields, fields)
	after := &appliedStatus{fields: fields, owners: a.owners.without(m, changed)}
	own, now := fieldSet{}, fieldsOf(fields)
	for path := range a.owners[m] {
		if !changed[path] {
			own[path] = true
		}
	}
	for path := range changed {
		if now[path] {
			own[path] = true
		}
	}
	if len(own) > 0 {
		after.owners[m] = own
	} else {
		delete(after.owners, m)
	}
	return after
}

func (o fieldOwners) isOwnedByOther(path string, m manager) bool {
	for other, fields := range o {
		if other != m && (fields[path] || fields.hasChild(path)) {
			return true
		}
	}
	return false
}

func (f fieldSet) hasChild(path string) bool {
	for p := range f {
		if strings.HasPrefix(p, path+pathSeparator) {
			return true
		}
	}
	return false
}

// without returns the owners after a manager has changed fields: other managers no longer own them.
func (o fieldOwners) without(m manager, changed fieldSet) fieldOwners {
	after := fieldOwners{}
	for other, fields := range o {
		if other == m {
			after[other] = fields
			continue
		}
		kept := fieldSet{}
		for path := range fields {
			if !changed[path] {
				kept[path] = true
			}
		}
		if len(kept) > 0 {
			after[other] = kept
		}
	}
	return after
}

// itemKeyField is the field that identifies the items of a list, such as conditions.
const itemKeyField = "type"

// itemKey returns the key of a list item that is identified by its type, such as a condition.
func itemKey(item any) (string, bool) {
	fields, ok := item.(map[string]any)
	if !ok {
		return "", false
	}
	key, ok := fields[itemKeyField].(string)
	return key, ok
}

// isKeyed reports whether all items of a list have a type, so that the list is a map of items by type.
func isKeyed(list []any) bool {
	for _, item := range list {
		if _, ok := itemKey(item); !ok {
			return false
		}
	}
	return len(list) > 0
}

// walkFields calls visit for each field with a value of its own. isItem is true for the items of keyed lists.
func walkFields(path string, value any, visit func(path string, value any, isItem bool)) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			visit(path, v, false)
		}
		for key, field := range v {
			walkFields(path+pathSeparator+key, field, visit)
		}
	case []any:
		if !isKeyed(v) {
			visit(path, v, false)
			return
		}
		for _, item := range v {
			key, _ := itemKey(item)
			visit(path+pathSeparator+key, nil, true)
			walkFields(path+pathSeparator+key, item, visit)
		}
	default:
		visit(path, v, false)
	}
}

// fieldsOf returns the paths of all fields.
func fieldsOf(status map[string]any) fieldSet {
	set := fieldSet{}
	for key, value := range status {
		walkFields(pathSeparator+key, value, func(path string, _ any, _ bool) { set[path] = true })
	}
	return set
}

// changedFields returns the paths of the fields that were added, changed or removed.
func changedFields(before, after map[string]any) fieldSet {
	old, changed := map[string]any{}, fieldSet{}
	for key, value := range before {
		walkFields(pathSeparator+key, value, func(path string, v any, _ bool) { old[path] = v })
	}
	for key, value := range after {
		walkFields(pathSeparator+key, value, func(path string, v any, _ bool) {
			if was, ok := old[path]; !ok || !reflect.DeepEqual(was, v) {
				changed[path] = true
			}
			delete(old, path)
		})
	}
	for path := range old {
		changed[path] = true
	}
	for path := range changed {
		// A map that was or becomes empty is not changed itself, only its fields are.
		if changed.hasChild(path) {
			delete(changed, path)
		}
	}
	return changed
}

// mergeFields returns base with the fields of over. It does not change them.
func mergeFields(base, over any) any {
	switch o := over.(type) {
	case map[string]any:
		b, _ := base.(map[string]any)
		merged := make(map[string]any, len(b)+len(o))
		for key, value := range b {
			merged[key] = value
		}
		for key, value := range o {
			merged[key] = mergeFields(b[key], value)
		}
		return merged
	case []any:
		b, _ := base.([]any)
		if !isKeyed(o) || (len(b) > 0 && !isKeyed(b)) {
			return o
		}
		return mergeItems(b, o)
	}
	return over
}

func mergeItems(base, over []any) []any {
	merged := append([]any{}, base...)
	for _, item := range over {
		key, _ := itemKey(item)
		at := indexOfItem(merged, key)
		if at < 0 {
			merged = append(merged, item)
		} else {
			merged[at] = mergeFields(merged[at], item)
		}
	}
	return merged
}

func indexOfItem(list []any, key string) int {
	for i, item := range list {
		if k, _ := itemKey(item); k == key {
			return i
		}
	}
	return -1
}

// removeField returns fields without the field at a path, and without maps and lists that become empty, unless a manager
// owns them.
func removeField(fields map[string]any, path []string, owned fieldSet, above string) map[string]any {
	name := path[0]
	value, ok := fields[name]
	if !ok {
		return fields
	}
	changed := make(map[string]any, len(fields))
	for key, v := range fields {
		changed[key] = v
	}
	at := above + pathSeparator + name
	if len(path) == 1 {
		delete(changed, name)
		return changed
	}
	switch v := value.(type) {
	case map[string]any:
		setOrRemove(changed, name, removeField(v, path[1:], owned, at), owned[at])
	case []any:
		setOrRemove(changed, name, removeFromItem(v, path[1:], owned, at), owned[at])
	}
	return changed
}

// setOrRemove sets a field to a map or list. If that has become empty, the field is removed or, if the manager owns it,
// null.
func setOrRemove[T map[string]any | []any](fields map[string]any, name string, value T, isOwned bool) {
	switch {
	case len(value) > 0:
		fields[name] = value
	case isOwned:
		fields[name] = nil
	default:
		delete(fields, name)
	}
}

func removeFromItem(list []any, path []string, owned fieldSet, above string) []any {
	at := indexOfItem(list, path[0])
	if at < 0 {
		return list
	}
	changed := append([]any{}, list...)
	if len(path) == 1 {
		return append(changed[:at], changed[at+1:]...)
	}
	if len(path) == 2 && path[1] == itemKeyField {
		return list // the key of an item is removed with the item
	}
	item, _ := changed[at].(map[string]any)
	changed[at] = removeField(item, path[1:], owned, above+pathSeparator+path[0])
	return changed
}

// statusFields returns the JSON form of the status of an object.
func (k *kind) statusFields(object client.Object) (map[string]any, error) {
	data, err := json.Marshal(reflect.ValueOf(object).Elem().Field(k.statusField).Interface())
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	return fields, utiljson.Unmarshal(data, &fields)
}
