package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

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

// patchObject returns a patched copy of an object.
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
	before, err := e.encode()
	if err != nil {
		return nil, err
	}
	var after []byte
	if r.PatchType == types.JSONPatchType {
		after, err = applyJSONPatch(before, r.Patch)
	} else {
		after, err = applyMergePatch(before, r.Patch)
	}
	if err != nil {
		return nil, err
	}
	patched := e.kind.newObject()
	if err := utiljson.Unmarshal(after, patched); err != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "", fieldErrors{field.Invalid(field.NewPath("patch"), string(after), err.Error())})
	}
	patched.GetObjectKind().SetGroupVersionKind(noKind)
	d := &draft{patched, e.lacksStatus, e.status}
	if r.Subresource != "status" || !e.kind.custom {
		return d, nil
	}
	return d, d.setPatchedStatus(r, e, after)
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

func applyJSONPatch(before, patch []byte) ([]byte, error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	after, err := operations.Apply(before)
	if err != nil {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return after, nil
}

func applyMergePatch(before, patch []byte) ([]byte, error) {
	var fields map[string]any
	if err := json.Unmarshal(patch, &fields); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return after, nil
}

// encode returns the JSON form of an object, with its kind.
func (e *entry) encode() ([]byte, error) {
	shallow := reflect.New(e.kind.goType)
	shallow.Elem().Set(reflect.ValueOf(e.object).Elem())
	withKind, _ := shallow.Interface().(client.Object)
	withKind.GetObjectKind().SetGroupVersionKind(e.kind.gvk)
	if e.status == nil && !(e.lacksStatus && e.kind.custom) {
		return json.Marshal(withKind)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(withKind)
	if err != nil {
		return nil, err
	}
	delete(content, "status")
	if e.status != nil && !e.lacksStatus {
		content["status"] = e.status.fields
	}
	return json.Marshal(content)
}

func patchStrategically(r *Request, k *kind, object client.Object) (client.Object, error) {
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	patch := map[string]any{}
	if err := utiljson.Unmarshal(r.Patch, &patch); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	after, err := strategicpatch.StrategicMergeMapPatch(before, patch, k.newObject())
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
	patched.GetObjectKind().SetGroupVersionKind(noKind)
	return patched, nil
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
