package v1alpha1

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
)

// ValidatePatch checks those fields of a patch that replace the previous value completely, because they can be
// checked without the spec to which the patch is applied.
func ValidatePatch(patch *JobSpec, path *field.Path) field.ErrorList {
	errs := validateScalars(patch, path)
	if patch.Queue == keys.RootQueue {
		errs = append(errs, validateQueue(patch.Queue, path.Child("queue"), nil)...)
	}
	errs = append(errs, validatePolicies(patch.Policies, path.Child("policies"))...)
	for _, name := range sortedKeys(patch.Plugins) {
		_, wrong := ParsePlugin(name, patch.Plugins[name], path.Child("plugins").Key(name))
		errs = append(errs, wrong...)
	}
	if len(patch.Volumes) > 0 {
		errs = append(errs, validateVolumes(patch.Volumes, path.Child("volumes"))...)
	}
	for i := range patch.Tasks {
		task, at := &patch.Tasks[i], path.Child("tasks").Index(i)
		if task.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), "tasks in a patch must have a name, because they are matched with the template's tasks by name"))
		}
		if task.Replicas < 0 {
			errs = append(errs, negative(at.Child("replicas"), task.Replicas))
		}
		errs = append(errs, validatePolicies(task.Policies, at.Child("policies"))...)
	}
	return errs
}
