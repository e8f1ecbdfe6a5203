package apiserver

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type ownerReference = metav1.OwnerReference

// noKind removes the kind from an object, because the real client returns objects without a kind.
var noKind schema.GroupVersionKind

var metadataPath = field.NewPath("metadata")

// validateMetadata validates the metadata of an object. It is called for each write, so it skips the expensive
// validation if all values are obviously valid.
func validateMetadata(object client.Object, namespaced bool) fieldErrors {
	if isPlainMetadata(object, namespaced) {
		return nil
	}
	return apivalidation.ValidateObjectMetaAccessor(object, namespaced, apivalidation.NameIsDNSSubdomain, metadataPath)
}

func validateMetadataUpdate(object, old client.Object) fieldErrors {
	return apivalidation.ValidateObjectMetaAccessorUpdate(object, old, metadataPath)
}

// isPlainMetadata reports whether the metadata is valid without doubt. If it returns false, the metadata may still be
// valid.
func isPlainMetadata(object client.Object, namespaced bool) bool {
	hasPlainName := object.GetGenerateName() == "" && len(validation.IsDNS1123Label(object.GetName())) == 0
	if !hasPlainName || namespaced != (object.GetNamespace() != "") {
		return false
	}
	if len(object.GetOwnerReferences()) > 0 || len(object.GetFinalizers()) > 0 {
		return false
	}
	return hasPlainMaps(object)
}

// hasPlainMaps reports whether the labels and annotations are valid without doubt.
func hasPlainMaps(object client.Object) bool {
	for key, value := range object.GetLabels() {
		if len(validation.IsQualifiedName(key)) > 0 || len(validation.IsValidLabelValue(value)) > 0 {
			return false
		}
	}
	size := 0
	for key, value := range object.GetAnnotations() {
		size += len(key) + len(value)
		if len(validation.IsQualifiedName(key)) > 0 {
			return false
		}
	}
	return size < 200<<10
}
