package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (s *Server) patch(r *Request, t *table) (runtime.Object, error) {
	if r.PatchType == types.StrategicMergePatchType && t.kind.custom {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", t.kind.resource, r.Name,
			"the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml", 0, false)
	}
	if r.PatchType == types.ApplyPatchType {
		return s.apply(r, t)
	}
	e := t.find(r.Namespace, r.Name)
	if e == nil {
		return nil, apierrors.NewNotFound(t.kind.resource, r.Name)
	}
	d, err := patchObject(r, e)
	if err != nil {
		return nil, err
	}
	if err := setNamespace(r, t.kind, d.object); err != nil {
		return nil, err
	}
	if d.object.GetName() != r.Name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", d.object.GetName(), r.Name))
	}
	d.object.SetManagedFields(nil)
	canonicalizeMetadata(d.object)
	removeDuplicateOwners(d.object)
	t.kind.rules.setDefaults(d.object)
	return s.store(r, t, e, d)
}

// patchObject returns a patched copy of an object. Encoding an object as JSON is slow, so it encodes and decodes only the
// top-level fields that the patch mentions.
func patchObject(r *Request, e *entry) (*draft, error) {
	switch r.PatchType {
	case types.MergePatchType, types.JSONPatchType:
		return patchJSON(r, e)
	case types.StrategicMergePatchType:
		object, err := patchStrategically(r, e.kind, e.object)
		return &draft{object: object}, err
	}
	return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", e.kind.resource, r.Name, "unknown type of patch", 0, true)
}

func patchJSON(r *Request, e *entry) (*draft, error) {
	mentioned, apply, err := parseJSONPatch(r)
	if err != nil {
		return nil, err
	}
	before, err := e.encode(mentioned)
	if err != nil {
		return nil, err
	}
	after, err := apply(before)
	if err != nil {
		return nil, err
	}
	patched := e.kind.newObject()
	if err := utiljson.Unmarshal(after, patched); err != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "", fieldErrors{field.Invalid(field.NewPath("patch"), string(after), err.Error())})
	}
	d := &draft{e.kind.withFields(e.object, patched, mentioned), e.lacksStatus, e.status}
	if r.Subresource != "status" || !e.kind.custom || !mentioned["status"] {
		return d, nil
	}
	return d, d.setPatchedStatus(r, e, after)
}

// parseJSONPatch returns the top-level fields that a merge patch or JSON patch mentions, and a function that applies it.
func parseJSONPatch(r *Request) (mentioned map[string]bool, apply func([]byte) ([]byte, error), err error) {
	mentioned = map[string]bool{}
	if r.PatchType == types.MergePatchType {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(r.Patch, &fields); err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
		for name := range fields {
			mentioned[name] = true
		}
		return mentioned, func(before []byte) ([]byte, error) { return applyMergePatch(before, r.Patch) }, nil
	}
	operations, err := jsonpatch.DecodePatch(r.Patch)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	for _, o := range operations {
		for _, pointer := range []func() (string, error){o.Path, o.From} {
			if path, err := pointer(); err == nil {
				name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
				mentioned[name] = true
			}
		}
	}
	return mentioned, func(before []byte) ([]byte, error) { return applyJSONPatch(before, operations) }, nil
}

// setPatchedStatus sets what the Go type of the patched object does not contain.
func (d *draft) setPatchedStatus(r *Request, e *entry, after []byte) error {
	if !e.lacksStatus && !e.kind.hasAppliedStatus {
		return nil
	}
	var content struct {
		Status map[string]any `json:"status"`
	}
	if err := utiljson.Unmarshal(after, &content); err != nil {
		return err
	}
	d.lacksStatus = content.Status == nil
	if e.kind.hasAppliedStatus {
		d.status = e.status.withUpdated(managerOf(r), content.Status)
	}
	return nil
}

