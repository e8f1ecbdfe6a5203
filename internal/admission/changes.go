package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting/audit"
)

// recordedObject is a pointer to an Account or a QOS.
type recordedObject[T any] interface {
	*T
	audit.Object
}

// changeHandler returns the handler that writes the change of an account or a QOS, with the user who makes it, into an
// annotation of the object. The recorder of the accounting component stores it in the database. A request that must not
// change anything (dry run) records nothing, because its object is not stored. resource is the plural name of the kind in the API, such as accounts.
func changeHandler[T any, P recordedObject[T]](h *hooks, resource string) admission.HandlerFunc {
	return func(ctx context.Context, request admission.Request) admission.Response {
		if !h.recordJobs {
			return admission.Allowed("")
		}
		_, before, err := decodeObjects[T](request)
		if err != nil {
			return admission.Allowed("") // the schema, or the check of the object, reports the error
		}
		var old audit.Object
		if request.Operation != admissionv1.Create {
			old = P(before)
		}
		var failure error
		response := responseWithPatch(request, func(changed *T) {
			object, change := P(changed), h.auditRequest(&request)
			if object.GetAnnotations()[audit.Acknowledged] != "" {
				change.MayAcknowledge, failure = isPermitted(ctx, h.reviews, &request.UserInfo, authorizationv1.ResourceAttributes{
					Verb: audit.RecordVerb, Group: accountv1alpha1.GroupName, Resource: resource, Name: request.Name,
				})
			}
			if failure == nil {
				failure = audit.Annotate(change, old, object)
			}
		})
		if failure != nil {
			return admission.Errored(http.StatusServiceUnavailable, failure)
		}
		return response
	}
}

// auditRequest returns the request as package audit needs it.
func (h *hooks) auditRequest(request *admission.Request) audit.Request {
	return audit.Request{ID: string(request.UID), User: request.UserInfo.Username, Time: h.now().UTC()}
}

// recordDeletion writes the deletion of an account or a QOS, and its changes that are not recorded yet, into a ConfigMap,
// before the object is deleted. The API server calls the webhook with the version of the object that it deletes, so no change
// is missing. If the deletion fails after that, the recorder ignores the ConfigMap, because the object still exists.
func (h *hooks) recordDeletion(ctx context.Context, request *admission.Request, object audit.Object) error {
	isDryRun := request.DryRun != nil && *request.DryRun
	if isDryRun || !h.recordJobs {
		return nil
	}
	kind := strings.ToLower(request.Kind.Kind)
	if err := json.Unmarshal(request.OldObject.Raw, object); err != nil {
		return fmt.Errorf("%s %s: %w", kind, request.Name, err)
	}
	deletion, err := audit.NewDeletion(h.auditRequest(request), object)
	if err != nil {
		return fmt.Errorf("%s: %w", audit.NameOf(object), err)
	}
	data, err := deletion.Data()
	if err != nil {
		return err
	}
	if h.deletions == nil {
		return fmt.Errorf("record the deletion of %s: there is no namespace for it", audit.NameOf(object))
	}
	_, err = h.deletions.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: kind + "-deletion-" + string(request.UID), Labels: map[string]string{audit.DeletionLabel: "true"}}, Data: data,
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("record the deletion of %s: %w", audit.NameOf(object), err)
	}
	return nil
}

// recordedKind returns an empty object of a kind whose changes are recorded; nil for other kinds.
func recordedKind(kind schema.GroupVersionKind) audit.Object {
	switch kind {
	case accountv1alpha1.GroupVersion.WithKind("Account"):
		return &accountv1alpha1.Account{}
	case accountv1alpha1.GroupVersion.WithKind("QOS"):
		return &accountv1alpha1.QOS{}
	}
	return nil
}
