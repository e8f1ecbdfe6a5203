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

// maxResourceNames bounds a list of resources, so that the rule about its quantities has a known cost.
const maxResourceNames = int64(64)

// maxQuantityLength bounds a quantity for the same reason.
const maxQuantityLength = int64(64)

// notNegative is the rule for every list of resources that a user writes.
const notNegative = "self.all(r, quantity(string(self[r])).compareTo(quantity('0')) >= 0)"

// foreignTypes are the properties whose schema is Kubernetes' own: kept whole, so that the API server answers a
// misspelt field of a pod template as it does for a Deployment, but without Kubernetes' texts. With them the CRD of
// Job is 690 kB, and `kubectl apply` refuses more than 256 kB in its annotation.
var foreignTypes = []string{"template", "volumeClaim"}

// readCRDs reads what controller-gen wrote into dir, in the order of file names.
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
		return nil, fmt.Errorf("%s: no CRDs in it", dir)
	}
	return crds, nil
}

// finish adds to a CRD what markers in the types cannot say.
func finish(crd *apiextensionsv1.CustomResourceDefinition) {
	if crd.Annotations == nil {
		crd.Annotations = map[string]string{}
	}
	// Volcano's charts say so too: removing the release must not remove everybody's jobs.
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

// finishSchema walks a spec: foreign types lose their texts, lists of resources gain their rule.
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

// isResourceList recognises corev1.ResourceList.
func isResourceList(schema *apiextensionsv1.JSONSchemaProps) bool {
	values := schema.AdditionalProperties
	return values != nil && values.Schema != nil && values.Schema.XIntOrString &&
		strings.HasPrefix(values.Schema.Pattern, `^(\+|-)?`)
}

// relax takes from the schema of a patch what only holds of something whole: defaults, which would overwrite what is patched, what is
// required, rules, and what makes lists mergeable on the server.
func relax(schema *apiextensionsv1.JSONSchemaProps) {
	schema.Default, schema.Required, schema.XValidations, schema.MinItems = nil, nil, nil, nil
	schema.XListType, schema.XListMapKeys = nil, nil // a list by keys requires them
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

// dropDescriptions removes the texts of a schema and of all below it.
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
