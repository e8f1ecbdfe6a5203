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
	dropEmptyTimes(content)
	return content, nil
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
