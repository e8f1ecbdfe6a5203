package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// maxResourceNames limits the number of entries in a resource list, in order to limit the cost of validating its
// quantities.
const maxResourceNames = int64(64)

// maxQuantityLength limits the length of a quantity for the same reason.
const maxQuantityLength = int64(64)

// notNegative is the validation rule for every resource list that users write.
const notNegative = "self.all(r, quantity(string(self[r])).compareTo(quantity('0')) >= 0)"

// foreignTypes lists the properties whose schema is that of a Kubernetes type. The schema is complete, so that the API
// server reports a misspelt field of a pod template just like a misspelt field of a Deployment. However, the schema
// does not include Kubernetes' descriptions, because with them, the size of the Job CRD would be 690 kB, whereas the
// annotation of `kubectl apply` may have at most 256 kB.
var foreignTypes = []string{"template", "volumeClaim"}

// readCRDs reads the CRDs that controller-gen wrote to dir, in the order of file names.
func readCRDs(dir string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	crds := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(paths))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, crd); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		crds = append(crds, crd)
	}
	if len(crds) == 0 {
		return nil, fmt.Errorf("%s: the file contains no CRDs", dir)
	}
	return crds, nil
}

// finish adds to a CRD the parts that cannot be expressed by markers in the types.
func finish(crd *apiextensionsv1.CustomResourceDefinition) {
	if crd.Annotations == nil {
		crd.Annotations = map[string]string{}
	}
	// As in Volcano's charts, removing the release must not remove the jobs of all users.
	crd.Annotations["helm.sh/resource-policy"] = "keep"
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		if version.Subresources == nil {
			version.Subresources = &apiextensionsv1.CustomResourceSubresources{}
		}
		root := version.Schema.OpenAPIV3Schema
		if spec, ok := root.Properties["spec"]; ok {
			finishSchema(&spec)
			root.Properties["spec"] = spec
		}
	}
}

// finishSchema completes the schema of a spec: it removes the descriptions of foreign types and adds the rule to
// resource lists.
func finishSchema(schema *apiextensionsv1.JSONSchemaProps) {
	if isResourceList(schema) {
		schema.MaxProperties = new(maxResourceNames)
		schema.AdditionalProperties.Schema.MaxLength = new(maxQuantityLength)
		schema.XValidations = append(schema.XValidations, apiextensionsv1.ValidationRule{
			Rule:    notNegative,
			Message: "quantities must not be negative",
		})
		return
	}
	for name, property := range schema.Properties {
		if name == "patch" {
			relax(&property)
		}
		if slices.Contains(foreignTypes, name) {
			description := property.Description
			dropDescriptions(&property)
			property.Description = description
		} else {
			finishSchema(&property)
		}
		schema.Properties[name] = property
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		finishSchema(schema.Items.Schema)
	}
}

// isResourceList reports whether a schema is that of corev1.ResourceList.
func isResourceList(schema *apiextensionsv1.JSONSchemaProps) bool {
	values := schema.AdditionalProperties
	if values == nil || values.Schema == nil {
		return false
	}
	return values.Schema.XIntOrString && strings.HasPrefix(values.Schema.Pattern, `^(\+|-)?`)
}

// relax removes from the schema of a patch everything that applies only to complete objects: defaults, which would
// overwrite patched fields, as well as required fields, rules, and the list types for merging on the server.
func relax(schema *apiextensionsv1.JSONSchemaProps) {
	schema.Default, schema.Required, schema.XValidations, schema.MinItems = nil, nil, nil, nil
	schema.XListType, schema.XListMapKeys = nil, nil // a list with keys would require these keys
	for name, property := range schema.Properties {
		relax(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		relax(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		relax(schema.AdditionalProperties.Schema)
	}
}

// dropDescriptions removes the descriptions of a schema and of all schemas in it.
func dropDescriptions(schema *apiextensionsv1.JSONSchemaProps) {
	schema.Description = ""
	for name, property := range schema.Properties {
		dropDescriptions(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		dropDescriptions(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		dropDescriptions(schema.AdditionalProperties.Schema)
	}
}
