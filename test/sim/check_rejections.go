package sim

import (
	"strings"

	"github.com/vc-batch/vc/test/apiserver"
)

// checkRejection checks that webhooks that do not respond never prevent the controllers from creating the PodGroup of a
// plain pod, because pods of Deployments could not be scheduled meanwhile.
func (w *World) checkRejection(l *link, r *apiserver.Request, err error) {
	w.checkRefusedCreate(l, r, err)
	replica := w.replicaOf(l.process)
	isOfControllers := replica != nil && replica.lease == controllersLease
	createsGroup := r.Verb == apiserver.Create && r.Kind.Kind == "PodGroup"
	if err == nil || !isOfControllers || !createsGroup {
		return
	}
	if strings.Contains(err.Error(), "failed calling webhook") {
		w.fail("%s cannot create PodGroup %s while the webhooks do not respond: %v", l.user, r.Name, err)
	}
}
