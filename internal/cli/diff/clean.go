package diff

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// removeServerFields removes fields that files never contain, and hides the values of secrets.
func (p *pair) removeServerFields() {
	for _, object := range []*unstructured.Unstructured{p.live, p.applied} {
		if object == nil {
			continue
		}
		unstructured.RemoveNestedField(object.Object, "status")
		for _, field := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
			unstructured.RemoveNestedField(object.Object, "metadata", field)
		}
		dropAnnotation(object, corev1.LastAppliedConfigAnnotation)
	}
	if p.applied.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Secret") {
		p.maskSecret()
	}
}

func dropAnnotation(object *unstructured.Unstructured, key string) {
	annotations := object.GetAnnotations()
	delete(annotations, key)
	object.SetAnnotations(annotations)
	if len(annotations) == 0 {
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations")
	}
}

// Texts that replace the values of a secret.
const (
	masked       = "***"
	maskedBefore = "*** (before)"
	maskedAfter  = "*** (after)"
)

// maskSecret hides the values of a secret, but still shows which values differ.
func (p *pair) maskSecret() {
	for _, field := range []string{"data", "stringData"} {
		before, after := fieldValues(p.live, field), fieldValues(p.applied, field)
		for key, value := range before {
			other, isKept := after[key]
			if isKept && !reflect.DeepEqual(value, other) {
				before[key], after[key] = maskedBefore, maskedAfter
				continue
			}
			before[key] = masked
			if isKept {
				after[key] = masked
			}
		}
		for key := range after {
			if _, wasThere := before[key]; !wasThere {
				after[key] = masked
			}
		}
	}
}

// fieldValues returns the map in a field of an object without copying it; nil if the field is missing.
func fieldValues(object *unstructured.Unstructured, field string) map[string]any {
	if object == nil {
		return nil
	}
	values, _ := object.Object[field].(map[string]any)
	return values
}
