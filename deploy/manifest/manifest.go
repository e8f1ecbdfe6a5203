// Package manifest encodes Kubernetes objects as YAML for files that administrators apply.
package manifest

import (
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Content returns the fields of an object, without its status and without the empty fields that Go types always encode.
func Content(object runtime.Object) (map[string]any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	delete(content, "status")
	dropStatusOfClaims(content)
	dropEmptyTimes(content)
	return content, nil
}

// dropStatusOfClaims removes the status from the claims of a StatefulSet, which are objects in an object.
func dropStatusOfClaims(content map[string]any) {
	spec, _ := content["spec"].(map[string]any)
	claims, _ := spec["volumeClaimTemplates"].([]any)
	for _, claim := range claims {
		if claim, ok := claim.(map[string]any); ok {
			delete(claim, "status")
		}
	}
}

// Encode returns the fields of an object as YAML.
func Encode(content map[string]any) ([]byte, error) { return yaml.Marshal(content) }

// dropEmptyTimes removes every `creationTimestamp: null`.
func dropEmptyTimes(value any) {
	switch value := value.(type) {
	case map[string]any:
		if stamp, ok := value["creationTimestamp"]; ok && stamp == nil {
			delete(value, "creationTimestamp")
		}
		for _, child := range value {
			dropEmptyTimes(child)
		}
	case []any:
		for _, child := range value {
			dropEmptyTimes(child)
		}
	}
}
