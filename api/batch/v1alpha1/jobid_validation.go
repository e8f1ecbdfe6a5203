package v1alpha1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
)

// validateSameID checks that a job keeps its number. The number may change only if an annotation contains the
// previous one, which the controller sets if two jobs had the same number.
func validateSameID(old, updated *Job) field.ErrorList {
	was, is := old.Labels[keys.JobID], updated.Labels[keys.JobID]
	if _, valid := JobID(old); !valid || was == is || updated.Annotations[keys.JobIDWas] == was {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("metadata", "labels").Key(keys.JobID), fmt.Sprintf(
		"the job number cannot be changed; the number of this job is %s: restore the label", was))}
}
