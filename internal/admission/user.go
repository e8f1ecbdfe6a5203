package admission

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
)

func (h *hooks) mutateCronJob(ctx context.Context, request admission.Request) admission.Response {
	return responseWithPatch(request, func(c *batchv1alpha1.CronJob) { h.writeUser(ctx, &request, c) })
}

func (h *hooks) mutateJobFlow(ctx context.Context, request admission.Request) admission.Response {
	return responseWithPatch(request, func(f *flowv1alpha1.JobFlow) { h.writeUser(ctx, &request, f) })
}

// writeUser writes the user of a new object, which is the author of the request, into the annotation of the object. If the
// object names a user already, the value remains, and the policy of the API server rejects it if the author may not submit
// for that user. An update keeps the user, also if a manifest that replaces the object does not name one. An object that the
// controllers create has the user of its source, or none.
func (h *hooks) writeUser(ctx context.Context, request *admission.Request, object metav1.Object) {
	if batchv1alpha1.UserOf(object) != "" {
		return
	}
	switch request.Operation {
	case admissionv1.Create:
		if !h.isMadeByControllers(ctx, request, object) {
			batchv1alpha1.SetUser(object, request.UserInfo.Username)
		}
	case admissionv1.Update:
		if _, old, err := decodeObjects[metav1.PartialObjectMetadata](*request); err == nil {
			batchv1alpha1.SetUser(object, batchv1alpha1.UserOf(old))
		}
	}
}

// isMadeByControllers reports whether the controllers create an object for another object. It also returns true if the
// permission of the author cannot be checked, because no user is better than a wrong one that cannot be changed.
func (h *hooks) isMadeByControllers(ctx context.Context, request *admission.Request, object metav1.Object) bool {
	if metav1.GetControllerOfNoCopy(object) == nil {
		return false
	}
	isController, err := h.isOurController(ctx, request)
	return err != nil || isController
}

// isOurController reports whether the author of a request is one of our controllers, which may write the status of jobs in all
// namespaces.
func (h *hooks) isOurController(ctx context.Context, request *admission.Request) (bool, error) {
	return isPermitted(ctx, h.reviews, &request.UserInfo, authorizationv1.ResourceAttributes{
		Verb: "update", Group: batchv1alpha1.GroupName, Resource: "jobs", Subresource: "status",
	})
}
