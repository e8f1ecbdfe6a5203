package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
)

// UserOf returns the user to whom the usage of an object is charged, which is the user who submitted it, or "" if the user is
// unknown.
func UserOf(object metav1.Object) string { return object.GetAnnotations()[keys.User] }

// InheritUser sets the user of a job to the user of the object that the job is created from. It ignores the user in the
// template of the job, because the author of the template may lack the permission to submit for that user.
func InheritUser(job *Job, from metav1.Object) {
	delete(job.Annotations, keys.User)
	SetUser(job, UserOf(from))
}

// SetUser sets the user of an object. It does nothing if the user is "".
func SetUser(object metav1.Object, user string) {
	if user == "" {
		return
	}
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[keys.User] = user
	object.SetAnnotations(annotations)
}
