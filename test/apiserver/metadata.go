package apiserver

import (
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	if !isPlainName(object.GetName()) || namespaced != (object.GetNamespace() != "") || object.GetGenerateName() != "" {
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
		if !isPlainKey(key) || !isPlainLabelValue(value) {
			return false
		}
	}
	size := 0
	for key, value := range object.GetAnnotations() {
		size += len(key) + len(value)
		if !isPlainKey(key) {
			return false
		}
	}
	return size < 200<<10
}

// isPlainName reports whether a text consists of at most 63 lower-case letters, digits and inner dashes.
func isPlainName(name string) bool {
	if name == "" || len(name) > 63 || name[0] == '-' || name[len(name)-1] == '-' {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') {
			return false
		}
	}
	return true
}

func isPlainKey(key string) bool {
	prefix, name, ok := strings.Cut(key, "/")
	if !ok {
		return isPlainName(key)
	}
	for part := range strings.SplitSeq(prefix, ".") {
		if !isPlainName(part) {
			return false
		}
	}
	return isPlainName(name)
}

// isPlainLabelValue reports whether a text is empty or consists of at most 63 letters, digits and inner dashes, dots and
// underscores.
func isPlainLabelValue(value string) bool {
	if value == "" {
		return true
	}
	if len(value) > 63 || !isAlphanumeric(value[0]) || !isAlphanumeric(value[len(value)-1]) {
		return false
	}
	for i := range len(value) {
		if c := value[i]; !isAlphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
