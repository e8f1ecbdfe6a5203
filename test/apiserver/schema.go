package apiserver

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/deploy"
)

// schemaValidator validates objects of a kind with the schema and the CEL rules of its CustomResourceDefinition, with the
// code of the real API server.
type schemaValidator struct {
	structural *structuralschema.Structural
	create     interface {
		Validate(context.Context, runtime.Object) fieldErrors
	}
	update, updateStatus interface {
		ValidateUpdate(ctx context.Context, object, old runtime.Object) fieldErrors
	}
}

// schemaValidators returns the validators of all kinds of this project. Compiling the rules takes a while, so it happens
// once.
var schemaValidators = sync.OnceValue(func() map[schema.GroupVersionKind]*schemaValidator {
	all := map[schema.GroupVersionKind]*schemaValidator{}
	for _, crd := range deploy.CRDs() {
		for i := range crd.Spec.Versions {
			version := &crd.Spec.Versions[i]
			gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
			v, err := newSchemaValidator(gvk, version, crd.Spec.Scope == apiextensionsv1.NamespaceScoped)
			if err != nil {
				panic(fmt.Sprintf("schema of %s: %v", gvk, err)) // the real API server would reject the definition
			}
			all[gvk] = v
		}
	}
	return all
})

func newSchemaValidator(gvk schema.GroupVersionKind, version *apiextensionsv1.CustomResourceDefinitionVersion, namespaced bool) (*schemaValidator, error) {
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(version.Schema, internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	whole, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	var status validation.SchemaValidator
	var subresource *apiextensions.CustomResourceSubresourceStatus
	if version.Subresources != nil && version.Subresources.Status != nil {
		subresource = &apiextensions.CustomResourceSubresourceStatus{}
		properties := internal.OpenAPIV3Schema.Properties["status"]
		if status, _, err = validation.NewSchemaValidator(&properties); err != nil {
			return nil, err
		}
	}
	strategy := customresource.NewStrategy(nil, namespaced, gvk, whole, status, structural, subresource, nil, nil)
	return &schemaValidator{structural: structural, create: strategy, update: strategy, updateStatus: customresource.NewStatusStrategy(strategy)}, nil
}

// validateCustom validates an object of a kind of this project. old is nil for a new object.
func (s *Server) validateCustom(ctx context.Context, r *Request, k *kind, d *draft, old *entry) error {
	rules, ok := k.rules.(*customRules)
	if !ok {
		return nil
	}
	errs := validateMetadata(d.object, k.namespaced)
	var before client.Object
	if old != nil {
		before = old.object
		errs = append(errs, validateMetadataUpdate(d.object, before)...)
	}
	switch {
	case s.ValidateSchemas:
		errs = append(errs, schemaValidators()[k.gvk].validate(ctx, r, k, d, old)...)
	case rules.validate != nil && r.Subresource != "status":
		errs = append(errs, rules.validate(d.object, before)...)
	}
	return rules.invalid(d.object, errs)
}

func (v *schemaValidator) validate(ctx context.Context, r *Request, k *kind, d *draft, old *entry) fieldErrors {
	object := v.toUnstructured(k, d)
	if old == nil {
		return v.create.Validate(ctx, object)
	}
	before := v.toUnstructured(k, &draft{old.object, old.lacksStatus, old.status})
	if r.Subresource == "status" {
		return v.updateStatus.ValidateUpdate(ctx, object, before)
	}
	return v.update.ValidateUpdate(ctx, object, before)
}

// toUnstructured returns an object in the form that the API server validates.
func (v *schemaValidator) toUnstructured(k *kind, d *draft) *unstructured.Unstructured {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d.object)
	if err != nil {
		panic(fmt.Sprintf("%T: %v", d.object, err)) // API types can be converted
	}
	switch {
	case d.lacksStatus, d.status != nil && d.status.fields == nil:
		delete(content, "status")
	case d.status != nil:
		content["status"] = runtime.DeepCopyJSON(map[string]any{"status": d.status.fields})["status"]
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(k.gvk)
	defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, v.structural)
	return object
}
