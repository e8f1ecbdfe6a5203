package sim

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/apiserver"
)

// ofUser is an annotation of objects that users created and that no program may change.
const ofUser = "sim/of-user"

// checkUserObject checks that only users change and delete their objects.
func (c *checks) checkUserObject(change apiserver.Change) {
	if change.Old != nil && change.Old.GetAnnotations()[ofUser] != "" && change.User != "user" {
		c.world.fail("%s changes %s %s of a user", change.User, change.Kind.Kind, change.Old.GetName())
	}
}

// isBlockedByUserObject reports whether a job waits because a user's object has the name of an object that its plugins
// need.
func (w *World) isBlockedByUserObject(job *batchv1alpha1.Job) bool {
	if job.Spec.Plugins == nil {
		return false
	}
	for kind, suffix := range map[string]string{"ConfigMap": "-svc", "Secret": "-ssh"} {
		gvk := corev1.SchemeGroupVersion.WithKind(kind)
		for _, o := range w.objectsAt(gvk, len(w.changes[gvk])) {
			name := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
			if o.GetAnnotations()[ofUser] != "" && name == (types.NamespacedName{Namespace: job.Namespace, Name: job.Name + suffix}) {
				return true
			}
		}
	}
	return false
}
