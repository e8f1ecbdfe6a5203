package v1alpha1

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// Patched merges a patch into a spec in the same way as kubectl patch: the fields of the patch replace those of the
// spec. Tasks, containers and other lists that Kubernetes merges are matched by name; all other lists are replaced.
func Patched(spec, patch *batchv1alpha1.JobSpec) (*batchv1alpha1.JobSpec, error) {
	original, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	change, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	// A typed patch contains null or an empty object for unset fields.
	var tree map[string]any
	if err := json.Unmarshal(change, &tree); err != nil {
		return nil, err
	}
	if change, err = json.Marshal(removeUnset(tree)); err != nil {
		return nil, err
	}
	merged, err := strategicpatch.StrategicMergePatch(original, change, batchv1alpha1.JobSpec{})
	if err != nil {
		return nil, fmt.Errorf("cannot merge: %w", err)
	}
	result := &batchv1alpha1.JobSpec{}
	return result, json.Unmarshal(merged, result)
}

// removeUnset removes nulls, and wrapper objects that become empty without them.
func removeUnset(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			kept := removeUnset(below)
			m, isObject := kept.(map[string]any)
			isEmptyWrapper := isObject && len(m) == 0 && isWrapper(key)
			if kept == nil || isEmptyWrapper {
				delete(v, key)
				continue
			}
			v[key] = kept
		}
		return v
	case []any:
		for i := range v {
			v[i] = removeUnset(v[i])
		}
		return v
	}
	return value
}

// isWrapper reports whether the object with this key is always encoded, even if it is unset. Other empty objects,
// such as emptyDir, are meaningful.
func isWrapper(key string) bool {
	switch key {
	case "template", "metadata", "spec", "resources":
		return true
	}
	return false
}