func applyJSONPatch(before []byte, operations jsonpatch.Patch) ([]byte, error) {
	after, err := operations.Apply(before)
	if err != nil {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return after, nil
}

func applyMergePatch(before, patch []byte) ([]byte, error) {
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return after, nil
}

// encode returns the JSON form of an object, with its kind and the given top-level fields.
func (e *entry) encode(mentioned map[string]bool) ([]byte, error) {
	content := map[string]any{"apiVersion": e.kind.gvk.GroupVersion().String(), "kind": e.kind.gvk.Kind}
	value := reflect.ValueOf(e.object).Elem()
	for _, f := range e.kind.fields {
		if !mentioned[f.name] {
			continue
		}
		v := value.Field(f.index)
		isStatus := f.index == e.kind.statusField
		isMissingStatus := isStatus && e.kind.custom && e.lacksStatus
		isOmitted := f.omitEmpty && isEmpty(v)
		switch {
		case isMissingStatus, isOmitted:
		case isStatus && e.status != nil:
			content[f.name] = e.status.fields
		default:
			content[f.name] = v.Addr().Interface()
		}
	}
	return json.Marshal(content)
}

// isEmpty reports whether JSON omits a value of a field with the option omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// withFields returns a copy of an object with the given top-level fields of another object.
func (k *kind) withFields(object, other client.Object, mentioned map[string]bool) client.Object {
	changed := copyObject(object)
	value, source := reflect.ValueOf(changed).Elem(), reflect.ValueOf(other).Elem()
	for _, f := range k.fields {
		if mentioned[f.name] {
			value.Field(f.index).Set(source.Field(f.index))
		}
	}
	return changed
}

// fieldsOfKind lists the top-level fields of a Go type.
func fieldsOfKind(t reflect.Type) (fields []topLevelField) {
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" {
			fields = append(fields, topLevelField{name, i, strings.Contains(options, "omitempty")})
		}
	}
	return fields
}

// topLevelField is a field of an object, such as metadata.
type topLevelField struct {
	name      string
	index     int
	omitEmpty bool
}

func patchStrategically(r *Request, k *kind, object client.Object) (client.Object, error) {
	patch := map[string]any{}
	if err := utiljson.Unmarshal(r.Patch, &patch); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	// The object without the other fields has the same patched fields.
	mentioned, part := map[string]bool{}, k.newObject()
	for name := range patch {
		if strings.HasPrefix(name, "$") {
			return nil, apierrors.NewBadRequest("directives at the top level are not supported")
		}
		mentioned[name] = true
	}
	value, source := reflect.ValueOf(part).Elem(), reflect.ValueOf(object).Elem()
	for _, f := range k.fields {
		if mentioned[f.name] {
			value.Field(f.index).Set(source.Field(f.index))
		}
	}
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(part)
	if err != nil {
		return nil, err
	}
	after, err := strategicpatch.StrategicMergeMapPatch(before, patch, part)
	switch {
	case errors.Is(err, mergepatch.ErrBadJSONDoc), errors.Is(err, mergepatch.ErrBadPatchFormatForPrimitiveList),
		errors.Is(err, mergepatch.ErrBadPatchFormatForRetainKeys), errors.Is(err, mergepatch.ErrBadPatchFormatForSetElementOrderList),
		errors.Is(err, mergepatch.ErrUnsupportedStrategicMergePatchFormat):
		return nil, apierrors.NewBadRequest(err.Error())
	case errors.Is(err, mergepatch.ErrNoListOfLists):
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	case err != nil:
		return nil, err
	}
	patched := k.newObject()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(after, patched); err != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "", fieldErrors{field.Invalid(field.NewPath("patch"), fmt.Sprintf("%+v", patch), err.Error())})
	}
	return k.withFields(object, patched, mentioned), nil
}

// isTypeOf reports whether an object has the Go type of the kind.
func (k *kind) isTypeOf(object client.Object) bool { return reflect.TypeOf(object).Elem() == k.goType }

// convert decodes an object of another Go type, such as an unstructured object.
func (k *kind) convert(object client.Object) (client.Object, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	typed := k.newObject()
	return typed, utiljson.Unmarshal(data, typed)
}
