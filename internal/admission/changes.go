package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting/audit"
)

// mutateAccount writes the change of an account, with the user who makes it, into an annotation of the account. The
// recorder of the accounting component stores it in the database. A request that must not change anything (dry run)
// records nothing, because its object is not stored.
func (h *hooks) mutateAccount(ctx context.Context, request admission.Request) admission.Response {
	if !h.recordJobs {
		return admission.Allowed("")
	}
	_, old, err := decodeObjects[accountv1alpha1.Account](request)
	if err != nil {
		return admission.Allowed("") // the schema, or the check of the object, reports the error
	}
	if request.Operation == admissionv1.Create {
		old = nil
	}
	var failure error
	response := responseWithPatch(request, func(account *accountv1alpha1.Account) {
		change := h.auditRequest(&request)
		if account.Annotations[audit.Acknowledged] != "" {
			change.MayAcknowledge, failure = isPermitted(ctx, h.reviews, &request.UserInfo, authorizationv1.ResourceAttributes{
				Verb: audit.RecordVerb, Group: accountv1alpha1.GroupName, Resource: "accounts", Name: request.Name,
			})
		}
		if failure == nil {
			failure = audit.Annotate(change, old, account)
		}
	})
	if failure != nil {
		return admission.Errored(http.StatusServiceUnavailable, failure)
	}
	return response
}

// auditRequest returns the request as package audit needs it.
func (h *hooks) auditRequest(request *admission.Request) audit.Request {
	return audit.Request{ID: string(request.UID), User: request.UserInfo.Username, Time: h.now().UTC()}
}

// recordDeletion writes the deletion of an account, and its changes that are not recorded yet, into a ConfigMap, before
// the account is deleted. The API server calls the webhook with the version of the account that it deletes, so no change is
// missing. If the deletion fails after that, the recorder ignores the ConfigMap, because the account still exists.
func (h *hooks) recordDeletion(ctx context.Context, request *admission.Request) error {
	isDryRun := request.DryRun != nil && *request.DryRun
	if isDryRun || !h.recordJobs {
		return nil
	}
	account := &accountv1alpha1.Account{}
	if err := json.Unmarshal(request.OldObject.Raw, account); err != nil {
		return fmt.Errorf("account %s: %w", request.Name, err)
	}
	deletion, err := audit.NewDeletion(h.auditRequest(request), account)
	if err != nil {
		return fmt.Errorf("account %s: %w", request.Name, err)
	}
	data, err := deletion.Data()
	if err != nil {
		return err
	}
	if h.deletions == nil {
		return fmt.Errorf("record the deletion of account %s: there is no namespace for it", request.Name)
	}
	_, err = h.deletions.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "account-deletion-" + string(request.UID), Labels: map[string]string{audit.DeletionLabel: "true"}}, Data: data,
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("record the deletion of account %s: %w", request.Name, err)
	}
	return nil
}
