package admission

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/check"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/podtemplate"
)

// validateHandler returns the handler that checks objects of a kind when they are created, updated or deleted.
func (h *hooks) validateHandler(kind schema.GroupVersionKind) admission.HandlerFunc {
	return func(ctx context.Context, request admission.Request) admission.Response {
		queues := h.queues.lookup(ctx)
		around := &check.Around{
			SchedulerNames: h.schedulers, Queues: queues, QueueRules: h.queueRules, MaxReplicas: h.maxReplicas,
			Template: podtemplate.ValidateTemplate, IsDefaulted: true, RequiresAccount: h.requiresAccount(ctx, &request),
		}
		accounts := &accountLookup{ctx: ctx, reader: h.accounts}
		if h.accounts != nil {
			around.Accounts = accounts
		}
		jobs := h.newJobLookup(ctx, &request)
		if h.jobs != nil {
			around.Jobs, around.JobTemplate = jobs, h.jobTemplates(ctx)
		}
		if request.Operation == admissionv1.Delete {
			queues.sure = true
		}
		verdict := checkObject(kind, &request, around)
		isQueue := kind == schedulingv1beta1.GroupVersion.WithKind("Queue")
		if isQueue && request.Operation != admissionv1.Delete && len(verdict.Errors) > 0 {
			if current := h.queues.currentLookup(ctx); current.err == nil {
				queues, around.Queues = current, current
				verdict = checkObject(kind, &request, around)
			}
		}
		isJob := kind == batchv1alpha1.GroupVersion.WithKind("Job")
		if isJob {
			h.checkPermissionsForJob(ctx, &request, jobs, &verdict)
		}
		if request.Operation != admissionv1.Delete {
			unusable, err := h.rejectForbiddenClasses(ctx, &request)
			verdict.Errors = append(verdict.Errors, unusable...)
			jobs.err = errors.Join(jobs.err, err)
		}
		err := errors.Join(queues.err, jobs.err, accounts.err)
		if isAcceptable := err == nil && len(verdict.Errors) == 0; isAcceptable && isJob {
			verdict.Errors, err = h.rejectBeyondSubmitLimits(&request)
		}
		object := recordedKind(kind)
		isDeletion := object != nil && request.Operation == admissionv1.Delete
		if isRemovable := err == nil && len(verdict.Errors) == 0; isRemovable && isDeletion {
			err = h.recordDeletion(ctx, &request, object)
		}
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		return responseFor(kind.GroupKind(), request.Name, verdict.Errors).WithWarnings(verdict.Warnings...)
	}
}

// checkObject checks the object of a request.
func checkObject(kind schema.GroupVersionKind, request *admission.Request, around *check.Around) check.Verdict {
	switch request.Operation {
	case admissionv1.Update:
		return check.Update(kind, request.OldObject.Raw, request.Object.Raw, around)
	case admissionv1.Delete:
		return check.Delete(kind, request.Name, around)
	}
	return check.Create(kind, request.Object.Raw, around)
}

// checkPermissionsForJob adds the errors of a job whose author lacks permissions. Other errors are reported first, except
// for those about an account or a QOS to which the job cannot be moved.
func (h *hooks) checkPermissionsForJob(ctx context.Context, request *admission.Request, jobs *jobLookup, verdict *check.Verdict) {
	moved, err := h.rejectAccountChange(ctx, request)
	movedToQOS, qosErr := h.rejectQOSChange(ctx, request)
	jobs.err = errors.Join(jobs.err, err, qosErr)
	if moved = append(moved, movedToQOS...); len(moved) > 0 {
		verdict.Errors = moved
	}
	if len(verdict.Errors) > 0 {
		return
	}
	released, err := h.rejectHoldRelease(ctx, request)
	jobs.err = errors.Join(jobs.err, err)
	verdict.Errors = append(released, jobs.rejectUnreadable(request.Object.Raw)...)
}

// newJobLookup returns the lookup of other jobs for a request.
func (h *hooks) newJobLookup(ctx context.Context, request *admission.Request) *jobLookup {
	var object identity
	owned := json.Unmarshal(request.Object.Raw, &object) == nil && metav1.GetControllerOf(&object.ObjectMeta) != nil
	return &jobLookup{ctx: ctx, reader: h.jobs, namespace: request.Namespace, user: &request.UserInfo, created: owned, reviews: h.reviews}
}
